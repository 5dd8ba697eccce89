"""How many statements a database gets for many records (contract I2)."""

import json
from collections.abc import Callable

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.changes.history import RevertRequest
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, CreateLogo, RemoveLogo
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


@pytest.mark.rule("contract L3")
def test_withdrawals_cost_statements_only_where_an_artwork_is_or_was_off(sql_storage: SqlStorage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    logos = gallery.logos

    def cost(work: Callable[[], object]) -> int:
        with sent_statements() as statements:
            work()
        return sum("withdrawals" in statement for statement in statements)

    assert cost(lambda: logos.create(CreateLogo(**ARTWORK))) == 0
    assert cost(lambda: logos.amend(AmendLogo(logo_id=1, name="Boreal"))) == 0
    assert cost(lambda: logos.amend(AmendLogo(logo_id=1, active=False))) == 1
    assert cost(lambda: logos.amend(AmendLogo(logo_id=1, name="Aurora"))) == 1
    assert cost(lambda: logos.amend(AmendLogo(logo_id=1, active=True))) == 2
    assert cost(lambda: logos.block(BlockLogo(logo_id=1, reason="It flickers"))) == 1
    assert cost(lambda: logos.remove(RemoveLogo(logo_id=1))) == 1
    assert cost(lambda: logos.create(CreateLogo(**{**ARTWORK, "active": False}))) == 0

    def load(request_id: str, *, active: bool) -> None:
        logo = {"kind": "logo", **ARTWORK, "active": active, "author_ids": []}
        lines = [json.dumps({**logo, "logo_id": n}) for n in range(1_000, 1_000 + MANY)]
        gallery.import_export.load(ImportRecords(), lines, Owner(request_id))

    # New ones, and those that are on, need no query.
    assert cost(lambda: load("new", active=True)) == 0
    assert cost(lambda: load("the same", active=True)) == 0
    assert cost(lambda: load("off", active=False)) < MANY / 100
    assert cost(lambda: load("on", active=True)) < MANY / 10
    assert cost(lambda: [*gallery.changes.revert_request(RevertRequest(request_id="on"))]) < MANY / 10
