"""How many statements a database gets for many records (contract I2)."""

import json

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.changes.history import RevertRequest
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.kernel.access import Owner
from tests.adapters.test_sql_searches import sent_statements
from tests.gallery import ARTWORK, FrozenClock, gallery_on

MANY = 300


@pytest.mark.rule("contract I2", "contract G4")
def test_records_are_read_and_inserted_many_at_a_time(sql_storage: SqlStorage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    authors = [{"kind": "author", "author_id": n, "user_id": n, "username": f"author {n}"} for n in (1, 2)]
    logos = [{"kind": "logo", "logo_id": n, **ARTWORK, "author_ids": [1 + n % 2]} for n in range(1, MANY)]
    lines = [json.dumps(line) for line in (*authors, *logos)]
    with sent_statements() as statements:
        gallery.import_export.load(ImportRecords(), lines, Owner("import"))
    assert len(statements) < MANY / 5
    with sent_statements() as statements:
        gallery.import_export.load(ImportRecords(), lines)
    assert len(statements) < MANY / 5
    with sent_statements() as statements:
        gallery.changes.revert_request(RevertRequest(request_id="import"))
    # Each record is removed with its links by one statement.
    assert len(statements) < 1.5 * MANY
