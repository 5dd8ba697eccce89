"""Permissions, compared with a table written by hand from contract B1 and B3."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest

from logoadmin import AskPasskey, LogoAdmin, RenderText, ShowWays, SignIn, SignInWithFactor, SignInWithPasskey
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import acts, import_export, member_notices
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.gallery.picture_commands import GetPicture, ListPictures, RemovePicture, SendPicture
from logoadmin.domain.identity import passkeys, roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity import sign_in_events as events
from logoadmin.domain.identity.factors import (
    ConfirmTotp,
    CountRecoveryCodes,
    EnrolTotp,
    ListFactors,
    ListUserFactors,
    MakeRecoveryCodes,
    RemoveFactor,
    RemoveUserFactors,
)
from logoadmin.domain.identity.one_time_sign_in import CreateLink, CreateSignInCode, SignInWithCode, SignInWithLink
from logoadmin.domain.identity.sign_in_attempts import IN_A_BLOCK
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import OWNER, Anonymous, Caller, Policy, Scope, SignedIn
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication import shared_settings as settings
from logoadmin.domain.publication.css import css_service as css
from logoadmin.ports.storage import Storage
from tests.domain.identity.sign_ins import key_of
from tests.domain.undone import undone
from tests.gallery import ASKED, FrozenClock, add_session, ask, failure, gallery_on, sample, signed_in, stock

ALL_SCOPES = (
    *("users:read", "users:write", "roles:read", "roles:write", "authors:write", "themes:write", "logos:write"),
    *("changes:read", "proposals:write", "*"),
)


@dataclass(frozen=True)
class Row:
    """What a command takes: a scope ("" where there is none to hold), and whether ``open`` asks for no token."""

    scope: str
    without_token: bool
    own: bool = False
    alternative: tuple[str, ...] = ()  # other scopes of which each is enough


# The records of these are hidden from callers without the right.
NOT_SEEN = (*(proposals.GetProposal, proposals.AmendProposal), *(proposals.ApplyProposal, proposals.DeclineProposal))

# fmt: off
TABLE: dict[type[Command], Row] = {
    **dict.fromkeys((
        SignIn, sessions.Refresh, ShowWays, sessions.Revoke, SignInWithFactor, AskPasskey, SignInWithPasskey,
        SignInWithCode, SignInWithLink, authors.ListAuthors, authors.GetAuthor, artworks.ListAuthorLogos,
        artworks.ListAuthorThemes, artworks.ListThemes, artworks.GetTheme, artworks.ListThemeAuthors,
        css.GetThemeCss, artworks.ListLogos, artworks.GetLogo, artworks.ListLogoAuthors, css.GetLogoCss,
        GetPicture,
    ), Row("", True)),
    **dict.fromkeys((
        sessions.WhoAmI, sessions.ListSessions, sessions.RemoveSession, users.GetPreferences,
        users.SetPreferences, settings.GetSettings, ListFactors, EnrolTotp, ConfirmTotp, RemoveFactor,
        CountRecoveryCodes, MakeRecoveryCodes, passkeys.BeginPasskey, passkeys.EnrolPasskey, keys.ListKeys,
        keys.CreateKey, keys.RemoveKey, events.ListEvents, member_notices.GetNotices, member_notices.MarkNoticesSeen,
    ), Row("", False)),
    **dict.fromkeys((
        sessions.RemoveUserSession, sessions.RemoveUserSessions, RemoveUserFactors, CreateSignInCode, CreateLink,
        users.CreateUser, users.AmendUser, users.RemoveUser,
    ), Row("users:write", False)),
    publication.ShowPublication: Row("logos:write", False, alternative=("themes:write", "proposals:write")),
    css.ReadUserStyle: Row("logos:write", False, alternative=("themes:write", "proposals:write")),
    css.JudgeCss: Row("logos:write", False, alternative=("themes:write", "proposals:write")),
    RenderText: Row("logos:write", False, alternative=("themes:write", "proposals:write")),
    css.InlineCss: Row("logos:write", False, alternative=("themes:write", "proposals:write")),
    SendPicture: Row("logos:write", False, alternative=("themes:write", "users:write", "proposals:write")),
    proposals.ProposeChanges: Row("logos:write", False, alternative=(
        "themes:write", "authors:write", "users:write", "roles:write", "proposals:write")),
    **dict.fromkeys((proposals.ListProposals, proposals.WithdrawProposal), Row("", False)),
    # The scopes of the kinds in it; here it is a change of a logo.
    **dict.fromkeys(NOT_SEEN, Row("logos:write", False)),
    **dict.fromkeys((settings.AmendSettings, RemovePicture), Row("*", False)),
    **dict.fromkeys((ListUserFactors, sessions.ListUserSessions, ListPictures), Row("users:read", False)),
    acts.ListActs: Row("changes:read", False),
    changes.ListChanges: Row("changes:read", False),
    **dict.fromkeys((changes.RevertRequest, bulk.ApplyChanges, authors.RemoveAuthor), Row("authors:write", False)),
    **dict.fromkeys((users.ListUsers, users.FindUser), Row("users:read", True)),
    users.GetUser: Row("users:read", True, own=True),
    **dict.fromkeys((users.RemoveAvatar, users.SetPassword), Row("users:write", False, own=True)),
    **dict.fromkeys((roles.ListRoles, roles.GetRole), Row("roles:read", False)),
    **dict.fromkeys((roles.CreateRole, roles.RemoveRole), Row("roles:write", False)),
    roles.AmendRole: Row("roles:write", True),
    **dict.fromkeys((authors.CreateAuthor, authors.AmendAuthor), Row("authors:write", True)),
    **dict.fromkeys((
        artworks.CreateTheme, artworks.AmendTheme, artworks.BlockTheme, artworks.RemoveTheme, artworks.LinkThemeAuthor,
        artworks.RemoveThemeAuthor,
    ), Row("themes:write", False)),
    artworks.UnlinkThemeAuthor: Row("themes:write", True),
    **dict.fromkeys((
        artworks.CreateLogo, artworks.AmendLogo, artworks.BlockLogo, artworks.UnlinkLogoAuthor,
        artworks.RemoveLogoAuthor,
    ), Row("logos:write", False)),
    **dict.fromkeys((artworks.RemoveLogo, artworks.LinkLogoAuthor), Row("logos:write", True)),
    changes.Revert: Row("authors:write", False),  # the scope of the kind of record; here it is an author
    import_export.ImportRecords: Row("authors:write", False),  # of the kinds in it; here it is an author
    import_export.ExportRecords: Row("users:read", False),  # of the kinds that are asked for; here it is users
}
# fmt: on
# Commands only for users, which the program itself is not.
FOR_USERS = (
    *(users.GetPreferences, users.SetPreferences, sessions.WhoAmI, sessions.ListSessions),
    *(sessions.RemoveSession, ListFactors, passkeys.BeginPasskey, passkeys.EnrolPasskey, EnrolTotp, ConfirmTotp),
    *(RemoveFactor, CountRecoveryCodes, MakeRecoveryCodes, keys.ListKeys, keys.CreateKey, keys.RemoveKey),
    *(member_notices.GetNotices, member_notices.MarkNoticesSeen),
)
# Commands that a service key cannot give even with every scope: nearly all about its creator, and those that need a
# recent sign-in. The last ones let a user in, end their sessions or, with the values of ASKED, give them another role,
# or free the name of a role.
NOT_FOR_KEYS = (
    *(kind for kind in FOR_USERS if kind not in (sessions.WhoAmI, keys.ListKeys)),
    *(sessions.ListUserSessions, sessions.RemoveUserSession, sessions.RemoveUserSessions, RemovePicture),
    *(roles.AmendRole, roles.RemoveRole),
    *(RemoveUserFactors, CreateSignInCode, users.AmendUser),
)
OWN = [kind for kind, row in TABLE.items() if row.own]
GUARDED_COMMANDS = [kind for kind, row in TABLE.items() if row.scope or not row.without_token]
# The scope of the roles in ASKED. Commands that name a role or scope may grant it, which requires holding it (B4).
PAINTER = ("logos:write", "themes:write")
HANDS_OUT = [kind for kind in TABLE if {"role_id", "scope"} & kind.model_fields.keys()]
ACCESS = pytest.mark.rule("contract B1", "contract B3", "contract A19")

Refusal = type[errors.LogoAdminError] | None
CallerFor = Callable[[Storage, type[Command]], Caller]


@pytest.fixture(params=list(Policy))
def policy(request: pytest.FixtureRequest) -> Policy:
    found: Policy = request.param
    return found


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock, policy: Policy) -> LogoAdmin:
    """A gallery under each policy, with a little of everything."""
    return stock(gallery_on(storage, clock, policy))


def refused(gallery: LogoAdmin, kinds: Iterable[type[Command]], caller: CallerFor) -> dict[type[Command], Refusal]:
    """Return how commands, each undone before the next, are refused to a caller made for each."""

    def ask_for(kind: type[Command]) -> Refusal:
        def asking(bound: LogoAdmin, storage: Storage) -> Refusal:
            if kind is sessions.RemoveUserSession:
                add_session(storage, 7)
            return refusal(bound, kind, caller(storage, kind))

        return undone(gallery, asking)

    return {kind: ask_for(kind) for kind in kinds}


def refusal(gallery: LogoAdmin, kind: type[Command], caller: Caller) -> Refusal:
    try:
        ask(gallery, sample(kind), caller)
    except (errors.NotAuthenticated, errors.NotPermitted) as error:
        # The proposal of the table is the administrator's.
        is_others = kind is proposals.WithdrawProposal and isinstance(error, errors.NotPermitted)
        return None if is_others else type(error)
    except errors.InvalidToken as error:
        return type(error)
    except RuntimeError as error:
        # It is permitted, but nobody can sign in or prove their password in the block that undoes it.
        if str(error) != IN_A_BLOCK:
            raise
    except errors.InvalidInput:
        if kind is not passkeys.EnrolPasskey:
            raise
    except errors.Conflict:
        # Nobody has a factor, and no sheet is fetched.
        if not issubclass(kind, (MakeRecoveryCodes, css.InlineCss)):
            raise
    except errors.NotFound:
        if kind in NOT_SEEN:
            return errors.NotPermitted
        # The key and the factor of the table do not exist.
        if kind not in (keys.RemoveKey, ConfirmTotp, RemoveFactor, proposals.WithdrawProposal):
            raise
    return None


def needs_token(row: Row, policy: Policy) -> bool:
    return not row.without_token or (bool(row.scope) and policy is Policy.GUARDED)


@pytest.mark.rule("contract B3")
def test_every_command_is_in_the_table() -> None:
    assert set(TABLE) == set(ASKED)
    assert set(ALL_SCOPES) == {scope.value for scope in Scope}


@ACCESS
@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 3", "spec §Authentication 4")
def test_a_caller_without_a_token_is_refused_where_a_token_is_required(gallery: LogoAdmin, policy: Policy) -> None:
    expected = {kind: errors.NotAuthenticated if needs_token(row, policy) else None for kind, row in TABLE.items()}
    assert refused(gallery, TABLE, lambda *_: Anonymous("192.0.2.1")) == expected


@ACCESS
@pytest.mark.parametrize("has_all", [False, True])
def test_callers_with_the_scope_and_administrators_are_permitted(gallery: LogoAdmin, has_all: bool) -> None:
    def holder(storage: Storage, kind: type[Command]) -> Caller:
        scope = [*filter(None, [TABLE[kind].scope]), *(PAINTER if kind in HANDS_OUT else ())]
        return signed_in(storage, *(["*"] if has_all else scope))

    assert refused(gallery, TABLE, holder) == dict.fromkeys(TABLE)


@ACCESS
def test_callers_with_every_other_scope_are_refused(gallery: LogoAdmin, policy: Policy) -> None:
    def holder(storage: Storage, kind: type[Command]) -> Caller:
        others = [scope for scope in ALL_SCOPES if scope not in (TABLE[kind].scope, *TABLE[kind].alternative, "*")]
        return signed_in(storage, *others, "forum:write", "USERS:WRITE", "**")

    expected = {
        kind: errors.NotPermitted if row.scope and needs_token(row, policy) else None for kind, row in TABLE.items()
    }
    assert refused(gallery, TABLE, holder) == expected


@pytest.mark.rule("contract B1", "contract B3", "spec §Endpoints 4")
@pytest.mark.parametrize("kind", OWN)
def test_users_may_manage_what_is_their_own(
    gallery: LogoAdmin, storage: MemoryStorage, policy: Policy, kind: type[Command]
) -> None:
    values = ASKED[kind][1]
    ann = signed_in(storage, user_id=900)
    ask(gallery, kind(**(values | {"user_id": 900})), ann)
    assert refusal(gallery, kind, ann) is (errors.NotPermitted if needs_token(TABLE[kind], policy) else None)


@pytest.mark.rule("contract H6", "contract B1")
def test_the_program_itself_is_permitted_everything(gallery: LogoAdmin) -> None:
    kinds = [kind for kind in TABLE if kind is not sessions.Refresh and kind not in FOR_USERS]
    assert refused(gallery, kinds, lambda *_: OWNER) == dict.fromkeys(kinds)


@pytest.mark.rule("contract C3", "contract C5")
def test_the_program_itself_is_no_user(gallery: LogoAdmin) -> None:
    assert refused(gallery, FOR_USERS, lambda *_: OWNER) == dict.fromkeys(FOR_USERS, errors.NotAuthenticated)


@pytest.mark.rule("contract C5", "contract C6", "contract J8", "contract O3", "contract R7")
def test_a_service_key_with_every_scope_is_refused_what_only_its_creator_may_do(gallery: LogoAdmin) -> None:
    def holder(storage: Storage, _: type[Command]) -> Caller:
        maker = signed_in(storage, "*")
        return key_of(gallery_on(storage, FrozenClock(), started=False), maker, "*")

    found = refused(gallery, TABLE, holder)
    assert {kind for kind, error in found.items() if error is not None} == {*NOT_FOR_KEYS}
    assert {*found.values()} == {None, errors.NotPermitted}


@pytest.mark.rule("contract A19", "contract B5")
@pytest.mark.parametrize("gone", ["session", "user"])
def test_the_token_of_a_removed_user_does_not_authenticate(gallery: LogoAdmin, gone: str) -> None:
    def left(storage: Storage, _: type[Command]) -> Caller:
        caller = signed_in(storage, "*")
        if gone == "session":
            storage.write(lambda uow: uow.identity.sessions.end(caller.session_id))
        else:
            gallery_on(storage, FrozenClock(), started=False).users.remove(users.RemoveUser(user_id=caller.user_id))
        return caller

    assert refused(gallery, GUARDED_COMMANDS, left) == dict.fromkeys(GUARDED_COMMANDS, errors.InvalidToken)


@pytest.mark.rule("contract A19")
def test_the_session_of_another_user_does_not_authenticate(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    ann, ben = signed_in(storage, "*", user_id=900), signed_in(storage, user_id=901)
    assert failure(gallery.users.list, users.ListUsers(), SignedIn(ann.user_id, ben.session_id)) is errors.InvalidToken
