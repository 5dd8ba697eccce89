"""The names of the users who made changes, in the history (contract G)."""

from dataclasses import replace

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.gallery.authors import AmendAuthor, GetAuthor
from logoadmin.domain.identity.roles import AmendRole
from logoadmin.domain.identity.users import AmendUser, RemoveUser
from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.errors import InvalidInput, NotModified
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author, Kind
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import NOW, if_none_match, signed_in

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
    changed_by(stocked, replace(caller, request_id="renamed"))
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


@pytest.mark.rule("contract A3")
@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\ufeff"])
def test_invisible_characters_are_refused_in_names(unseen: str) -> None:
    for make in (
        lambda name: AmendUser(user_id=7, username=name),
        lambda name: AmendAuthor(author_id=1, username=name),
        lambda name: AmendLogo(logo_id=1, name=name),
        lambda name: AmendRole(role_id=1, name=name),
    ):
        with pytest.raises(InvalidInput) as caught:
            make(f"ad{unseen}min")
        assert [problem.msg for problem in caught.value.problems] == [f"String should not contain U+{ord(unseen):04X}"]
        # Joiners, which letters and emoji need.
        make("\u0646\u0627\u0645\u200c\u0647\u0627 \U0001f469\u200d\U0001f680")


@pytest.mark.rule("contract A3")
def test_records_with_earlier_names_stay_readable(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: uow.records(AUTHORS).update(Author(1, 101, "An\u200bn", NOW)))
    assert stocked.authors.get(GetAuthor(author_id=1)).username == "An\u200bn"
    stocked.authors.amend(AmendAuthor(author_id=1, user_id=105))
