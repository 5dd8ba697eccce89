"""How a change was made, in the history (contract G)."""

import pytest

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Owner
from logoadmin.domain.model.limits import Origin
from logoadmin.domain.model.records import Change
from logoadmin.domain.services.changes import ListChanges, Revert, RevertRequest
from logoadmin.domain.services.import_export import ImportRecords
from tests.gallery import IMPORTED_LINE

pytestmark = pytest.mark.rule("contract G")

TWO_AUTHORS = (IMPORTED_LINE, '{"kind": "author", "author_id": 10, "user_id": 110, "username": "Jo"}')


def latest(gallery: LogoAdmin, count: int) -> list[Change]:
    return [*gallery.changes.list(ListChanges(order="desc", limit=count))]


def test_a_change_of_one_record_has_no_origin(stocked: LogoAdmin) -> None:
    assert {(change.origin, change.undoes) for change in stocked.changes.list(ListChanges())} == {(None, None)}


def test_an_import_is_the_origin_of_its_changes(stocked: LogoAdmin) -> None:
    stocked.import_export.load(ImportRecords(), TWO_AUTHORS)
    assert [(change.origin, change.undoes) for change in latest(stocked, 2)] == [(Origin.IMPORT, None)] * 2


def test_a_change_that_undid_another_names_it(stocked: LogoAdmin) -> None:
    undone = stocked.changes.revert(Revert(change_id=7))
    assert (undone.origin, undone.undoes) == (Origin.UNDO, 7)
    redone = stocked.changes.revert(Revert(change_id=undone.change_id))
    assert (redone.origin, redone.undoes) == (Origin.UNDO, undone.change_id)
    assert latest(stocked, 2) == [redone, undone]


def test_each_change_that_undid_a_request_names_its_own(stocked: LogoAdmin) -> None:
    stocked.import_export.load(ImportRecords(), TWO_AUTHORS, Owner("imported"))
    newest, older = latest(stocked, 2)
    undone = tuple(stocked.changes.revert_request(RevertRequest(request_id="imported")))
    assert [(change.origin, change.undoes) for change in undone] == [
        (Origin.UNDO, newest.change_id),
        (Origin.UNDO, older.change_id),
    ]
