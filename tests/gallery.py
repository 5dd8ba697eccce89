"""A gallery for tests, with a frozen clock, cheap hashing, and a record for every command."""

import io
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final, TypeVar, get_type_hints

import pytest
from PIL import Image
from pyotp import TOTP

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.commonmark_text import CommonmarkText
from logoadmin.adapters.ed25519_signing import Ed25519Signing
from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.jwt_tokens import JwtTokens, Key, hs256_key
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.pillow_pictures import PillowPictures
from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.bootstrap import gallery_page
from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.changes import acts, import_export, member_notices
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.gallery import artworks, authors, picture_commands, pictures
from logoadmin.domain.identity import factors, passkeys, roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity import sign_in_events as events
from logoadmin.domain.identity.challenges import Purpose, SignedChallenges
from logoadmin.domain.identity.first_start import first_start
from logoadmin.domain.identity.issuer_sign_in import ShowWays
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.one_time_sign_in import CreateLink, CreateSignInCode, SignInWithCode, SignInWithLink
from logoadmin.domain.identity.passkeys import AskPasskey, SignInWithPasskey
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.sign_in_rules import USUAL_WAYS, SignInRules
from logoadmin.domain.kernel import access as kernel
from logoadmin.domain.kernel.access import ALL_RIGHTS, OWNER, Caller, Owner, Policy, Rights, SignedIn
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, LogoAdminError, StorageUnavailable
from logoadmin.domain.kernel.kinds import ROLES, USERS, AnyArtworkKind
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Change, Link, PasswordHash, Role, User
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, close
from logoadmin.domain.kernel.use_cases import right_of
from logoadmin.domain.logo_admin import LogoAdmin, Rules, auditing
from logoadmin.domain.public_url import LOCAL, PublicUrl
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication import shared_settings as settings
from logoadmin.domain.publication.css import css_service as css
from logoadmin.domain.publication.publication_records import Links, Page, PublishingRules
from logoadmin.domain.publication.text_service import RenderText
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.issuer import Issuer
from logoadmin.ports.outgoing import Outgoing, PostingOutgoing
from logoadmin.ports.passkeys import OpenPasskeys, Passkeys
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)

NOW: Final = 1_800_000_000
ADMIN_ID: Final = 2_000_000_000
ADMIN_PASSWORD: Final = "correct horse battery"
ANN_PASSWORD: Final = "ann's password"
# The secret of an unconfirmed authenticator app, and its code at NOW.
SPARE_SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SPARE_CODE: Final = TOTP(SPARE_SECRET).at(NOW)
TOKEN_KEY: Final = "a key that only these tests know, long enough"
# An enrolment challenge, and a passkey created for it at the default public URL.
_CHALLENGES: Final = SignedChallenges([TOKEN_KEY.encode()], SystemRandomness())
SPARE_CHALLENGE: Final = _CHALLENGES.new(Purpose.ENROLMENT, NOW, ADMIN_ID)
_CLIENT_DATA: Final = {
    "type": "webauthn.create",
    "challenge": SPARE_CHALLENGE,
    "origin": "http://localhost:8000",
    "crossOrigin": False,
}
SPARE_PASSKEY: Final = {
    "id": "c3BhcmU",
    "type": "public-key",
    "response": {
        "clientDataJSON": urlsafe_b64encode(json.dumps(_CLIENT_DATA).encode()).decode().rstrip("="),
        "attestationObject": (
            "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViJSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAAAAAAAA"
            "AAAAAAAAAAAAAAAABXNwYXJlpQECAyYgASFYIAa1BZJyj5wJbJxnDa5GVSldX_NcVUzLenE_w3yAK3VYIlgglIUC4zOMUHjp"
            "wUOMEfwlJOnHaa89Q4VBmQdhLyJHhEE"
        ),
    },
}
# The use of an unknown passkey.
UNKNOWN_PASSKEY: Final = {
    "id": "dW5rbm93bg",
    "type": "public-key",
    "response": {"clientDataJSON": "e30", "authenticatorData": "AAAA", "signature": "AAAA", "userHandle": "Nw"},
}


@dataclass
class FrozenClock:
    time: int = NOW

    def now(self) -> int:
        return self.time

    def elapsed(self) -> float:
        return float(self.time)

    worked = elapsed

    def pass_by(self, seconds: int) -> None:
        self.time += seconds


def if_match(command: Asked, *versions: int) -> Asked:
    return command.model_copy(update={"if_match": frozenset(versions)})


def if_none_match(command: Asked, *versions: int) -> Asked:
    return command.model_copy(update={"if_none_match": frozenset(versions)})


def once(command: Asked, key: str) -> Asked:
    return command.model_copy(update={"idempotency_key": key})


def recorded(
    work: Callable[..., Answer], now: int, *, user_id: int | None = None, request_id: str | None = None
) -> Callable[[UnitOfWork], Answer]:
    """Return a unit-of-work function whose changes are recorded in the history."""

    def audited_work(uow: UnitOfWork) -> Answer:
        rights = ALL_RIGHTS if user_id is None else Rights(user_id, frozenset("*"), signed_in_at=now)
        audited = AuditedUnitOfWork(uow, auditing(USUAL_WAYS, Notices((), "")), now, request_id, rights)
        answer = work(audited)
        close(audited)
        return answer

    return audited_work


def add_user(uow: UnitOfWork, user: User, password: PasswordHash | None) -> None:
    uow.records(USERS).add(user)
    if password is not None:
        uow.identity.passwords.set(user.user_id, password)


def add_session(storage: Storage, user_id: int) -> None:
    session = Session(f"session of {user_id}", user_id, NOW, NOW + 3600)
    storage.write(lambda uow: uow.identity.sessions.add(session))


def has_users(uow: UnitOfWork, role_id: int) -> bool:
    return bool(uow.records(USERS).page(-1, 1, Filter(role_id=role_id)))


def atomic(storage: Storage, calls: Callable[[Storage], Answer]) -> Answer:
    """Make calls whose writes share one transaction."""
    return storage.write(lambda uow: calls(OpenTransaction(storage, uow)))


def link_author(uow: UnitOfWork, kind: AnyArtworkKind, artwork_id: int, author_id: int) -> int:
    """Link an author as the last one; return the id of the link."""
    links = uow.links(kind)
    link_id = links.next_id()
    links.add([Link(link_id, artwork_id, author_id)])
    return link_id


def link_id_of(uow: UnitOfWork, kind: AnyArtworkKind, artwork_id: int, author_id: int) -> int | None:
    """Return the id of the link between an artwork and an author, or None."""
    links = uow.links(kind).of_artwork(artwork_id)
    return next((link.link_id for link in links if link.author_id == author_id), None)


CHEAP_PASSWORDS: Final = Argon2Passwords(8, 1)
SOME_PASSWORD: Final = "some password"
_SOME_HASH: Final = CHEAP_PASSWORDS.hash(SOME_PASSWORD)


@lru_cache
def _fido2(public_url: PublicUrl) -> Passkeys:
    # Slow to import, and few tests need it.
    from logoadmin.adapters.fido2_passkeys import Fido2Passkeys

    return Fido2Passkeys(public_url)


def gallery_on(
    storage: Storage,
    clock: FrozenClock,
    access: Policy = Policy.OPEN,
    *,
    hasher: PasswordHasher = CHEAP_PASSWORDS,
    started: bool = True,
    keys: Sequence[Key] = (hs256_key(TOKEN_KEY),),
    outgoing: Outgoing | None = None,
    sign_in: SignInRules | None = None,
    public_url: PublicUrl = LOCAL,
    passkeys: OpenPasskeys | str | None = None,
    issuer: Issuer | None = None,
    factor_keys: Sequence[str] = (),
    picture_space: int = pictures.DEFAULT_SPACE,
    receivers: PostingOutgoing | None = None,
    proposal_days: int = 90,
    notify_urls: Sequence[str] = (),
    page: Page | None = None,
    submit: str | None = None,
) -> LogoAdmin:
    """Create a gallery on a storage; with ``started``, it has its roles and its administrator."""
    randomness = SystemRandomness()
    if started:
        storage.write(lambda uow: first_start(uow, NewPasswords(hasher, None), randomness, clock, ADMIN_PASSWORD))
    tokens = JwtTokens(keys, "logoadmin", "logoadmin")
    ports = Ports(
        storage=storage,
        hasher=hasher,
        tokens=tokens,
        encryption=FernetEncryption(),
        randomness=randomness,
        clock=clock,
        signing=Ed25519Signing(),
        text=CommonmarkText(),
        outgoing=outgoing,
        passkeys=partial(_fido2, public_url) if passkeys is None else passkeys,
        challenge_keys=[TOKEN_KEY.encode()],
        issuer=issuer,
        factor_keys=factor_keys,
        pictures=PICTURES,
        receivers=receivers,
        published=MemoryGalleryFiles(),
        page=gallery_page(),
    )
    rules = Rules(
        access=access,
        publishing=PublishingRules(page=page, links=Links(submit=submit)),
        sign_in=sign_in or SignInRules(),
        public_url=public_url,
        picture_space=picture_space,
        proposal_days=proposal_days,
        console_url=f"{public_url.base}/console/",
        notify_urls=notify_urls,
    )
    return LogoAdmin(ports, rules)


class WatchedStorage:
    """A storage that wraps another one, records its calls, and can fail."""

    def __init__(self, inner: Storage) -> None:
        """Wrap a storage.

        Attributes:
            asked: the names of the called methods, in order.
            fault: the exception that calls raise, if any.
            faultless: the number of calls that succeed before the fault.
        """
        self._inner = inner
        self.server = "db.example:3306"
        self.waits, self.concurrent_reads, self.product = inner.waits, inner.concurrent_reads, inner.product
        self.asked: list[str] = []
        self.fault: Exception | None = None
        self.faultless = 0

    def go_away(self, after: int = 0) -> None:
        self.fault, self.faultless = StorageUnavailable(self.server), after

    def come_back(self) -> None:
        self.fault = None

    def is_failing(self) -> bool:
        return self._inner.is_failing()

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a caller that stops waiting."""
        del writing
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def erase_removed(self) -> bool:
        return self._inner.erase_removed()

    def _asked(self, what: str) -> None:
        self.asked.append(what)
        if self.fault is not None:
            if self.faultless == 0:
                raise self.fault
            self.faultless -= 1

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        self._asked("read")
        return self._inner.read(work)

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        self._asked("snapshot")
        return self._inner.snapshot(work)

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        self._asked("write")
        return self._inner.write(work, alone=alone)

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        self._asked("try_write")
        return self._inner.try_write(work)

    def check(self) -> None:
        self._asked("check")
        self._inner.check()

    def data_version(self) -> int | None:
        return self._inner.data_version()

    def close(self) -> None:
        self._inner.close()


ARTWORK: Final[dict[str, Any]] = {
    "name": "Aurora",
    "preview_url": "https://example.org/aurora.png",
    "target": "forum",
    "custom_css": "color: #123",
    "active": True,
}
# The same as submitted by a member, and with details.
LOOK: Final = {name: value for name, value in ARTWORK.items() if name != "active"}
DETAILED: Final[dict[str, Any]] = {**ARTWORK, "details": {"licence": "CC0-1.0", "tags": ["dark"]}}

# A change of author 1, for a bulk request.
ONE_CHANGE: Final[dict[str, Any]] = {"kind": "author", "id": 1, "version": 6, "set": {"username": "Cyd"}}

# A change of logo 1, for a proposal.
PROPOSED: Final[dict[str, Any]] = {"kind": "logo", "id": 1, "version": 9, "set": {"target": "wiki"}}

# One black pixel.
PIXEL: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b5500"
    "00000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)
PICTURES: Final = PillowPictures()
STOCKED_PICTURE: Final = sha256(PICTURES.convert(PIXEL).content).hexdigest()

# Every command: its use case, and values that are valid in a stocked gallery.
ASKED: Final[dict[type[Command], tuple[str, dict[str, Any]]]] = {
    SignIn: ("sessions.sign_in", {"username": "ann", "password": ANN_PASSWORD}),
    sessions.Refresh: ("sessions.refresh", {"refresh_token": "unknown"}),
    ShowWays: ("single_sign_on.ways", {}),
    sessions.Revoke: ("sessions.revoke", {"refresh_token": "unknown"}),
    sessions.WhoAmI: ("sessions.me", {}),
    sessions.ListSessions: ("sessions.list", {}),
    sessions.RemoveSession: ("sessions.remove", {"session_id": "session of 500"}),
    sessions.ListUserSessions: ("sessions.list_of_user", {"user_id": 7}),
    sessions.RemoveUserSession: ("sessions.remove_of_user", {"user_id": 7, "session_id": "session of 7"}),
    sessions.RemoveUserSessions: ("sessions.remove_all", {"user_id": 7}),
    users.GetPreferences: ("preferences.get", {}),
    users.SetPreferences: ("preferences.set", {"preferences": {"theme": "dark"}}),
    member_notices.GetNotices: ("member_notices.get", {}),
    member_notices.MarkNoticesSeen: ("member_notices.mark_seen", {}),
    publication.ShowPublication: ("publication.status", {}),
    css.JudgeCss: ("css.judge", {"kind": "logo", "custom_css": "color: red"}),
    css.ReadUserStyle: ("css.user_style", {"text": "/* ==UserStyle==\n@name Aurora\n==/UserStyle== */\na {}"}),
    css.InlineCss: ("css.inline", {"kind": "theme", "custom_css": "a{}"}),
    RenderText: ("text.render", {"text": "*a*"}),
    settings.GetSettings: ("settings.get", {}),
    picture_commands.SendPicture: ("pictures.send", {}),
    picture_commands.GetPicture: ("pictures.get", {"picture": STOCKED_PICTURE}),
    picture_commands.RemovePicture: ("pictures.remove", {"picture": STOCKED_PICTURE}),
    settings.AmendSettings: (
        "settings.amend",
        {
            "picture_hosts": ["i.example", "*.img.example:8443"],
            "gallery_title": "Our logos",
            "gallery_targets": {"forum": {"name": "Forum", "documents": ['domain("forum.example")']}},
            "gallery_home": "https://www.example/",
            "gallery_mark": STOCKED_PICTURE,
            "gallery_accent": "#3355cc",
            "submission_rules": "Logos are 300 pixels wide.",
        },
    ),
    factors.ListFactors: ("factors.list", {}),
    factors.EnrolTotp: ("factors.enrol_totp", {"name": "Phone"}),
    factors.ConfirmTotp: ("factors.confirm_totp", {"factor_id": 1, "code": "000000"}),
    factors.RemoveFactor: ("factors.remove", {"factor_id": 1}),
    factors.ListUserFactors: ("factors.list_of_user", {"user_id": 7}),
    factors.RemoveUserFactors: ("factors.remove_all", {"user_id": 7}),
    factors.CountRecoveryCodes: ("factors.recovery_codes", {}),
    factors.MakeRecoveryCodes: ("factors.make_recovery_codes", {}),
    AskPasskey: ("passkeys.options", {}),
    passkeys.BeginPasskey: ("passkeys.begin", {}),
    passkeys.EnrolPasskey: (
        "passkeys.enrol",
        {"challenge": SPARE_CHALLENGE, "name": "Laptop", "credential": SPARE_PASSKEY},
    ),
    SignInWithPasskey: ("passkeys.sign_in", {"challenge": "unknown", "passkey": UNKNOWN_PASSKEY}),
    SignInWithFactor: ("factors.sign_in", {"challenge": "unknown", "totp": "000000"}),
    CreateSignInCode: ("sign_in_codes.create", {"user_id": 7}),
    SignInWithCode: ("sign_in_codes.sign_in", {"username": "ann", "code": "unknown"}),
    CreateLink: ("links.create", {"user_id": 1042, "username": "Mia"}),
    SignInWithLink: ("links.sign_in", {"link": "unknown"}),
    keys.ListKeys: ("keys.list", {}),
    keys.CreateKey: ("keys.create", {"name": "a script", "scope": [], "expires_in": 60}),
    keys.RemoveKey: ("keys.remove", {"key_id": 1}),
    events.ListEvents: ("events.list", {}),
    picture_commands.ListPictures: ("pictures.list", {}),
    changes.ListChanges: ("changes.list", {}),
    acts.ListActs: ("acts.list", {}),
    changes.Revert: ("changes.revert", {"change_id": 7}),
    changes.RevertRequest: ("changes.revert_request", {"request_id": "second"}),
    bulk.ApplyChanges: ("bulk.apply", {"changes": [ONE_CHANGE]}),
    users.ListUsers: ("users.list", {}),
    users.CreateUser: (
        "users.create",
        {"user_id": 8, "username": "ben", "avatar": "b.png", "role_id": 1, "password": "pw"},
    ),
    users.GetUser: ("users.get", {"user_id": 7}),
    users.FindUser: ("users.find", {"username": "ann"}),
    users.AmendUser: ("users.amend", {"user_id": 7, "username": "anna", "avatar": None, "role_id": 3, "active": True}),
    users.RemoveUser: ("users.remove", {"user_id": 7}),
    users.RemoveAvatar: ("users.remove_avatar", {"user_id": 7}),
    users.SetPassword: ("users.set_password", {"user_id": 7, "password": "another", "current_password": SOME_PASSWORD}),
    roles.ListRoles: ("roles.list", {}),
    roles.CreateRole: ("roles.create", {"name": "editor", "scope": ["logos:write"]}),
    roles.GetRole: ("roles.get", {"role_id": 3}),
    roles.AmendRole: ("roles.amend", {"role_id": 3, "name": "brush", "scope": []}),
    roles.RemoveRole: ("roles.remove", {"role_id": 3}),
    authors.ListAuthors: ("authors.list", {}),
    authors.CreateAuthor: ("authors.create", {"user_id": 103, "username": "Cyd"}),
    authors.GetAuthor: ("authors.get", {"author_id": 1}),
    authors.AmendAuthor: ("authors.amend", {"author_id": 1, "user_id": 104, "username": "Dan"}),
    authors.RemoveAuthor: ("authors.remove", {"author_id": 1}),
    artworks.ListAuthorLogos: ("logos.of_author", {"author_id": 1}),
    artworks.ListAuthorThemes: ("themes.of_author", {"author_id": 1}),
    artworks.ListThemes: ("themes.list", {}),
    artworks.CreateTheme: ("themes.create", DETAILED),
    artworks.GetTheme: ("themes.get", {"theme_id": 1}),
    artworks.AmendTheme: ("themes.amend", {"theme_id": 1, **DETAILED, "name": "Boreal"}),
    artworks.BlockTheme: ("themes.block", {"theme_id": 1, "reason": "It covers the sign-in form"}),
    artworks.RemoveTheme: ("themes.remove", {"theme_id": 1}),
    artworks.ListThemeAuthors: ("themes.authors", {"theme_id": 1}),
    css.GetThemeCss: ("themes.css", {"theme_id": 1}),
    artworks.LinkThemeAuthor: ("themes.link", {"theme_id": 1, "author_id": 2}),
    artworks.UnlinkThemeAuthor: ("themes.unlink", {"theme_id": 1, "author_id": 1}),
    artworks.RemoveThemeAuthor: ("themes.remove_author", {"theme_id": 1, "author_id": 1}),
    artworks.ListLogos: ("logos.list", {}),
    artworks.CreateLogo: ("logos.create", DETAILED),
    artworks.GetLogo: ("logos.get", {"logo_id": 1}),
    artworks.AmendLogo: ("logos.amend", {"logo_id": 1, **DETAILED, "name": "Boreal"}),
    artworks.BlockLogo: ("logos.block", {"logo_id": 1, "reason": "It covers the sign-in form"}),
    artworks.RemoveLogo: ("logos.remove", {"logo_id": 1}),
    artworks.ListLogoAuthors: ("logos.authors", {"logo_id": 1}),
    css.GetLogoCss: ("logos.css", {"logo_id": 1}),
    artworks.LinkLogoAuthor: ("logos.link", {"logo_id": 1, "author_id": 2}),
    artworks.UnlinkLogoAuthor: ("logos.unlink", {"logo_id": 1, "author_id": 1}),
    artworks.RemoveLogoAuthor: ("logos.remove_author", {"logo_id": 1, "author_id": 1}),
    proposals.ProposeChanges: ("proposals.propose", {"title": "For the wiki", "changes": [PROPOSED]}),
    proposals.ListProposals: ("proposals.list", {}),
    proposals.GetProposal: ("proposals.get", {"proposal_id": 1}),
    proposals.AmendProposal: (
        "proposals.amend",
        {"proposal_id": 1, "title": "For the wiki", "note": "Please", "changes": [PROPOSED]},
    ),
    proposals.ApplyProposal: ("proposals.apply", {"proposal_id": 1}),
    proposals.DeclineProposal: ("proposals.decline", {"proposal_id": 1, "reason": "The forum needs it"}),
    proposals.WithdrawProposal: ("proposals.withdraw", {"proposal_id": 1}),
    import_export.ImportRecords: ("import_export.load", {"dry_run": False}),
    import_export.ExportRecords: ("import_export.dump", {"kind": ("user",)}),
}


def right_to(kind: type[Command]) -> kernel.Permission:
    """Return the right that the use case of a command in :data:`ASKED` requires."""
    service, _, name = ASKED[kind][0].partition(".")
    return right_of(get_type_hints(LogoAdmin)[service], name, kind)


IMPORTED_LINE: Final = '{"kind": "author", "author_id": 9, "user_id": 109, "username": "Ida"}'


def sample(kind: type[Asked]) -> Asked:
    """Return the command of this kind as it is in ``ASKED``."""
    return kind(**ASKED[kind][1])


def ask(gallery: LogoAdmin, command: Command, caller: Caller = OWNER) -> Any:
    """Execute a command; an import creates an author, and exports and lists are read completely."""
    call = attrgetter(ASKED[type(command)][0])(gallery)
    if isinstance(command, import_export.ImportRecords):
        return call(command, [IMPORTED_LINE], caller)
    if isinstance(command, picture_commands.SendPicture):
        return call(command, PIXEL, caller)
    if isinstance(command, import_export.ExportRecords):
        return call(command, lambda _: None, caller)
    if isinstance(command, changes.RevertRequest | bulk.ApplyChanges):
        return tuple(call(command, caller))
    return call(command, caller)


def stock(gallery: LogoAdmin) -> LogoAdmin:
    """Create role 3, user 7 with the default role, two authors, logo 1 and theme 1 by the first author, a picture, and
    a proposal to change the logo.

    Change 7 is the creation of the second author, by the request ``second``.
    """
    gallery.roles.create(roles.CreateRole(name="painter", scope=("logos:write", "themes:write")))
    gallery.users.create(users.CreateUser(user_id=7, username="ann", avatar="a.png", password=ANN_PASSWORD))
    gallery.authors.create(authors.CreateAuthor(user_id=101, username="Ann"))
    gallery.authors.create(authors.CreateAuthor(user_id=102, username="Ben"), Owner("second"))
    gallery.logos.create(artworks.CreateLogo(**ARTWORK))
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=1))
    gallery.themes.create(artworks.CreateTheme(**ARTWORK))
    gallery.themes.link(artworks.LinkThemeAuthor(theme_id=1, author_id=1))
    gallery.pictures.send(picture_commands.SendPicture(), PIXEL)
    proposed = proposals.ProposeChanges(**ASKED[proposals.ProposeChanges][1])
    gallery.proposals.propose(proposed, kernel.ActingAs(ADMIN_ID))
    return gallery


def failure(call: Callable[..., object], *given: Any, **named: Any) -> type[LogoAdminError] | None:
    """Return the type of the error of a call, None for success."""
    try:
        call(*given, **named)
    except LogoAdminError as error:
        return type(error)
    return None


def problems(call: Callable[..., object], *given: Any, **named: Any) -> dict[tuple[str | int, ...], str]:
    """Return the types of the problems of invalid input, by their locations."""
    with pytest.raises(InvalidInput) as caught:
        call(*given, **named)
    return {problem.loc: problem.type for problem in caught.value.problems}


def signed_in(storage: Storage, *scope: str, user_id: int = 500) -> SignedIn:
    """Return a new user with these scopes and a session, written directly to the storage."""

    def work(uow: UnitOfWork) -> SignedIn:
        role = Role(uow.records(ROLES).next_id(), f"role of {user_id}", scope, NOW)
        uow.records(ROLES).add(role)
        add_user(uow, User(user_id, f"user {user_id}", None, role.role_id, NOW), _SOME_HASH)
        uow.identity.sessions.add(Session(f"session of {user_id}", user_id, NOW, NOW + 3600))
        return SignedIn(user_id, f"session of {user_id}")

    return storage.write(work)


def exported(gallery: LogoAdmin, *, hashes: bool = True, **options: Any) -> list[str]:
    """Return the lines of an export, with password hashes."""
    lines: list[str] = []
    gallery.import_export.dump(import_export.ExportRecords(**options), lines.append, with_password_hashes=hashes)
    return lines


def imported(gallery: LogoAdmin, *lines: object, caller: Caller = OWNER, **options: Any) -> import_export.Imported:
    texts = [line if isinstance(line, str | bytes) else json.dumps(line) for line in lines]
    return gallery.import_export.load(import_export.ImportRecords(**options), texts, caller)


def drawing(shade: int = 7, size: tuple[int, int] = (8, 6), form: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (shade, 0, 0)).save(file, form)
    return file.getvalue()


def history(gallery: LogoAdmin) -> list[Change]:
    return list(gallery.changes.list(changes.ListChanges()))
