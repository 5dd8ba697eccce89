"""The whole service as one object: the contexts, put together (contract A20, B4, H6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.changes import context as changes
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.changes.proposals import DEFAULT_DAYS
from logoadmin.domain.gallery import context as gallery_context
from logoadmin.domain.gallery.artworks import LOGO_USE_CASES, THEME_USE_CASES, ArtworkService
from logoadmin.domain.gallery.pictures import DEFAULT_SPACE
from logoadmin.domain.identity import context as identity
from logoadmin.domain.identity.callers import Callers
from logoadmin.domain.identity.escalation import somebody_holds_all
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.kernel import records
from logoadmin.domain.kernel.access import PUBLIC, Policy
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.idempotency import Idempotency
from logoadmin.domain.kernel.kinds import KINDS, LOGOS, THEMES
from logoadmin.domain.kernel.records import (
    Logo,
    LogoAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Theme,
    ThemeAuthor,
)
from logoadmin.domain.kernel.unit_of_work import Auditing, shared_settings
from logoadmin.domain.kernel.use_cases import UseCasesOfKind
from logoadmin.domain.opened_gallery import OpenedGallery, Swept
from logoadmin.domain.public_url import LOCAL, PublicUrl
from logoadmin.domain.publication import context as publication
from logoadmin.domain.publication.css.css_service import ArtworkCss, GetLogoCss, GetThemeCss
from logoadmin.domain.publication.publication_records import PublishingRules
from logoadmin.ports.all_ports import Ports

# Rows of each kind that a sweep removes in one write, which takes milliseconds.
_SWEPT: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The choices of the operator."""

    access: Policy | None = None
    publishing: PublishingRules = field(default_factory=PublishingRules)
    sign_in: SignInRules = field(default_factory=SignInRules)
    public_url: PublicUrl = LOCAL
    picture_space: int = DEFAULT_SPACE
    demo: bool = False
    proposal_days: int = DEFAULT_DAYS
    console_url: str = ""
    notify_urls: Sequence[str] = field(default=(), repr=False)


class ThemeService(ArtworkService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor], ArtworkCss):
    """The use cases of themes, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**THEME_USE_CASES, "css": (GetThemeCss, PUBLIC)}


class LogoService(ArtworkService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor], ArtworkCss):
    """The use cases of logos, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**LOGO_USE_CASES, "css": (GetLogoCss, PUBLIC)}


def auditing(ways: Ways, notices: Notices) -> Auditing:
    """Return the additions of the contexts to every write, given the ways to sign in and the notices."""
    return (
        identity.auditing(ways)
        .with_all(publication.AUDITING)
        .with_all(gallery_context.AUDITING)
        .with_all(changes.auditing(notices))
    )


class LogoAdmin(
    OpenedGallery,
    identity.IdentityContext,
    gallery_context.GalleryContext,
    publication.PublicationContext,
    changes.ChangesContext,
):
    """A gallery with its administration: every use case is a method of one of its attributes.

    A method takes a command and a caller, by default the program itself::

        gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))

    Attributes, besides those of the contexts:
        access: the access policy in force.
        is_access_chosen: whether somebody chose it, without which :func:`logoadmin.asgi` serves nothing.
        public_url: the URL that browsers open (contract O8).
        metrics: counts events, see :func:`logoadmin.metrics`.
        admin_password: the first administrator's password, if it was just generated; it is shown nowhere else.

    Safe to use from several threads. A context manager that closes the database.
    """

    themes: ThemeService
    logos: LogoService

    def __init__(self, ports: Ports, rules: Rules, admin_password: str | None = None) -> None:
        """Connect the core with its adapters."""
        self._ports, self._rules, self.metrics, self.admin_password = ports, rules, ports.metrics, admin_password
        self.access, self.is_access_chosen = rules.access or Policy.OPEN, rules.access is not None
        self.public_url, self.is_demo = rules.public_url, rules.demo
        sign_in = rules.sign_in
        notices = Notices(rules.notify_urls, rules.console_url)
        callers = Callers(ports.tokens, ports.clock, sign_in)
        new_passwords = NewPasswords(ports.hasher, sign_in.min_password_length, rules.public_url.host, self._title)
        idempotency = Idempotency([records, *gallery_context.ANSWERS, *identity.ANSWERS, *changes.ANSWERS])
        added = auditing(sign_in.ways, notices)
        transactions = Transactions(ports.storage, self.access, ports.clock, idempotency, callers, added)
        self.connect_storage(transactions)
        self.connect_identity(transactions, callers, new_passwords, ports, sign_in, rules.public_url)
        self.connect_gallery(transactions, ports, rules.public_url, rules.picture_space)
        self.connect_publication(transactions, ports, rules.publishing)
        self.themes, self.logos = ThemeService(THEMES, transactions), LogoService(LOGOS, transactions)
        of_kinds = {kind.kind: getattr(self, kind.plural) for kind in KINDS.values()}
        self.connect_changes(transactions, of_kinds, notices, new_passwords, ports, rules.public_url)

    def look(self) -> dict[str, str | None]:
        """Return the public look of the gallery: its title, mark and accent (contract J8), and its links.

        ``title`` is the usual one. ``home`` is the site that the gallery belongs to, empty for none; ``submit`` is the
        page of the site that sends members on by a link (contract Q2), None without one.
        """
        rules, shared = self._rules, self._storage.read(shared_settings)
        page, submit = rules.publishing.page, rules.publishing.links.submit
        return {
            "title": "" if page is None else page.title,
            "home": ("" if page is None else page.home) if shared.gallery_home is None else shared.gallery_home,
            "submit": None if submit is None or submit.startswith(rules.console_url) else submit,
            "gallery_title": shared.gallery_title,
            "gallery_mark": shared.gallery_mark,
            "gallery_accent": shared.gallery_accent,
        }

    def _title(self) -> str:
        """Return the title of the gallery, as administrators or the operator chose it; empty without a page."""
        look = self.look()
        return look["gallery_title"] or look["title"] or ""

    def has_administrator(self) -> bool:
        """Return whether a user who holds everything can sign in, in the ways that the settings leave (contract B4)."""
        return self._storage.read(lambda uow: somebody_holds_all(uow, self._rules.sign_in.ways))

    def sweep(self) -> Swept:
        """Remove a few rows that have expired: sessions, events, stored responses, pictures that nothing names.

        The application of :func:`logoadmin.asgi` does this every minute, and :func:`logoadmin.connect` once. A program
        that signs people in and has neither for days calls it now and then. Several processes may.

        Returns:
            ``more`` if something may be left, for another call; ``busy`` if another write is under way, which this
            one does not wait for, or the database is out of reach.
        """
        storage, now, rules = self._storage, self._clock.now(), self._rules
        self.pictures.erase_removed()
        of_sign_ins = identity.sweep(storage, now, _SWEPT, rules.sign_in.event_days)
        if of_sign_ins is None:
            return "busy"
        of_pictures = gallery_context.sweep(storage, now, _SWEPT)
        of_proposals = changes.sweep(storage, now, _SWEPT, rules.proposal_days)
        return "more" if of_sign_ins or of_pictures or of_proposals else "done"

    def _bound_to(self, transaction: OpenTransaction) -> "LogoAdmin":
        return LogoAdmin(replace(self._ports, storage=transaction, published=None), self._rules)


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
