"""A guarded gallery with sample records, hostile ones among them, and the rest of the network, as a browser sees it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pyotp import TOTP
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemClock
from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.proposal_commands import Proposal, ProposeChanges
from logoadmin.domain.gallery import artworks
from logoadmin.domain.gallery.artworks import GetLogo, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.identity import roles, users
from logoadmin.domain.identity.factors import ConfirmTotp, EnrolTotp
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.kernel.access import Caller, Policy
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import local_public_url
from logoadmin.domain.publication.publication_records import Page
from logoadmin.ports.issuer import Issuer
from tests.answering import Answer, Answering, Request, answering
from tests.gallery import FrozenClock, WatchedStorage, gallery_on
from tests.mariadb import free_port
from tests.origins import Origins
from tests.services import in_thread

PICTURES: Final = "i.example"
# Requests that Chromium makes on its own, for any page.
_OF_THE_BROWSER: Final = "content-autofill.googleapis.com:443"
_PICTURE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 80" width="160" height="80">'
    '<rect x="8" y="8" width="144" height="64" rx="32" fill="hsl({hue} 62% 46%)"/>'
    '<circle cx="44" cy="40" r="18" fill="hsl({hue} 62% 82%)"/>'
    '<path d="M76 30h56M76 50h36" stroke="#fff" stroke-width="8" stroke-linecap="round"/></svg>'
)


@dataclass
class ExternalHosts:
    """The requests of browsers to other hosts than the service.

    Attributes:
        pictures: the requests for pictures.
    """

    _server: Answering
    pictures: list[Request] = field(default_factory=list)

    @property
    def proxy(self) -> str:
        """The address, for a context of the browser."""
        return f"http://{self._server.host}"

    @property
    def strays(self) -> list[str]:
        """The addresses and hosts that nobody should have asked for."""
        own = f"http://{PICTURES}/", _OF_THE_BROWSER
        return [asked for asked in self._server.asked if not asked.startswith(own)]

    def forget(self) -> None:
        """Forget what was asked so far."""
        self._server.asked.clear()


@contextmanager
def external_hosts() -> Iterator[ExternalHosts]:
    """Serve, in a thread of this process."""

    def answer(request: Request) -> Answer:
        """Respond with a picture whose colour depends on its address."""
        if not request.path.startswith(f"http://{PICTURES}/"):
            return Answer(status=404)
        found.pictures.append(request)
        body = _PICTURE.format(hue=sum(map(ord, request.path)) * 47 % 360).encode()
        return Answer(body, "image/svg+xml", headers={"Cache-Control": "max-age=3600"})

    with answering(answer) as server:
        found = ExternalHosts(server)
        yield found


PAINTER: Final = ("painter", "the painter's password")
# Names that break a page that injects them as HTML, does not isolate their direction, or makes room for them.
HOSTILE_NAMES: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnitirw tsrif-thgir",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324a\u0320\u0353\u0331\u033a\u034dl\u0306g\u0313o",
    "W" * 64,
    "{{7*7}} ${7*7} {n}",
    "अ आ 中文 עברית العربية 👩‍👩‍👧‍👦",
)
HOSTILE_CSS: Final = (
    "} body { position: fixed; background: url(https://evil.example/x) } </style><script>alert(1)</script>"
)


@dataclass
class Served:
    """A service in this process.

    Attributes:
        gallery: its gallery, to look into it or to write behind the back of the browser.
        storage: what it is stored in, which can be made to go away.
        clock: its time.
        origins: the hosts that it fetches imported style sheets from.
        address: its address, without a slash at its end.
        outside: all the rest of the network, as the browser sees it.
        reports: reports of the Content-Security-Policy and of Trusted Types that browsers sent.
    """

    gallery: LogoAdmin
    storage: WatchedStorage
    clock: FrozenClock
    origins: Origins
    address: str
    external_hosts: ExternalHosts
    reports: list[str]


def fill(gallery: LogoAdmin) -> None:
    """Make a painter who may change logos alone, authors, logos and themes."""
    gallery.roles.create(roles.CreateRole(name="painters", scope=("logos:write",)))
    name, password = PAINTER
    gallery.users.create(CreateUser(user_id=7, username=name, avatar="javascript:alert(1)", password=password))
    gallery.users.amend(users.AmendUser(user_id=7, role_id=3))
    for number, author in enumerate(("Ann", "Ben", *HOSTILE_NAMES), 1):
        gallery.authors.create(CreateAuthor(user_id=100 + number, username=author[:64]))
    for number in range(1, 41):
        target = ("forum", "market")[number % 2]
        url = f"http://{PICTURES}/{number}.svg"
        css = f"background: url({url}) center / contain no-repeat; width: 120px"
        name, active = f"Logo {number}", number % 5 != 0
        logo = artworks.CreateLogo(name=name, preview_url=url, target=target, custom_css=css, active=active)
        gallery.logos.create(logo)
        gallery.logos.link(LinkLogoAuthor(logo_id=number, author_id=1 + number % 9))
    for number, hostile in enumerate(HOSTILE_NAMES):
        url = f"http://{PICTURES}/hostile.svg?{number}"
        logo = artworks.CreateLogo(name=hostile, preview_url=url, target=hostile[:64], custom_css=HOSTILE_CSS)
        gallery.logos.create(logo)
    for number in range(1, 13):
        css = f":root {{ --accent: hsl({number * 30} 60% 45%) }}\n.header {{ background: var(--accent) }}\n"
        url = f"http://{PICTURES}/theme-{number}.svg"
        theme = artworks.CreateTheme(name=f"Theme {number}", preview_url=url, target="forum", custom_css=css)
        gallery.themes.create(theme)
        gallery.themes.link(LinkThemeAuthor(theme_id=number, author_id=1 + number % 2))


@contextmanager
def served(
    *,
    is_filled: bool = True,
    sign_in: SignInRules | None = None,
    issuer: Issuer | None = None,
    page: Page | None = None,
    submit: str | None = None,
) -> Iterator[Served]:
    """Serve a gallery in a thread of this process, with sample records or without.

    Its public URL is that of ``localhost``, at which passkeys work (contract O8), instead of its address.
    """
    port = free_port()
    storage = WatchedStorage(MemoryStorage())
    clock = FrozenClock(SystemClock().now())
    origins = Origins()
    public_url = local_public_url(port)
    if issuer is not None:
        issuer.return_url = f"{public_url.base}/console/"
    outer: Any = {"outgoing": origins, "public_url": public_url, "issuer": issuer, "page": page, "submit": submit}
    gallery = gallery_on(storage, clock, Policy.GUARDED, sign_in=sign_in, **outer)
    if is_filled:
        fill(gallery)
    reports: list[str] = []
    app = _Reporting(logoadmin.asgi(gallery, picture_hosts=[PICTURES]), reports)
    with external_hosts() as others, in_thread(app, port) as address:
        yield Served(gallery, storage, clock, origins, address, others, reports)


def enrol_app(service: Served, caller: Caller) -> tuple[str, Sequence[str]]:
    """Enrol an authenticator app behind the back of the browser; return its secret and the recovery codes."""
    begun = service.gallery.factors.enrol_totp(EnrolTotp(name="Authenticator app"), caller)
    code = TOTP(begun.secret).at(service.clock.now())
    made = service.gallery.factors.confirm_totp(ConfirmTotp(factor_id=begun.factor_id, code=code), caller)
    return begun.secret, made.recovery_codes or ()


class _Reporting:
    """Asks browsers to report what a policy forbade, and keeps what they report."""

    def __init__(self, app: ASGIApp, reports: list[str]) -> None:
        self._app = app
        self._reports = reports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_report(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = b"content-security-policy"
                fields = [(k, v + b"; report-uri /reports" if k == named else v) for k, v in message["headers"]]
                message = {**message, "headers": fields}
            await send(message)

        if scope["type"] == "http" and scope["path"] == "/reports":
            self._reports.append((await StarletteRequest(scope, receive).body()).decode())
            await Response(status_code=204)(scope, receive, send)
        else:
            await self._app(scope, receive, with_report)


MEMBER: Final = ("mira", "the member's password")
MEMBER_ID: Final = 1042
# Logo 1 and theme 1 are theirs.
OWN: Final = 1


def admit(gallery: LogoAdmin) -> None:
    """Create a member with a logo and a theme."""
    name, password = MEMBER
    gallery.users.create(CreateUser(user_id=MEMBER_ID, username=name, password=password))
    author = gallery.authors.create(CreateAuthor(user_id=MEMBER_ID, username="Mira Sol")).author_id
    gallery.logos.link(LinkLogoAuthor(logo_id=OWN, author_id=author))
    gallery.themes.link(LinkThemeAuthor(theme_id=OWN, author_id=author))


def new_logo(name: str, **values: Any) -> BulkChange:
    url = f"http://{PICTURES}/{name.replace(' ', '-')}.svg"
    given = {"name": name, "preview_url": url, "target": "forum", "custom_css": "width: 90px; border-radius: 8px"}
    return BulkChange(kind=Kind.LOGO, create=given | values)


def own_logo(gallery: LogoAdmin, **values: Any) -> BulkChange:
    version = gallery.logos.get(GetLogo(logo_id=OWN)).version
    return BulkChange(kind=Kind.LOGO, id=OWN, version=version, set=values)


def submit(
    gallery: LogoAdmin, *changes: BulkChange, title: str = "", note: str = "", user_id: int = MEMBER_ID
) -> Proposal:
    """Submit changes as a member."""
    names = [str((change.create or change.set or {}).get("name", "Logo")) for change in changes]
    proposing = ProposeChanges(title=title or names[0], note=note, changes=changes)
    return gallery.acting_as(user_id).proposals.propose(proposing)
