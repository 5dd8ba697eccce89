"""Permissions are checked before everything else (contract A19, B4)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from logoadmin import CreateLink, KeyHolder, LogoAdmin, Policy, SignedIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import import_export
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.command import Command
from logoadmin.ports.identity_storage import Session
from tests.gallery import (
    ADMIN_ID,
    ASKED,
    NOW,
    FrozenClock,
    ask,
    failure,
    gallery_on,
    if_match,
    if_none_match,
    right_to,
    sample,
    signed_in,
    stock,
)

pytestmark = pytest.mark.rule("contract A19", "contract B4")

MANAGER: Final = ("users:read", "users:write", "roles:read", "roles:write", "changes:read")
NOWHERE: Final = 2_000_000_001
OLD: Final = 999  # a version that nothing has


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """A stocked gallery: role 3, painter, has more rights than a manager, and user 7 has it."""
    made = stock(gallery_on(storage, clock, Policy.GUARDED))
    made.users.amend(users.AmendUser(user_id=7, role_id=3))
    return made


# Every command that requires a scope or concerns keys: callers without the scope learn nothing else.
SCOPED: Final = [kind for kind in ASKED if right_to(kind).scope is not None]


@pytest.mark.parametrize("kind", SCOPED, ids=lambda kind: kind.__name__)
def test_callers_without_a_scope_learn_nothing(gallery: LogoAdmin, storage: MemoryStorage, kind: type[Command]) -> None:
    nobody = signed_in(storage, "forum:ban", user_id=500)
    good = ASKED[kind][1]
    missing = {
        name: NOWHERE if name.endswith("_id") and isinstance(value, int) else value for name, value in good.items()
    }
    for values in (good, missing):
        command = kind(**values)
        assert failure(ask, gallery, command, nobody) is errors.NotPermitted
        assert failure(ask, gallery, if_match(command, OLD), nobody) is errors.NotPermitted
        assert failure(ask, gallery, if_none_match(command, OLD), nobody) is errors.NotPermitted


@dataclass(frozen=True)
class Case:
    """A command that a manager may not use, in a gallery where another reason also forbids it.

    Attributes:
        command: the command.
        otherwise: the other reason, as an administrator learns it.
        before: what makes it so.
    """

    command: Command
    otherwise: type[errors.LogoAdminError] | None
    before: Callable[[LogoAdmin], object] = field(default=lambda _: None)


def taken(gallery: LogoAdmin) -> None:
    """Give the default role more rights than a manager holds."""
    gallery.roles.amend(roles.AmendRole(role_id=1, scope=("logos:write",)))


def twice(gallery: LogoAdmin) -> None:
    """Let change 13 be one that another followed: of the painter's role, which had more."""
    gallery.roles.amend(roles.AmendRole(role_id=3, scope=()))
    gallery.roles.amend(roles.AmendRole(role_id=3, name="again"))


def removed_with_their_role(gallery: LogoAdmin) -> None:
    """Let change 13 be the removal of a painter whose name somebody else has by now."""
    gallery.users.remove(users.RemoveUser(user_id=7))
    gallery.users.create(users.CreateUser(user_id=8, username="ann", password="x"))


def no_longer(gallery: LogoAdmin) -> None:
    """Let change 13 be the creation of a role that somebody has by now."""
    gallery.roles.create(roles.CreateRole(name="new", scope=("logos:write",)))
    gallery.users.amend(users.AmendUser(user_id=7, role_id=5))


def with_a_password(gallery: LogoAdmin) -> None:
    """Let change 13 be the password of a painter."""
    gallery.users.set_password(users.SetPassword(user_id=7, password="new"))


SET: Final[dict[str, Any]] = {"user_id": 7, "password": "mine"}
REVERT: Final = changes.Revert(change_id=13)
# fmt: off
CASES: Final = (
    Case(users.CreateUser(user_id=7, username="new", password="x"), errors.DuplicateEntry, taken),
    Case(users.AmendUser(user_id=7), None),
    Case(if_match(users.AmendUser(user_id=7), OLD), errors.Outdated),
    Case(users.AmendUser(user_id=7, role_id=999), errors.NotFound),
    Case(users.AmendUser(user_id=7, username="admin"), errors.DuplicateEntry),
    Case(users.AmendUser(user_id=NOWHERE, role_id=3), errors.NotFound),
    Case(if_match(users.AmendUser(user_id=500, role_id=3), OLD), errors.Outdated),
    Case(users.AmendUser(user_id=ADMIN_ID, role_id=1), errors.Conflict),
    Case(if_match(users.AmendUser(user_id=ADMIN_ID, role_id=1), OLD), errors.Outdated),
    Case(if_match(users.RemoveUser(user_id=7), OLD), errors.Outdated),
    Case(users.RemoveUser(user_id=ADMIN_ID), errors.Conflict),
    Case(if_match(users.RemoveAvatar(user_id=7), OLD), errors.Outdated),
    Case(if_match(users.SetPassword(**SET), OLD), errors.Outdated),
    Case(roles.CreateRole(name="admin", scope=("logos:write",)), errors.DuplicateEntry),
    Case(roles.CreateRole(name="new", scope=("logos:write",)), None),
    Case(roles.AmendRole(role_id=3), None),
    Case(if_match(roles.AmendRole(role_id=3), OLD), errors.Outdated),
    Case(roles.AmendRole(role_id=3, name="admin"), errors.DuplicateEntry),
    Case(if_match(roles.AmendRole(role_id=4, scope=("logos:write",)), OLD), errors.Outdated),
    Case(roles.AmendRole(role_id=999, scope=("logos:write",)), errors.NotFound),
    Case(roles.AmendRole(role_id=2, scope=()), errors.Conflict),
    Case(roles.RemoveRole(role_id=3), errors.Conflict),
    Case(if_match(roles.RemoveRole(role_id=3), OLD), errors.Outdated),
    Case(roles.RemoveRole(role_id=1), errors.Conflict, taken),
    Case(REVERT, errors.Conflict, twice),
    Case(REVERT, errors.DuplicateEntry, removed_with_their_role),
    Case(REVERT, errors.Conflict, no_longer),
    Case(REVERT, errors.Conflict, with_a_password),
    Case(changes.Revert(change_id=3), errors.Conflict),  # the administrator's creation
    Case(import_export.ImportRecords(), None),
    Case(CreateLink(user_id=7, username="ann"), errors.LinkRefused),  # who has a password
    Case(sessions.RemoveUserSessions(user_id=ADMIN_ID), None),
    Case(sessions.RemoveUserSession(user_id=ADMIN_ID, session_id="admin's"), None),
)
# fmt: on

# In an order, so that processes that share the tests collect the same ones.
ESCALATING: Final = [
    kind
    for kind in ASKED
    if right_to(kind).scope in ("users:write", "roles:write", "*")
    or kind in {changes.Revert, import_export.ImportRecords}
]
# A command without a case of its own is tried as it is in ASKED.
TRIED: Final = (
    *CASES,
    *(Case(sample(kind), None) for kind in ESCALATING if kind not in {type(case.command) for case in CASES}),
)


@pytest.mark.parametrize("case", TRIED, ids=lambda case: repr(case.command))
def test_callers_exceeding_rights_learn_nothing_else(gallery: LogoAdmin, storage: MemoryStorage, case: Case) -> None:
    manager = signed_in(storage, *MANAGER, user_id=500)
    storage.write(lambda uow: uow.identity.sessions.add(Session("admin's", ADMIN_ID, NOW, NOW + 3600)))
    case.before(gallery)
    assert failure(ask, gallery, case.command, manager) in (errors.NotPermitted, errors.LinkRefused)
    refused = failure(ask, gallery, case.command, SignedIn(ADMIN_ID, "admin's"))
    assert refused is case.otherwise or (refused is errors.DuplicateUpdate and case.otherwise is errors.DuplicateEntry)


@pytest.mark.rule("contract C5")
def test_a_key_learns_nothing_about_keys_or_its_creator(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    maker: SignedIn = signed_in(storage, *MANAGER, user_id=500)
    made = gallery.keys.create(keys.CreateKey(name="script", scope=MANAGER), maker)
    key = gallery.sessions.caller(made.key)
    assert isinstance(key, KeyHolder)
    password = users.SetPassword(user_id=500, password="mine")
    commands = (keys.CreateKey(name="x", scope=()), keys.RemoveKey(key_id=1), keys.RemoveKey(key_id=99), password)
    for command in commands:
        assert failure(ask, gallery, command, key) is errors.NotPermitted
        assert failure(ask, gallery, if_match(command, OLD), key) is errors.NotPermitted


# Permitted callers learn first whether the record exists and then whether it is outdated, for every kind alike.
CHANGED: Final = [
    kind
    for kind, (call, _) in ASKED.items()
    if call.endswith((".amend", ".remove", "_avatar", "_password", ".unlink"))
    # Pictures have no version, and the settings always exist.
    and not call.startswith(("factors.", "keys.", "pictures.", "sessions.", "settings."))
]


@pytest.mark.parametrize("kind", CHANGED, ids=lambda kind: kind.__name__)
def test_a_missing_record_is_not_found_before_an_outdated_one_is_refused(
    gallery: LogoAdmin, storage: MemoryStorage, kind: type[Command]
) -> None:
    caller = signed_in(storage, "*", user_id=500)
    call, values = ASKED[kind]
    own = call.partition("s.")[0] + "_id"
    missing = kind(**{**values, own: NOWHERE})
    assert failure(ask, gallery, if_match(missing, OLD), caller) is errors.NotFound
    assert failure(ask, gallery, if_match(kind(**values), OLD), caller) is errors.Outdated
