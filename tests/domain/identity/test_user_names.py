"""The names of the users who made changes, in the history (contract G)."""

from dataclasses import replace

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.gallery.authors import AmendAuthor
from logoadmin.domain.identity.users import AmendUser, RemoveUser
from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.errors import NotModified
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import if_none_match, signed_in

pytestmark = pytest.mark.rule("contract G")


def changed_by(gallery: LogoAdmin, caller: Caller) -> int:
    """Change an author; return the id of the change."""
    gallery.authors.amend(AmendAuthor(author_id=1, username=f"by {gallery.changes.version()}"), caller)
    return gallery.changes.version()


def test_a_change_has_the_current_name_of_its_user(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    change_id = changed_by(stocked, signed_in(storage, "authors:write"))

    def shown() -> str | None:
        (change,) = stocked.changes.list(ListChanges(after=change_id - 1, limit=1)).first
        return change.user_name

    assert shown() == "user 500"
    stocked.users.amend(AmendUser(user_id=500, username="Eve"))
    assert shown() == "Eve"
    stocked.users.remove(RemoveUser(user_id=500))
    assert shown() is None


def test_undoing_returns_the_name(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    caller = signed_in(storage, "authors:write")
    change_id = changed_by(stocked, caller)
    assert stocked.changes.revert(Revert(change_id=change_id), caller).user_name == "user 500"
    caller = replace(caller, request_id="renamed")
    changed_by(stocked, caller)
    undone = stocked.changes.revert_request(RevertRequest(request_id="renamed"), replace(caller, request_id="undone"))
    assert [change.user_name for change in undone] == ["user 500"]


@pytest.mark.rule("contract F1")
@pytest.mark.parametrize("command", [ListChanges(), ListChanges(kind=Kind.AUTHOR), ListChanges(kind=Kind.AUTHOR, id=1)])
def test_a_new_name_is_a_new_version(stocked: LogoAdmin, storage: MemoryStorage, command: ListChanges) -> None:
    changed_by(stocked, signed_in(storage, "authors:write"))
    version = stocked.changes.list(command).version
    with pytest.raises(NotModified):
        stocked.changes.list(if_none_match(command, version))
    stocked.users.amend(AmendUser(user_id=500, username="Eve"))
    shown = stocked.changes.list(if_none_match(command, version))
    assert shown.first[-1].user_name in {"Eve", None}
    assert shown.version > version
