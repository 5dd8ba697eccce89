"""The whole service as one object, and several of its calls in one transaction (contract A20, H6)."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isasyncgen, isawaitable, isgenerator
from types import TracebackType
from typing import ClassVar, Final, Literal, TypeVar

from logoadmin.domain import milestones
from logoadmin.domain.acting_service import ActingService
from logoadmin.domain.bound_storage import ClosedStorage, OpenTransaction
from logoadmin.domain.changes import proposal_records
from logoadmin.domain.changes.acts import ActService
from logoadmin.domain.changes.bulk_changes import BulkService
from logoadmin.domain.changes.history import ChangeService
from logoadmin.domain.changes.import_export import ImportExportService
from logoadmin.domain.changes.notices import Notices, NoticeSender
from logoadmin.domain.changes.proposals import DEFAULT_DAYS, ProposalService
from logoadmin.domain.gallery.artworks import LOGO_USE_CASES, THEME_USE_CASES, ArtworkService
from logoadmin.domain.gallery.audited_artworks import AuditedArtworks
from logoadmin.domain.gallery.audited_authors import AuditedAuthors
from logoadmin.domain.gallery.authors import AuthorService
from logoadmin.domain.gallery.picture_names import follow_names
from logoadmin.domain.gallery.pictures import (
    DEFAULT_SPACE,
    PictureService,
)
from logoadmin.domain.gallery.pictures import (
    NOT_INSTALLED as NO_PICTURES,
)
from logoadmin.domain.gallery.shared_settings import AuditedSettings, SettingsService, shared_settings
from logoadmin.domain.identity.audited_users import AuditedUsers
from logoadmin.domain.identity.escalation import check_somebody_holds_all, guards, somebody_holds_all
from logoadmin.domain.identity.events.event_list import EventService
from logoadmin.domain.identity.factors import records as factor_records
from logoadmin.domain.identity.factors.challenges import SignedChallenges
from logoadmin.domain.identity.factors.passkeys import PasskeyFactors
from logoadmin.domain.identity.factors.records import NOT_INSTALLED
from logoadmin.domain.identity.factors.totp import TotpFactors
from logoadmin.domain.identity.issuer_users import IssuerUsers
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.preferences import PreferenceService
from logoadmin.domain.identity.roles import RoleService
from logoadmin.domain.identity.service_keys import KeyService
from logoadmin.domain.identity.sessions import session_records
from logoadmin.domain.identity.sessions.callers import Callers, Lifetimes, require_recent_sign_in
from logoadmin.domain.identity.sessions.open_sessions import SessionTokens
from logoadmin.domain.identity.sign_in.code import CodeSignIn
from logoadmin.domain.identity.sign_in.issuer import IssuerSignIn
from logoadmin.domain.identity.sign_in.link import LinkSignIn
from logoadmin.domain.identity.sign_in.passkey import PasskeySignIn
from logoadmin.domain.identity.sign_in.password import PasswordSignIn
from logoadmin.domain.identity.sign_in.second_step import SecondStep, SecondStepSignIn
from logoadmin.domain.identity.sign_in.session_opening import SessionOpening
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.identity.users import UserService
from logoadmin.domain.kernel import records
from logoadmin.domain.kernel.access import PUBLIC, ActingAs, Policy
from logoadmin.domain.kernel.errors import LogoAdminError, NotFound, StorageUnavailable
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.idempotency import Idempotency
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, LOGOS, THEMES, USERS
from logoadmin.domain.kernel.records import (
    Kind,
    Logo,
    LogoAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Theme,
    ThemeAuthor,
)
from logoadmin.domain.kernel.unit_of_work import Auditing
from logoadmin.domain.kernel.use_cases import Service, UseCasesOfKind
from logoadmin.domain.public_url import LOCAL, PublicUrl
from logoadmin.domain.publication.css.unsaved_css import CssService
from logoadmin.domain.publication.files.gallery_keys import GalleryKeys
from logoadmin.domain.publication.pins.artwork_css import ArtworkCss, GetLogoCss, GetThemeCss
from logoadmin.domain.publication.pins.pins import PinService
from logoadmin.domain.publication.publication_records import PublishingRules
from logoadmin.domain.publication.publication_service import PublicationService
from logoadmin.domain.publication.withdrawal_log import withdraw
from logoadmin.domain.sweeping import sweep
from logoadmin.ports.gallery.pictures import PictureCodec
from logoadmin.ports.identity.issuer import Issuer
from logoadmin.ports.identity.passkeys import OpenPasskeys
from logoadmin.ports.identity.passwords import PasswordHasher
from logoadmin.ports.identity.tokens import TokenSigner, TokenVerifier
from logoadmin.ports.kernel.encryption import Encryption
from logoadmin.ports.kernel.environment import Clock, Randomness
from logoadmin.ports.kernel.metrics import Metrics, Milestone, NoMetrics
from logoadmin.ports.kernel.outgoing import Outgoing, PostingOutgoing
from logoadmin.ports.publication.gallery_files import GalleryFiles
from logoadmin.ports.publication.gallery_page import GalleryPage, NoPage
from logoadmin.ports.publication.signing import Signing, SigningKey
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")
OwnService = TypeVar("OwnService", bound=Service)

_CLOSED: Final = "the gallery is closed"
_ENDED: Final = "this gallery was bound to an atomic block, which has ended; use the gallery around the block"
_DEFERRED: Final = "atomic takes a function that has done its work when it returns, not a coroutine or a generator"


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters that the core needs; without ``outgoing`` it asks no other host.

    Instead of ``passkeys`` and ``pictures`` it may have the reason why they cannot be used.
    """

    storage: Storage
    hasher: PasswordHasher
    signer: TokenSigner
    verifier: TokenVerifier
    encryption: Encryption
    randomness: Randomness
    clock: Clock
    signing: Signing
    metrics: Metrics = field(default_factory=NoMetrics)
    outgoing: Outgoing | None = None
    gallery_keys: Sequence[SigningKey] = ()
    factor_keys: Sequence[str] = ()
    passkeys: OpenPasskeys | str = NOT_INSTALLED
    challenge_keys: Sequence[bytes] = ()
    issuer: Issuer | None = None
    pictures: PictureCodec | str = NO_PICTURES
    receivers: PostingOutgoing | None = None
    published: GalleryFiles | None = None
    page: GalleryPage = field(default_factory=NoPage)


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices of the operator."""

    access: Policy | None = None
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    publishing: PublishingRules = field(default_factory=PublishingRules)
    sign_in: SignInRules = field(default_factory=SignInRules)
    public_url: PublicUrl = LOCAL
    picture_space: int = DEFAULT_SPACE
    demo: bool = False
    proposal_days: int = DEFAULT_DAYS
    notify_urls: Sequence[str] = field(default=(), repr=False)


class ThemeService(ArtworkService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor], ArtworkCss):
    """The use cases of themes, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**THEME_USE_CASES, "css": (GetThemeCss, PUBLIC)}


class LogoService(ArtworkService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor], ArtworkCss):
    """The use cases of logos, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**LOGO_USE_CASES, "css": (GetLogoCss, PUBLIC)}


def auditing(ways: Ways, notices: Notices) -> Auditing:
    """Return what the contexts add to every write, given the ways to sign in and the notices."""
    return Auditing(
        {
            Kind.USER: AuditedUsers,
            Kind.AUTHOR: AuditedAuthors,
            Kind.SETTINGS: AuditedSettings,
            **{kind.kind: AuditedArtworks for kind in ARTWORK_KINDS},
        },
        guards(ways),
        [withdraw, follow_names, notices.follow],
        partial(check_somebody_holds_all, ways),
        require_recent_sign_in,
    )


class LogoAdmin:
    """A gallery with its administration: every use case is a method of one of its attributes.

    A method takes a command and a caller, by default the program itself::

        gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))

    Attributes, besides the services below:
        published: where the service publishes in the background; None for nowhere.
        access: the access policy in force.
        is_access_chosen: whether somebody chose it, without which :func:`logoadmin.asgi` serves nothing.
        public_url: the URL that browsers open (contract O8).
        waits: whether its methods may wait for a database, so that an event loop must not call them.
        concurrent_reads: the best number of concurrent reads.
        product: the common name of the kind of database.
        metrics: counts events, see :func:`logoadmin.metrics`.
        admin_password: the first administrator's password, if it was just generated; it is shown nowhere else.

    Safe to use from several threads. A context manager that closes the database.
    """

    users: UserService
    roles: RoleService
    authors: AuthorService
    themes: ThemeService
    logos: LogoService
    sessions: PasswordSignIn
    factors: SecondStepSignIn
    passkeys: PasskeySignIn
    sign_in_codes: CodeSignIn
    links: LinkSignIn
    single_sign_on: IssuerSignIn
    keys: KeyService
    events: EventService
    pins: PinService
    pictures: PictureService
    settings: SettingsService
    css: CssService
    preferences: PreferenceService
    publication: PublicationService
    changes: ChangeService
    acts: ActService
    bulk: BulkService
    proposals: ProposalService
    notices: NoticeSender
    import_export: ImportExportService

    def __init__(self, ports: Ports, rules: Rules, admin_password: str | None = None) -> None:
        """Connect the core with its adapters."""
        self._ports, self._rules = ports, rules
        self._acting: ActingAs | None = None
        self.access = rules.access or Policy.OPEN
        self.is_access_chosen = rules.access is not None
        self.public_url = rules.public_url
        self.is_demo = rules.demo
        self.waits = ports.storage.waits
        self.concurrent_reads = ports.storage.concurrent_reads
        self.product = ports.storage.product
        self.metrics = ports.metrics
        self.admin_password = admin_password
        idempotency = Idempotency([records, session_records, factor_records, proposal_records])
        ways, notices = rules.sign_in.ways, Notices(rules.notify_urls, rules.public_url)
        callers = Callers(ports.verifier, ports.clock, rules.lifetimes, rules.sign_in)
        transactions = Transactions(
            ports.storage, self.access, ports.clock, idempotency, callers, auditing(ways, notices)
        )
        self._transactions = transactions
        new_passwords = NewPasswords(
            ports.hasher, rules.sign_in.min_password_length, rules.public_url.host, self._title
        )
        self.users = UserService(transactions, new_passwords, ports.clock)
        self.roles = RoleService(transactions)
        self._connect_gallery(ports, rules, transactions)
        self._connect_changes(ports, transactions, new_passwords, notices)
        self._connect_signing_in(ports, rules, transactions, callers)

    def _connect_gallery(self, ports: Ports, rules: Rules, transactions: Transactions) -> None:
        targets = rules.publishing.targets
        self.authors = AuthorService(transactions)
        self.themes = ThemeService(THEMES, transactions)
        self.logos = LogoService(LOGOS, transactions)
        self.themes.targets = self.logos.targets = targets
        self.pins = PinService(transactions, ports.outgoing if rules.publishing.pin_imports else None, ports.clock)
        sources = (ports.pictures, ports.outgoing, ports.clock, rules.public_url)
        self.pictures = PictureService(transactions, *sources, rules.picture_space, ports.published)
        self.published = ports.published
        self.settings = SettingsService(transactions)
        self.css = CssService(transactions, ports.clock, targets)
        keys = GalleryKeys(ports.signing, ports.gallery_keys, rules.publishing.days, ports.randomness)
        self.publication = PublicationService(
            transactions, ports.clock, keys, ports.page, rules.publishing, shared_settings
        )

    def _connect_changes(
        self, ports: Ports, transactions: Transactions, new_passwords: NewPasswords, notices: Notices
    ) -> None:
        own_host = self.public_url.origin.partition("://")[2]
        of_kinds = {kind.kind: getattr(self, kind.plural) for kind in KINDS.values()}
        self.changes = ChangeService(transactions, notices)
        self.acts = ActService(transactions)
        self.bulk = BulkService(transactions, new_passwords, of_kinds)
        self.proposals = ProposalService(
            transactions, of_kinds, ports.clock, notices, own_host, self._rules.publishing.targets
        )
        self.notices = NoticeSender(transactions, ports.clock, notices, ports.receivers)
        self.import_export = ImportExportService(transactions, new_passwords)

    def _connect_signing_in(self, ports: Ports, rules: Rules, transactions: Transactions, callers: Callers) -> None:
        ways = rules.sign_in.ways
        self.preferences = PreferenceService(transactions)
        self.keys = KeyService(transactions, ports.randomness)
        self.events = EventService(transactions)
        issuer_users = IssuerUsers(ways.issuer, rules.sign_in.single_sign_on)
        tokens = SessionTokens(ports.signer, ports.randomness, rules.lifetimes, rules.sign_in, issuer_users.admits)
        opening = SessionOpening(transactions, tokens, ports.clock, ports.metrics)
        totp = TotpFactors(ports.encryption, ports.factor_keys)
        passkeys, challenges = PasskeyFactors(ports.passkeys), SignedChallenges(ports.challenge_keys, ports.randomness)
        second_step = SecondStep(totp, passkeys, challenges)
        self.sessions = PasswordSignIn(opening, ports.hasher, second_step, ports.verifier, callers)
        self.factors = SecondStepSignIn(opening, second_step, rules.public_url.host)
        self.passkeys = PasskeySignIn(opening, passkeys, challenges)
        self.sign_in_codes = CodeSignIn(opening, ports.randomness)
        self.links = LinkSignIn(opening, ports.randomness)
        self.single_sign_on = IssuerSignIn(opening, ports.issuer, issuer_users, ways, rules.public_url)

    def _title(self) -> str:
        """Return the title of the gallery, as administrators or the operator chose it; empty without a page."""
        page = self._rules.publishing.page
        shared = self._storage.read(shared_settings)
        return shared.gallery_title or ("" if page is None else page.title)

    @property
    def server(self) -> str:
        """Where the records are: host:port or a file's name, never a secret."""
        return self._storage.server

    def check(self) -> None:
        """Require that the database responds and its tables fit this program (contract K1).

        Raises:
            SchemaMismatch: they do not; the text has the solution.
            StorageUnavailable: the database is out of reach.
        """
        self._storage.check()

    def has_administrator(self) -> bool:
        """Return whether a user who holds everything can sign in, in the ways that the settings leave (contract B4)."""
        return self._storage.read(lambda uow: somebody_holds_all(uow, self._rules.sign_in.ways))

    def record_milestone(self, milestone: Milestone) -> None:
        """Record that something was done now, for metrics (contract K2)."""
        milestones.record(self._storage, milestone, self._ports.clock.now())

    def milestones(self) -> Mapping[Milestone, int]:
        """Return the Unix time of each milestone, 0 before the first."""
        return milestones.recorded(self._storage)

    def sweep(self) -> Literal["done", "more", "busy"]:
        """Remove a few rows of what has expired: sessions, events, stored responses, pictures that nothing names.

        The application of :func:`logoadmin.asgi` does this every minute, and :func:`logoadmin.connect` once. A program
        that signs people in and has neither for days calls it now and then. Several processes may.

        Returns:
            ``more`` if something may be left, for another call; ``busy`` if another write is under way, which this
            one does not wait for, or the database is out of reach.
        """
        rules = self._rules
        kept = (rules.lifetimes, rules.sign_in.event_days, rules.proposal_days)
        self.pictures.erase_removed()
        return sweep(self._storage, self._ports.clock.now(), *kept)

    def data_version(self) -> int | None:
        """Return a number that changes with any write, without waiting; None if finding out would take a wait."""
        return self._storage.data_version()

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a client that stops waiting for a call; it is also logged."""
        return self._storage.timed_out(writing=writing)

    def atomic(self, work: Callable[["LogoAdmin"], Answer]) -> Answer:
        """Return the answer of work whose changes are stored in one transaction: all of them, or none if it raises.

        ::

            def publish(gallery: LogoAdmin) -> Logo:
                ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))
                ...

            logo = gallery.atomic(publish)

        A call that raises undoes its own changes; catch the error, and the others are kept. The work may be run again
        from its start, for example after a deadlock.

        Args:
            work: is given a gallery with the same use cases, bound to the transaction: its calls belong to it, and see
                what it changed before. That gallery can be used until the work returns, in the same thread.

        Raises:
            StorageUnavailable: the database is out of reach; all of the changes may have been stored, or none.
            TypeError: the work is a coroutine or a generator, which would run after the commit; nothing is stored.
            RuntimeError: the bound gallery is used after the work has returned, or in another thread.
        """

        def transaction(uow: UnitOfWork) -> Answer:
            bound = LogoAdmin(
                replace(self._ports, storage=OpenTransaction(self._storage, uow), published=None), self._rules
            )
            try:
                answer = work(bound if self._acting is None else bound._for(self._acting))
                if isawaitable(answer) or isgenerator(answer) or isasyncgen(answer):
                    getattr(answer, "close", lambda: None)()  # a coroutine would warn that nobody awaits it
                    raise TypeError(_DEFERRED)
                return answer
            finally:
                bound._transactions.storage = ClosedStorage(bound._storage, _ENDED)

        return self._storage.write(transaction, alone=True)

    def acting_as(self, user_id: int, *, signed_in_at: int = 0) -> "LogoAdmin":
        """Return the same services with the rights of a user, for a program that knows who its users are.

        Every call reads the rights in its own transaction, so a change of role or a removal takes effect at once, and
        the history names the user (contract B4, B5). Whatever takes no caller, such as ``publication.rotate_key``, is
        left to the program itself. A caller that is given explicitly is used instead, unless it is ``OWNER``.

        Args:
            user_id: the user. How they signed in is up to the program: no second factor is required. A user whom the
                issuer refused has no rights (contract O7).
            signed_in_at: when the program last made sure who the user is, as Unix time. More than 10 minutes later,
                or without it, what needs a recent sign-in raises RecentSignInRequired (contract O3).

        Returns:
            A view of this gallery, which is closed with it.

        Raises:
            NotFound: the user does not exist; later calls raise it once the user is removed.
            StorageUnavailable: the database is out of reach.
        """
        if self._storage.read(lambda uow: uow.records(USERS).get(user_id)) is None:
            raise NotFound("User", user_id)
        return self._for(ActingAs(user_id, signed_in_at=signed_in_at))

    def service(self, of: type[OwnService]) -> OwnService:
        """Return a service of a program's own, whose use cases run in this gallery, see docs/extend.md."""
        return of(self._transactions)

    def _for(self, caller: ActingAs) -> "LogoAdmin":
        view = copy.copy(self)
        view._acting, view.admin_password = caller, None
        for name, service in vars(self).items():
            if isinstance(service, ActingService):
                service = service.service
            if isinstance(service, Service):
                setattr(view, name, ActingService(service, caller))
        return view

    @property
    def _storage(self) -> Storage:
        return self._transactions.storage

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return isinstance(self._storage, ClosedStorage)

    def close(self) -> None:
        """Close the database; can be repeated. Any other call raises RuntimeError afterwards.

        Does nothing in a view of :meth:`acting_as`, and in a gallery that is bound to an atomic block.
        """
        if self._acting is None:
            self._storage.close()
            if not isinstance(self._storage, OpenTransaction):
                self._transactions.storage = ClosedStorage(self._storage, _CLOSED)

    def __enter__(self) -> "LogoAdmin":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def metrics(gallery: LogoAdmin) -> str:
    """Return the metrics of a gallery in the text format of Prometheus (contract K2).

    Raises:
        StartError: nothing is counted, because prometheus-client is not installed.
    """
    try:
        last_change, done = gallery.changes.version(), gallery.milestones()
        waiting, pictures = gallery.proposals.waiting(), gallery.pictures.space()
    except LogoAdminError:  # the failure is counted and logged
        last_change, done, waiting, pictures = None, None, None, None
    return gallery.metrics.text(last_change, gallery.product, done, waiting, pictures)
