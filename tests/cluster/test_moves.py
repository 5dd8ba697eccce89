"""A gallery is moved to a real Galera cluster and back (contract K9)."""

from pathlib import Path

import pytest

import logoadmin
from logoadmin.adapters.sql_storage import copies
from logoadmin.domain.kernel.errors import SchemaMismatch, StorageUnavailable
from tests.adapters.filled import filled
from tests.adapters.test_sql_moves import at, complete, is_empty, moved, on, rows
from tests.galera import Cluster

pytestmark = [pytest.mark.rule("contract K9"), pytest.mark.slow("three servers and a proxy"), pytest.mark.release]


def test_a_gallery_is_moved_to_all_servers_and_back(cluster: Cluster, prepared_sqlite_url: str, tmp_path: Path) -> None:
    filled(prepared_sqlite_url)
    on(prepared_sqlite_url, complete)
    before, name = rows(prepared_sqlite_url), cluster.new_database()
    moved(prepared_sqlite_url, cluster.url_of(name))
    for node in cluster.nodes:
        assert rows(node.url_of(name)) == before
    first, second = (at(node.url_of(name)) for node in cluster.nodes[:2])
    with first, second:
        copy = f"sqlite:///{tmp_path / 'copy.db'}"
        moved(cluster.url_of(name), copy)
        assert rows(copy) == before
        for number, gallery in enumerate((first, second)):
            with pytest.raises(StorageUnavailable):
                gallery.authors.create(logoadmin.CreateAuthor(user_id=77777 + number, username=f"New {number}"))
    for node in cluster.nodes:
        with pytest.raises(SchemaMismatch, match=r"was moved from this database to copy\.db"):
            at(node.url_of(name))


def test_a_write_through_another_server_stops_the_move_and_is_kept(cluster: Cluster, tmp_path: Path) -> None:
    name, copy = cluster.new_database(), f"sqlite:///{tmp_path / 'copy.db'}"
    source = cluster.nodes[0].url_of(name)
    filled(source)
    with at(cluster.nodes[1].url_of(name)) as other:

        def write(done: str, table: str, _rows: int) -> None:
            if (done, table) == ("copied", "roles"):
                other.authors.create(logoadmin.CreateAuthor(user_id=77777, username="New"))

        with pytest.raises(StorageUnavailable):
            copies.move(source, copy, write)
    assert is_empty(copy)
    moved(source, copy)
    assert "New" in {row[2] for row in rows(copy)["authors"]}
