"""The pages of artworks and authors, the feed and the sitemap, written whole at publication (contract Q1, Q5)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid5

from logoadmin.domain.kernel.details import DETAILS
from logoadmin.domain.kernel.kinds import AUTHORS, KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.contents import Contents
from logoadmin.domain.publication.files.file_names import CHECKS, PAGE_ID
from logoadmin.domain.publication.files.index import TEXT, Index, css_path, sha256
from logoadmin.domain.publication.files.user_styles import UserStyles
from logoadmin.domain.publication.publication_records import FEED, PAGE, SITEMAP, GeneratedFile, Links, Page
from logoadmin.ports.gallery_page import GalleryPage, PageKind
from logoadmin.ports.gallery_storage import Withdrawal

Tone = Literal["good", "note", "bad"]
# A risk that exposes nothing.
_HARMLESS: Final = "animation"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect of CSS: the name of a sentence, with the host or URL in it; empty for none."""

    tone: Tone
    name: str
    of: str = ""


def effects_of(verdict: Mapping[str, Any], own: str) -> Iterator[Effect]:
    """Yield the effects of CSS with a verdict of the index; the host of the gallery itself learns nothing new."""
    hosts = [host for host in verdict.get("hosts", ()) if host != own]
    risks = dict.fromkeys(each["risk"] for each in verdict.get("risks", ()))
    if not hosts:
        yield Effect("good", "contacts_nobody")
    yield from (Effect("note", "contacts", host) for host in hosts)
    yield from (Effect("bad", "unpinned", each["url"]) for each in verdict.get("imports", ()))
    yield from (Effect("note" if risk == _HARMLESS else "bad", risk) for risk in risks)
    if not risks.keys() - {_HARMLESS}:
        yield Effect("good", "no_risks")


# The number of other works of its authors on a page, and of artworks in the feed.
_OTHERS: Final = 4
_NEWEST: Final = 50
# The most pages that a sitemap may list (sitemaps.org).
_MOST_LISTED: Final = 50_000
# Incremented with each change of the values that pages are made of.
_FORM: Final = 1

# Fields that the index omits while they are empty.
_EMPTY: Final = {"preview_url": "", "picture": None}
# The fields of screenshots, whether hosted elsewhere or in the gallery.
_UNKNOWN: Final = {"url": "", "path": "", "alt": "", "width": None, "height": None}
_NO_DETAILS: Final[Mapping[str, Any]] = dict.fromkeys(DETAILS)

_Work = tuple[Kind, int]


@dataclass(frozen=True)
class Site:
    """The values that all pages of a gallery share, whose UUID is ``gallery``."""

    page: Page
    links: Links
    gallery: str
    targets: Targets
    made_by: GalleryPage

    @property
    def url(self) -> str:
        """The URL of the gallery for visitors elsewhere; empty if unknown."""
        return self.links.gallery or "" if self.links.is_public else ""

    @cached_property
    def form(self) -> str:
        """A value that changes whenever all pages change."""
        return sha256(repr((_FORM, self.page, self.links, self.gallery, self.targets, self.made_by.form)).encode())

    def values(self, path: str) -> dict[str, Any]:
        """Return the values that every page has; ``root`` is the relative path from its folder to the gallery's.

        If the URL of the page is unknown, its script completes the link to report it.
        """
        page, url = self.page, quote(f"{self.url}{path}", safe="")
        shared = {
            "title": page.title,
            "home": page.home,
            "demo": page.demo,
            "submit": self.links.submit,
            "report": page.report.replace("{url}", url) if self.url else page.report,
            "mark": page.mark,
            "accent": page.accent,
        }
        return {**shared, "url": self.url, "path": path, "root": "../" * path.count("/")}

    def made(self, name: str, kind: PageKind, parts: Any, values: Callable[[], Mapping[str, Any]]) -> GeneratedFile:
        """Return a page from its sources ``parts``, and the values that not every page has."""
        fingerprint = sha256(repr((self.form, kind, parts)).encode())[:16]
        path = name.removesuffix(PAGE)
        return GeneratedFile(name, fingerprint, lambda: self.made_by.render(kind, {**self.values(path), **values()}))

    def fixed(self, name: str, kind: PageKind, **values: Any) -> GeneratedFile:
        """Return a page with these values."""
        return self.made(name, kind, values, lambda: values)


def page_path(kind: Kind, id_: int) -> str:
    """Return the path of the page of an artwork or an author."""
    return f"{KINDS[kind].plural}/{id_}/"


def blocked_pages(blocked: Iterable[Withdrawal], site: Site) -> Iterator[GeneratedFile]:
    """Yield the pages that replace those of blocked artworks."""
    for each in blocked:
        if each.reason is not None:
            yield site.fixed(f"{page_path(each.kind, each.id)}{PAGE}", "blocked", reason=each.reason)


@dataclass(frozen=True)
class Pages:
    """The pages of a publication besides the first one; of the withdrawn artworks, blocked ones keep pages."""

    index: Index
    contents: Contents
    styles: UserStyles
    withdrawn: Sequence[Withdrawal]
    site: Site

    def __iter__(self) -> Iterator[GeneratedFile]:
        """Yield them, one at a time."""
        yield from (self._artwork_page(work) for work in self.contents.artworks)
        yield from self._moved()
        yield from (self._author_page(author_id) for author_id in self.index.sections[AUTHORS.plural])
        yield from blocked_pages(self.withdrawn, self.site)
        yield self.site.fixed(f"{CHECKS}{PAGE}", "checks")
        yield self._feed()
        if self.site.url:
            yield self._sitemap()

    @cached_property
    def _by_author(self) -> Mapping[int, Sequence[_Work]]:
        found: dict[int, list[_Work]] = {}
        for work, artwork in self.contents.artworks.items():
            for author_id in artwork.author_ids:
                found.setdefault(author_id, []).append(work)
        return found

    @cached_property
    def _places(self) -> Mapping[tuple[int, _Work], int]:
        """The position of each work among the works of an author."""
        of_all = self._by_author.items()
        return {(author_id, work): place for author_id, works in of_all for place, work in enumerate(works)}

    def _others(self, work: _Work) -> list[_Work]:
        """Return the next works of its authors, so that a change affects few other pages, even of busy authors."""
        found: dict[_Work, None] = {}
        for author_id in self.contents.artworks[work].author_ids:
            works, place = self._by_author[author_id], self._places[author_id, work]
            found |= {works[(place + step) % len(works)]: None for step in range(1, _OTHERS + 1)}
        found.pop(work, None)
        return [*found][:_OTHERS]

    def _bodies(self, section: str, ids: Iterable[int]) -> list[bytes]:
        return [self.index.sections[section][id_] for id_ in ids]

    def _sources_of(self, works: Iterable[_Work]) -> list[Any]:
        """Return the sources of the cards of artworks: their own values, and the names of their authors."""
        sources = []
        for kind, id_ in works:
            artwork = self.contents.artworks[kind, id_]
            authors = self._bodies(AUTHORS.plural, artwork.author_ids)
            sources.append((artwork.version, self._bodies(KINDS[kind].plural, [id_]), authors))
        return sources

    def _artwork_page(self, work: _Work) -> GeneratedFile:
        has_style = self.contents.artworks[work].styled_for is not None
        parts = self._sources_of([work, *self._others(work)]), has_style, self._text(work)
        return self.site.made(f"{page_path(*work)}{PAGE}", "artwork", parts, lambda: self._artwork(work))

    def _moved(self) -> Iterator[GeneratedFile]:
        """Yield redirects from the ids that artworks had elsewhere, unless these look like ids of the gallery.

        If ids differ only in case, the first artwork gets the page, because many file systems and hosts ignore case.
        """
        used: set[str] = set()
        for (kind, id_), artwork in self.contents.artworks.items():
            folder = f"{artwork.origin}/"
            name = f"{KINDS[kind].plural}/{folder}{PAGE}"
            if name.lower() not in used and re.fullmatch(f"{PAGE_ID}/", folder) and not artwork.origin.isdecimal():
                used.add(name.lower())
                yield self.site.fixed(name, "moved", path=page_path(kind, id_))

    def _author_page(self, author_id: int) -> GeneratedFile:
        works = self._by_author.get(author_id, ())
        parts = self._bodies(AUTHORS.plural, [author_id]), self._sources_of(works)
        name = f"{page_path(Kind.AUTHOR, author_id)}{PAGE}"

        def values() -> Mapping[str, Any]:
            author = self.index.record(AUTHORS.plural, author_id)
            return {"name": author["username"], "works": [self._card(work) for work in reversed(works)]}

        return self.site.made(name, "author", parts, values)

    def _feed(self) -> GeneratedFile:
        artworks = self.contents.artworks
        newest = sorted(artworks, key=lambda work: (artworks[work].version, work), reverse=True)[:_NEWEST]

        def values() -> Mapping[str, Any]:
            namespace = UUID(self.site.gallery)
            entries = [{**self._card(work), "urn": uuid5(namespace, page_path(*work)).urn} for work in newest]
            return {"urn": namespace.urn, "entries": entries}

        return self.site.made(FEED, "feed", self._sources_of(newest), values)

    def _sitemap(self) -> GeneratedFile:
        pages = [(page_path(*work), self._changed_at(work)) for work in self.contents.artworks]
        authors = [(page_path(Kind.AUTHOR, id_), 0) for id_ in self.index.sections[AUTHORS.plural]]
        return self.site.fixed(SITEMAP, "sitemap", pages=[("", 0), (CHECKS, 0), *authors, *pages][:_MOST_LISTED])

    def _changed_at(self, work: _Work) -> int:
        """Return the Unix time of the last change of an artwork."""
        return self.contents.changed_at[self.contents.artworks[work].version]

    def _card(self, work: _Work) -> dict[str, Any]:
        """Return the values of a link to an artwork."""
        kind, id_ = work
        record = self.index.record(KINDS[kind].plural, id_)
        target = self.site.targets.get(record["target"])
        authors = [self.index.record(AUTHORS.plural, each) for each in record.get("author_ids", ())]
        return {
            **_EMPTY,
            **record,
            "details": {**_NO_DETAILS, **record.get("details", {})},
            "kind": kind.value,
            "path": page_path(kind, id_),
            "authors": [
                {"name": each["username"], "path": page_path(Kind.AUTHOR, each["author_id"])} for each in authors
            ],
            "target_name": record["target"] if target is None else target.name,
            "changed_at": self._changed_at(work),
        }

    def _text(self, work: _Work) -> str:
        kind, id_ = work
        return self.index.texts.get((KINDS[kind].plural, id_), "")

    def _artwork(self, work: _Work) -> Mapping[str, Any]:
        """Return the values of the page of an artwork."""
        card = self._card(work)
        css, file = self.index.css_of(card).strip(), card.get("custom_css_file")
        details = {**card["details"], TEXT: self._text(work)}
        own = urlsplit(self.site.links.gallery or "").netloc
        return {
            "work": {**card, "details": details},
            "screenshots": [{**_UNKNOWN, **each} for each in details["screenshots"] or ()],
            "version": details["version"] or f"1.0.{self.contents.artworks[work].version}",
            "css": css if file is None else "",
            "css_size": len(css.encode()),
            "css_path": css_path(file["sha256"]) if file else "",
            "effects": [*effects_of(card["css"], own)] if css else [],
            "install": self.styles.name_of(*work),
            "others": [self._card(each) for each in self._others(work)],
        }
