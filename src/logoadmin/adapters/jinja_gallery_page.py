"""The pages of the published gallery, rendered with Jinja (contract Q1, Q2, Q5)."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from html import escape
from typing import TYPE_CHECKING, Any, Final

from logoadmin.domain.isolated_names import isolated
from logoadmin.domain.publication.files.index import canonical
from logoadmin.domain.publication.publication_records import PAGE
from logoadmin.ports.gallery_page import POLICY, PageKind
from logoadmin.ports.text import TextRenderer

if TYPE_CHECKING:
    from jinja2 import Environment

# The style sheet of all pages, and the template of the rules added to it.
_SHEET: Final = "page.css"
_LOOK: Final = "look.css"
_DATA: Final = b'<script type="application/json" id="gallery">'
# The side of thumbnails in pixels, and the number of colours of placeholders for pictures.
_THUMBNAIL: Final = 320
_HUES: Final = 12
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENGLISH: Final = 0
_RUSSIAN: Final = 1


class JinjaGalleryPage:
    """Implements :class:`~logoadmin.ports.gallery_page.GalleryPage`."""

    def __init__(
        self, templates: Mapping[str, str], words: Mapping[str, Any], beside: Mapping[str, bytes], text: TextRenderer
    ) -> None:
        """Use templates and the files that pages load, by name; ``index.html`` is among the templates.

        The sentences are in English and in Russian; those of the first page are named ``list``.
        """
        self._templates, self._words, self._beside, self._text = templates, words, beside, text
        made_with = [sorted(each.items()) for each in (templates, words, beside)]
        self.form = hashlib.sha256(repr(made_with).encode()).hexdigest()

    @cached_property
    def _environment(self) -> "Environment":
        # Imported here, because it is slow and few programs render pages.
        from jinja2 import DictLoader, Environment, StrictUndefined

        environment = Environment(
            loader=DictLoader(dict(self._templates)),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            cache_size=-1,
            auto_reload=False,
        )
        environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
        fixed = {name: self._sentence(name) for name, both in self._words.items() if "{" not in str(both)}
        words = {
            "en": partial(self._filled, _ENGLISH),
            "ru": partial(self._filled, _RUSSIAN),
            "t": lambda name, **of: fixed.get(name) or self._sentence(name, **of),
        }
        environment.globals |= {**words, "policy": POLICY, "named": _named, "hues": _HUES}
        environment.filters |= {
            "commonmark": self._text.html, "isolated": isolated, "date": _date, "iso": _iso, "size": _size,
            "initials": _initials, "hue": _hue, "thumbnail_width": _thumbnail_width, "present": _present, "data": _data,
        }  # fmt: skip
        return environment

    def files(self, values: Mapping[str, object], data: Mapping[str, object]) -> Mapping[str, bytes]:
        files = {**self._beside, PAGE: self._filled_in(PAGE, {**values, "gallery": data, "texts": self._words["list"]})}
        files[_SHEET] += self._filled_in(_LOOK, values)
        return files

    def render(self, kind: PageKind, values: Mapping[str, object]) -> bytes:
        is_xml = kind in ("feed", "sitemap")
        page = self._filled_in(f"{kind}.xml" if is_xml else f"{kind}.html", values)
        return _NOT_XML.sub("", page.decode()).encode() if is_xml else page

    def _filled_in(self, template: str, values: Mapping[str, object]) -> bytes:
        return self._environment.get_template(template).render(values).encode()

    def is_page(self, content: bytes) -> bool:
        return _DATA in content

    def _sentence(self, name: str, /, **of: object) -> "_Html":
        """Return a sentence in English, which the script of the page can replace with the Russian one."""
        english, russian = (escape(self._filled(language, name, **of)) for language in (_ENGLISH, _RUSSIAN))
        return _Html(f'<span data-ru="{russian}">{english}</span>')

    def _filled(self, language: int, name: str, /, **of: object) -> str:
        sentence: str = self._words[name][language]
        return sentence.format_map({key: isolated(str(value)) for key, value in of.items()})


class _Html(str):
    """Text that is HTML already, which Jinja recognises by its method."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def _data(value: Mapping[str, object]) -> str:
    """Return data for a script; in JSON, these characters only occur in strings."""
    return canonical(value).decode().replace("<", "\\u003c")


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are not empty."""
    return {name: value for name, value in members.items() if value}


def _named(authors: Iterable[Mapping[str, str]], url: str) -> list[dict[str, str]]:
    """Return authors as schema.org persons."""
    return [
        {"@type": "Person", "name": author["name"], **({"url": f"{url}{author['path']}"} if url else {})}
        for author in authors
    ]


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _date(at: int) -> str:
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%B %Y}"


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1_000 else f"{count / 1_000:.3g} kB"


def _initials(name: str) -> str:
    """Return up to two letters, the placeholder for a picture."""
    letters = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
    words = re.findall(r"[^\W_]+", letters) or name.split()
    return "".join(word[0] for word in words[:2]).upper()


def _hue(name: str) -> int:
    return sum(map(ord, name)) % _HUES


def _thumbnail_width(picture: Mapping[str, int]) -> int:
    width, height = picture["width"], picture["height"]
    return max(1, round(width * min(1, _THUMBNAIL / max(width, height))))
