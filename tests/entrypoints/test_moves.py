"""The command that moves a gallery, and what an export leaves out of it (contract K9)."""

from pathlib import Path
from typing import Final

import pytest

from logoadmin.adapters.sql_storage.record_tables import LINK_TABLES, TAG_TABLES
from logoadmin.adapters.sql_storage.tables import TABLES, metadata
from logoadmin.entrypoints.cli.import_export import NOT_EXPORTED
from tests.entrypoints.command_line import Run, says_one_line

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract K9")]

# What of each table an export leaves out; the settings for everybody are in the history.
LEFT_OUT: Final = {
    "changes": "the history and the version numbers",
    "acts": "the history and the version numbers",
    "state": "the history and the version numbers",
    "withdrawals": "blocks",
    "secrets": "the keys that sign tokens and the gallery",
    "sessions": "sessions",
    "refresh_tokens": "sessions",
    "service_keys": "service keys",
    "factors": "second factors",
    "recovery_codes": "second factors",
    "challenges": "second factors",
    "identities": "identities of single sign-on",
    "preferences": "preferences",
    "seen_notices": "preferences",
    "pictures": "pictures",
    "picture_names": "pictures",
    "proposals": "proposals",
    "notices": "notices that were not sent yet",
    "events": "sign-in events",
    "stored_responses": "stored responses and counts of failed sign-ins",
    "sign_in_attempts": "stored responses and counts of failed sign-ins",
}


@pytest.mark.usefixtures("initialised")
def test_a_gallery_is_moved_and_the_old_database_refused(run: Run) -> None:
    moved = run("move", "--to", "sqlite:///new.db")
    assert moved.code == 0, moved.err
    assert moved.out == "Moved to new.db. Set database to its URL, and start the services again\n"
    assert "users: 1 row copied\n" in moved.err
    assert "users: 1 row compared\n" in moved.err
    assert len(moved.err.splitlines()) == 2 * len(metadata.tables)
    for command in (("init",), ("serve", "--port", "0"), ("export", "-"), ("move", "--to", "sqlite:///third.db")):
        says_one_line(run(*command), 1, "The gallery was moved from this database to new.db; set database to the URL")
    assert not Path("third.db").exists()
    assert run("user", "list", "--database", "sqlite:///new.db").code == 0


def test_an_export_names_what_it_leaves_out_of_every_table() -> None:
    exported = {table.name for table in (*TABLES.values(), *LINK_TABLES.values(), *TAG_TABLES.values())}
    assert exported | LEFT_OUT.keys() == metadata.tables.keys()
    assert {*LEFT_OUT.values(), "the settings for everybody"} == {*NOT_EXPORTED}
