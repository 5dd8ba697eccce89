"""The refusals of commands and their texts; a refused command changes nothing (contract A6 to A9, D)."""

import re
from typing import Any, Final

import pytest

from logoadmin import Conflict, DuplicateEntry, DuplicateUpdate, LogoAdmin, LogoAdminError, NotFound, Outdated
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import history as changes
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.kernel.command import Command
from tests.domain.kernel.test_audit import lists, versions
from tests.gallery import ADMIN_ID, ASKED, ask, history, if_match

NOWHERE: Final = 12
Refusal = tuple[type[LogoAdminError], str]


def taken(value: object, key: str, error: type[DuplicateEntry] = DuplicateEntry) -> Refusal:
    return error, f"Duplicate entry '{value}' for key '{key}'"


THE_LAST: Final = (Conflict, "This would leave no user who holds * and can sign in")
# Commands that a stocked gallery refuses to every caller, each with the refusal.
REFUSED: Final[list[tuple[Command, Refusal]]] = [
    (users.CreateUser(user_id=7, username="x", password="pw"), taken(7, "user_id")),
    (users.CreateUser(user_id=7, username="ann", password="pw"), taken(7, "user_id")),  # the number first
    (users.CreateUser(user_id=9, username="ann", password="pw"), taken("ann", "username")),
    (users.AmendUser(user_id=7, username="admin", avatar="b"), taken("admin", "username", DuplicateUpdate)),
    (users.AmendUser(user_id=7, username="x", role_id=99), (NotFound, "Role 99 not found")),
    (users.FindUser(username="nobody"), (NotFound, "User nobody not found")),
    (users.RemoveUser(user_id=ADMIN_ID), THE_LAST),
    (roles.CreateRole(name="admin", scope=()), taken("admin", "name")),
    (roles.AmendRole(role_id=3, name="member", scope=("*",)), taken("member", "name", DuplicateUpdate)),
    (roles.AmendRole(role_id=2, scope=()), THE_LAST),
    (roles.RemoveRole(role_id=1), (Conflict, "Role 1 is the role of new users")),
    (roles.RemoveRole(role_id=2), (Conflict, "Role 2 is the role of a user")),
    (authors.CreateAuthor(user_id=101, username="x"), taken(101, "user_id")),
    (authors.CreateAuthor(user_id=101, username="Ann"), taken(101, "user_id")),
    (authors.CreateAuthor(user_id=9, username="Ann"), taken("Ann", "username")),
    (authors.AmendAuthor(author_id=2, user_id=101, username="Ann"), taken(101, "user_id", DuplicateUpdate)),
    (authors.AmendAuthor(author_id=2, user_id=9, username="Ann"), taken("Ann", "username", DuplicateUpdate)),
    (artworks.LinkLogoAuthor(logo_id=1, author_id=99), (NotFound, "Author 99 not found")),
    (artworks.LinkThemeAuthor(theme_id=1, author_id=99), (NotFound, "Author 99 not found")),
    (artworks.UnlinkLogoAuthor(logo_id=1, author_id=2), (NotFound, "Author 2 not found on logo 1")),
    (artworks.UnlinkThemeAuthor(theme_id=1, author_id=99), (NotFound, "Author 99 not found on theme 1")),
    (changes.Revert(change_id=3), THE_LAST),
    (if_match(artworks.RemoveLogo(logo_id=1), 1), (Outdated, "Logo 1 was changed since")),
]


@pytest.mark.rule("contract A6", "contract A7", "contract A8", "contract A9", "contract A16", "contract A17")
@pytest.mark.rule("contract D users", "contract D roles", "contract D authors", "contract A12", "spec §Rules 2")
@pytest.mark.rule("contract F1", "contract G", "spec §Errors 400")
@pytest.mark.parametrize(("command", "refusal"), REFUSED, ids=lambda value: repr(value))
def test_a_refused_command_changes_nothing(
    stocked: LogoAdmin, storage: MemoryStorage, command: Command, refusal: Refusal
) -> None:
    before = history(stocked), versions(storage), lists(stocked)
    error, text = refusal
    with pytest.raises(error, match=f"^{re.escape(text)}$") as caught:
        ask(stocked, command)
    assert type(caught.value) is error
    assert (history(stocked), versions(storage), lists(stocked)) == before
    # And the next one follows without a gap.
    stocked.authors.create(authors.CreateAuthor(user_id=1, username="next"))
    assert [change.change_id for change in history(stocked)] == list(range(1, len(before[0]) + 2))


# The commands that name the record that they are about.
ABOUT_ONE: Final = [
    kind
    for kind, (call, _) in ASKED.items()
    if call.partition(".")[0] in ("users", "roles", "authors", "logos", "themes")
    and not call.endswith((".list", ".create", ".find"))
]


@pytest.mark.rule("contract A9", "contract A16", "contract A17", "contract D users", "contract D roles")
@pytest.mark.rule("contract D authors", "contract D logos", "contract D themes")
@pytest.mark.parametrize("kind", [*ABOUT_ONE, sessions.RemoveUserSessions], ids=lambda kind: kind.__name__)
def test_a_missing_record_is_not_found(stocked: LogoAdmin, kind: type[Command]) -> None:
    call, values = ASKED[kind]
    of_user = kind is sessions.RemoveUserSessions
    name = "author" if call.endswith(".of_author") else "user" if of_user else call.partition("s.")[0]
    missing: dict[str, Any] = {f"{name}_id": NOWHERE}
    for command in (kind(**values | missing), *([kind(**missing)] if kind.__name__.startswith("Amend") else [])):
        with pytest.raises(NotFound, match=f"^{name.capitalize()} {NOWHERE} not found$") as caught:
            ask(stocked, command)
        assert (caught.value.what, caught.value.id) == (name.capitalize(), NOWHERE)


@pytest.mark.rule("contract A6", "spec §Rules 2")
def test_other_kinds_other_spellings_and_released_values_do_not_collide(stocked: LogoAdmin) -> None:
    stocked.authors.create(authors.CreateAuthor(user_id=ADMIN_ID, username="admin"))
    stocked.users.create(users.CreateUser(user_id=8, username="Ann", password="pw"))
    stocked.roles.create(roles.CreateRole(name="Admin", scope=()))
    stocked.authors.amend(authors.AmendAuthor(author_id=1, user_id=9, username="ann"))
    assert stocked.authors.create(authors.CreateAuthor(user_id=101, username="Ann")).author_id == 4
    # One's own values are not taken.
    assert stocked.authors.amend(authors.AmendAuthor(author_id=4, user_id=101, username="Ann")).username == "Ann"
    assert stocked.roles.amend(roles.AmendRole(role_id=3, name="painter")).name == "painter"
    assert stocked.users.amend(users.AmendUser(user_id=7, username="ann")).username == "ann"
