"""The details of the invented artworks of the demo (contract Q4, S1)."""

from collections.abc import Sequence
from typing import Any, Final

LICENCES: Final = ("CC-BY-4.0", "CC0-1.0", "CC-BY-SA-4.0", "MIT")
# In the order of the shapes in art.py.
_MOTIFS: Final = (
    ("Petals around a calm middle", "flower"),
    ("Rings that never quite close", "rings"),
    ("Two peaks under a low sun", "mountain"),
    ("A star with a bright heart", "star"),
    ("Bars, one of them lit", "minimal"),
    ("Waves in three colours", "sea"),
    ("A cut stone, seen from above", "geometric"),
)
_USES: Final = (
    ("made for the header of a forum", "header"),
    ("clear at the size of a favicon", "small"),
    ("drawn for dark pages first", "dark"),
    ("soft enough for light pages", "light"),
    ("for the long evenings of the year", "winter"),
    ("for the first warm days", "summer"),
    ("redrawn from a sketch on a napkin", "hand-drawn"),
    ("with a little more contrast than it needs", "contrast"),
)
_THEMES: Final = (
    ("Deep blue pages with one bright accent, for reading at night.", ("dark", "blue", "reading")),
    ("Warm paper and burnt clay. Links look like links again.", ("light", "warm")),
    ("A night street after rain: loud edges, quiet text.", ("dark", "neon", "contrast")),
    ("Green tea, white cups, nothing else on the table.", ("light", "green", "minimal")),
    ("Brown ground, glowing links, and bars that breathe slowly.", ("dark", "warm", "animated")),
    ("Lilac pages with deep violet bars.", ("light", "violet")),
    ("A forest floor: green on green, and easy on the eyes.", ("dark", "green", "reading")),
    ("Pale rose with wine-red bars, drawn for the wiki's long tables.", ("light", "red", "tables")),
    ("The last half hour of light, for every page of the forum.", ("dark", "muted")),
    ("Blue sky and white cards, with a calmer sidebar.", ("light", "blue")),
    ("A banner across the top, and plenty of room below it.", ("dark", "header")),
    ("Set like an old newspaper, in a typeface of its own.", ("light", "serif", "reading")),
)
_TEXT: Final = """\
{name} changes colours, bars and buttons, and nothing else: sizes and positions stay as the site has them.

- Body text has a contrast of at least 7:1.
- Works with the wide layout and on phones.
- `--accent` can be set in a style of your own.

Found a page that looks wrong? Write where [we listen]({support}).
"""


def about_logo(number: int, name: str) -> dict[str, Any]:
    """Return the details of a logo, without its screenshots."""
    motif, first = _MOTIFS[number % len(_MOTIFS)]
    use, second = _USES[(number * 5 + number // 7) % len(_USES)]
    return {
        "description": f"{motif}, {use}.",
        "tags": (first, second),
        "licence": LICENCES[number % len(LICENCES)],
        "version": f"1.{number % 4}",
        **({"homepage": f"https://{_host(name)}"} if number % 3 == 0 else {}),
    }


def about_theme(number: int, name: str) -> dict[str, Any]:
    """Return the details of a theme, without its screenshots."""
    description, tags = _THEMES[number]
    home = f"https://{_host(name)}"
    return {
        "description": description,
        "text": _TEXT.format(name=name, support=f"{home}/help"),
        "homepage": home,
        "source": f"{home}/source",
        "support": f"{home}/help",
        "licence": LICENCES[(number + 3) % len(LICENCES)],
        "version": f"{1 + number % 3}.{number % 5}.0",
        "tags": tags,
    }


def pictured(details: dict[str, Any], pictures: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return details with screenshots, each as a URL and a description."""
    return {**details, "screenshots": tuple({"url": url, "alt": alt} for url, alt in pictures)}


def _host(name: str) -> str:
    return f"{name.lower().replace(' ', '-')}.example"
