"""The content of the demo: invented artworks by invented people, and a week of their changes (contract Q4)."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from logoadmin.adapters.system_environment import SystemClock
from logoadmin.demo.art import PALETTES, emblem, in_use, page, portrait, word_mark
from logoadmin.demo.words import LICENCES, about_logo, about_theme, pictured
from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.proposal_commands import ApplyProposal, DeclineProposal, ProposeChanges
from logoadmin.domain.gallery import artworks
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.identity.roles import CreateRole
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID, Kind, version_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.shared_settings import AmendSettings

_WEEK: Final = 7 * 86_400
# The seconds between two of the 107 steps.
_PAUSE: Final = _WEEK // 108
_PAGES: Final[Any] = {
    "forum": {"name": "Forum", "documents": ['domain("forum.example")'], "logo": ".site-logo"},
    "wiki": {"name": "Wiki", "documents": ['domain("wiki.example")'], "logo": "#logo"},
    "chat": {"name": "Chat", "documents": ['url-prefix("https://chat.example/")']},
}
_RULES: Final = """Your own work, or what its licence lets you share.
No animation without an end, and nothing that covers a page.
Somebody looks at it within three days."""
_TARGETS: Final = (*_PAGES,)
_MAYA, _JONAS, _LEA, _SAM = 101, 102, 103, 104
_USERS: Final = {_MAYA: "Maya Lindqvist", _JONAS: "Jonas Achterberg", _LEA: "Lea Okafor", _SAM: "Sam Petrov"}
# Users whose passwords are shown, besides the administrator's.
MODERATOR: Final = _USERS[_MAYA]
MEMBER: Final = _USERS[_LEA]
# The scopes that the console offers for a new role.
_MODERATES: Final = ("authors:write", "logos:write", "themes:write", "users:read", "changes:read")
_REASON: Final = "The picture was taken from another community without asking."
_AUTHORS: Final = (
    *("Ann Berg", "Ben Okoro", "Cleo Iwata", "Dario Fenn", "Elif Kaya", "Finn Aalto", "Greta Voss", "Hanna Lis"),
    *("Ivo Marek", "June Abara", "Kato Mori", "Лена Орлова", "Mads Holm", "נועה ברק", "Lea Okafor"),
)
_LOGOS: Final = (
    *("Northlight", "Saltmarsh", "Ferrous", "Quiet Sea", "Lantern", "Harvest Moon", "Driftwood", "Cobalt", "Fernweh"),
    *("Tinder", "Morning Ferry", "Gravel Road", "Paper Kite", "Snowmelt", "Copperleaf", "Undertow", "Foxglove"),
    *("Halo", "Lowland", "Slow Train", "Birch", "Afterglow", "Tidepool", "Ember", "Windfall", "Observatory"),
    *("Mosaic", "Pebble", "Ravine", "Sunday", "Ink Well", "Glasshouse", "Moth", "Ridgeline", "Parade", "Juniper"),
    *("Half Light", "Signal", "Kiln", "Night Market", "Wayside", "Prism", "Cinder", "Meadow", "Low Tide", "Beacon"),
    *("Thistle", "Orchard", "Static", "First Frost", "Canopy", "Marble", "Rookery", "Still Water", "Spindle"),
    *("Aurora", "Garnet", "Longshore", "Wren", "Open Field"),
)
_THEMES: Final = (
    *("Deep Water", "Terracotta", "Neon Alley", "Mint", "Campfire", "Iris", "Evergreen", "Rosewood", "Dusk"),
    *("Clear Sky", "Banner", "Old Press"),
)
# CSS with verdicts that visitors see: an overlay, an animation, and a font from another host.
_EXTRAS: Final = {
    2: ".stage::before { content: ''; position: fixed; inset: 0; pointer-events: none; opacity: 0.06; }\n",
    5: ".bar { animation: glow 6s infinite alternate; }\n@keyframes glow { to { filter: hue-rotate(30deg); } }\n",
    11: "@font-face { font-family: Press; src: url(https://fonts.example/press.woff2) }\nbody { font-family: Press }\n",
}
_LOUD: Final = "The flicker distracts from reading. Please submit it without the animation."
_PLAIN: Final = "filter: saturate(1.3); border-radius: 12px"
_SNOW: Final = "body::after { content: ''; position: fixed; inset: 0; pointer-events: none; opacity: 0.2; }\n"
_FONT: Final = (
    "@font-face { font-family: Typewriter; src: url(https://letters.example/typewriter.woff2) }\n"
    "body { font-family: Typewriter }\n"
)


@dataclass
class DemoClock(SystemClock):
    """A clock that is set to each moment of the demo's week."""

    ahead: int = -_WEEK

    def now(self) -> int:
        """Return the time in the demo."""
        return super().now() + self.ahead


def stock(gallery: LogoAdmin, clock: DemoClock) -> dict[str, str]:
    """Fill an empty gallery with a week of changes, at the end of which the clock shows the present.

    Return the passwords of a moderator and of a member, by username.
    """

    def by(user: int | None) -> LogoAdmin:
        """Return the gallery for the next step of a user, or of the administrator."""
        clock.ahead += _PAUSE
        return gallery if user is None else gallery.acting_as(user)

    passwords = {name: secrets.token_urlsafe(12) for name in _USERS.values()}
    by(None).settings.amend(AmendSettings(gallery_targets=_PAGES, submission_rules=_RULES))
    _hire(by(None), passwords)
    users = {name: user for user, name in _USERS.items()}
    for number, name in enumerate(_AUTHORS):
        by(_MAYA).authors.create(CreateAuthor(user_id=users.get(name, 1001 + number), username=name))
    random = Random(7)
    for number, name in enumerate(_LOGOS):
        moderator = random.choice((_MAYA, _JONAS))
        _logo(by(moderator), number, name, random.sample(range(1, 16), random.choice((1, 1, 1, 2))))
        if number % 5 == 4:
            _theme(by(moderator), number // 5, random.randrange(1, 16))
        if number % 9 == 8:
            by(_JONAS).logos.amend(artworks.AmendLogo(logo_id=number - 3, custom_css=_PLAIN))
    by(_MAYA).themes.amend(artworks.AmendTheme(theme_id=4, active=False))
    by(_JONAS).themes.amend(artworks.AmendTheme(theme_id=4, active=True))
    by(_MAYA).logos.block(artworks.BlockLogo(logo_id=33, reason=_REASON))
    _submissions(by)
    clock.ahead = 0
    return {name: passwords[name] for name in (MODERATOR, MEMBER)}


def _submissions(by: Callable[[int], LogoAdmin]) -> None:
    _propose_logo(by(_LEA), 61, "Neon Sign", "It flickers like the one at our meeting place.")
    by(_MAYA).proposals.decline(DeclineProposal(proposal_id=1, reason=_LOUD))
    _propose_logo(by(_LEA), 62, "Tea House", "For the off-topic board.")
    by(_MAYA).proposals.apply(ApplyProposal(proposal_id=2))
    # The waiting submissions show the purpose of reviews: a new host, an overlay, another picture, and two harmless
    # ones, one of them the first work of its author.
    _propose_redrawn(by(_LEA))
    _propose_theme(by(_LEA), 12, "Typewriter", _FONT, "With a typeface that I host myself.")
    _propose_theme(by(_LEA), 13, "Snowfall", _SNOW, "Snow over the whole page, until February.")
    _propose_logo(by(_LEA), 63, "Reading Lamp", "For the winter. Drawn for light and dark pages.")
    _propose_logo(by(_SAM), 64, "Paper Boat", "My first one. Is the line thick enough?")


def _hire(gallery: LogoAdmin, passwords: Mapping[str, str]) -> None:
    role = gallery.roles.create(CreateRole(name="moderator", scope=_MODERATES))
    for number, (user, name) in enumerate(_USERS.items()):
        avatar = gallery.pictures.send(SendPicture(), portrait(number)).url
        role_id = role.role_id if user in (_MAYA, _JONAS) else DEFAULT_ROLE_ID
        gallery.users.create(
            CreateUser(user_id=user, username=name, avatar=avatar, role_id=role_id, password=passwords[name])
        )


def _logo(gallery: LogoAdmin, number: int, name: str, authors: Sequence[int]) -> None:
    logo = gallery.logos.create(artworks.CreateLogo(**_logo_values(gallery, number, name), active=number % 19 != 7))
    for author in authors:
        gallery.logos.link(artworks.LinkLogoAuthor(logo_id=logo.logo_id, author_id=author))


def _logo_values(gallery: LogoAdmin, number: int, name: str) -> dict[str, Any]:
    picture = _upload(gallery, word_mark(number, name) if number % 4 == 1 else emblem(number))
    screenshots = [(_upload(gallery, in_use(number)), f"{name} in the header of a page")]
    return {
        "name": name,
        "preview_url": picture,
        "target": _TARGETS[number % 3],
        "custom_css": f"background: url({picture}) center / contain no-repeat; color: {_palette(number)[1]}",
        "details": pictured(about_logo(number, name), screenshots),
    }


def _theme(gallery: LogoAdmin, number: int, author: int) -> None:
    name = _THEMES[number]
    values = _theme_values(gallery, number, name, _EXTRAS.get(number, ""), about_theme(number, name))
    theme = gallery.themes.create(artworks.CreateTheme(**values, active=True))
    gallery.themes.link(artworks.LinkThemeAuthor(theme_id=theme.theme_id, author_id=author))


def _theme_values(gallery: LogoAdmin, number: int, name: str, extra: str, details: dict[str, Any]) -> dict[str, Any]:
    palette = ground, shape, accent = _palette(number)
    screenshots = [(_upload(gallery, page(palette, number + 40)), f"{name} on a second page")]
    return {
        "name": name,
        "preview_url": _upload(gallery, page(palette, number)),
        "target": _TARGETS[number % 3],
        "custom_css": (
            f":root {{ color-scheme: {'light' if number % 2 else 'dark'}; --accent: {accent}; }}\n"
            f"body {{ background: {ground}; color: {shape}; }}\n"
            f"header, .bar {{ background: {shape}; color: {ground}; }}\n"
            f"a, button {{ color: var(--accent); border-radius: 8px; }}\n{extra}"
        ),
        "details": pictured(details, screenshots),
    }


def _palette(number: int) -> tuple[str, str, str]:
    return PALETTES[number % len(PALETTES)]


def _upload(gallery: LogoAdmin, content: bytes) -> str:
    return gallery.pictures.send(SendPicture(), content).url


def _propose_logo(gallery: LogoAdmin, number: int, name: str, note: str) -> None:
    _propose(gallery, name, note, BulkChange(kind=Kind.LOGO, create=_logo_values(gallery, number, name)))


def _propose_theme(gallery: LogoAdmin, number: int, name: str, extra: str, note: str) -> None:
    details = {"description": note, "tags": ("new",), "licence": LICENCES[0]}
    values = _theme_values(gallery, number, name, extra, details)
    _propose(gallery, name, note, BulkChange(kind=Kind.THEME, create=values))


def _propose_redrawn(gallery: LogoAdmin) -> None:
    """Propose a new picture for a logo, with CSS that contacts another host."""
    author = next(each for each in gallery.authors.list(ListAuthors(user_id=_LEA)))
    logo = next(each for each in gallery.logos.list(artworks.ListLogos(author_id=author.author_id)) if each.active)
    picture = gallery.pictures.send(SendPicture(), emblem(logo.logo_id + 70)).url
    css = (
        f"background: url({picture}) center / contain no-repeat;\n"
        "border-image: url(https://sparks.example/frame.png) 12;\nborder-radius: 12px"
    )
    values = {"preview_url": picture, "custom_css": css}
    change = BulkChange(kind=Kind.LOGO, id=logo.logo_id, version=version_of(logo), set=values)
    _propose(gallery, f"{logo.name}, redrawn", "Rounder, and easier to see when it is small.", change)


def _propose(gallery: LogoAdmin, title: str, note: str, change: BulkChange) -> None:
    gallery.proposals.propose(ProposeChanges(title=title, note=note, changes=(change,)))
