"""Artworks as UserCSS for style managers (contract Q3)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final
from unicodedata import category

from tinycss2.ast import AtKeywordToken

from logoadmin.domain.isolated_names import isolated
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.pages import Document, documents_in, is_document
from logoadmin.domain.publication.css.plain import NotPlain, plain, without_marks
from logoadmin.domain.publication.css.structure import sources
from logoadmin.domain.publication.css.targets import Target
from logoadmin.domain.publication.css.tokens import Tokens, edited, other_readings, tokenize
from logoadmin.domain.publication.files.contents import PublishedArtwork
from logoadmin.domain.publication.files.index import Index, sha256
from logoadmin.domain.publication.publication_records import GeneratedFile

# Statements that may stand before a namespace.
_BEFORE_RULES: Final = ("charset", "import", "layer", "namespace")
# The maximum for all parts of a sheet, each of which repeats the pages of its target.
_MOST_CHARACTERS: Final = 4 * MAX_CUSTOM_CSS
_QUOTES: Final = ('"', "'", "`")
# A sheet without a match can be wrapped whole in one rule for the pages of the target.
_MUST_SPLIT: Final = re.compile(r"@(?:charset|import|namespace|[^\s{};]*document)|\\|<!--|-->", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StyledArtwork:
    """An artwork as published, with the names of its authors."""

    kind: Kind
    id: int
    version: int
    name: str
    authors: Sequence[str]
    css: str
    details: Mapping[str, Any] = field(default_factory=dict)


def style_name(kind: Kind, id_: int) -> str:
    """Return the name of the file of an artwork."""
    return f"{KINDS[kind].plural}/{id_}.user.css"


def user_style(artwork: StyledArtwork, target: Target, gallery: str, url: str | None, *, has_page: bool) -> str | None:
    """Return an artwork as UserCSS, with its texts escaped; ``url`` is that of the folder, which may have its page.

    None if the artwork cannot be a user style: a logo without a selector in its target; CSS without pages for a target
    that leaves them to it; CSS that is ``invalid``, has an import, or has an ``@-moz-document`` for pages outside the
    target; CSS that would be too long because many parts repeat the pages of the target.
    """
    found = _css(artwork, target)
    if found is None:
        return None
    css, own = found
    documents = ", ".join(target.documents or dict.fromkeys(str(each) for rule in own for each in rule.conditions))
    body = _limited_to(css, documents) if documents else None
    if body is None:
        return None
    path = f"{KINDS[artwork.kind].plural}/{artwork.id}"
    details = artwork.details
    name = _line(isolated(artwork.name)) or f"{KINDS[artwork.kind].name} {artwork.id}"
    head = {
        "name": name,
        # Other artworks may have the same name.
        "namespace": f"{gallery}/{path}",
        "version": f"1.0.{artwork.version}",
        "author": _line(", ".join(map(isolated, artwork.authors))),
        "description": _line(details.get("description", "")),
        "license": _line(details.get("licence", "")),
        "homepageURL": _url(details.get("homepage", "")) or (f"{url}{path}/" if url and has_page else ""),
        "supportURL": _url(details.get("support", "")),
        "updateURL": f"{url}{style_name(artwork.kind, artwork.id)}" if url else "",
    }
    lines = "".join(f"@{key:<11} {value}\n" for key, value in head.items() if value)
    return f"/* ==UserStyle==\n{lines}==/UserStyle== */\n{body}"


def _css(artwork: StyledArtwork, target: Target) -> tuple[str, Sequence[Document]] | None:
    """Return the CSS of an artwork in a form that all readers understand alike, and its ``@-moz-document`` rules.

    None if it cannot be a user style.
    """
    if artwork.kind is Kind.LOGO and target.logo is None:
        return None
    try:
        css = plain(artwork.css)
    except NotPlain:
        return None
    tokens = tokenize(css)
    if any(isinstance(node, AtKeywordToken) and node.lower_value == "import" for node in tokens.nodes):
        return None
    own = [*documents_in(tokens)]
    others = chain.from_iterable(documents_in(tokenize(text)) for text in other_readings(css))
    if not all(each.is_within(target.pages) for each in chain(own, others)):
        return None
    css = _with_plain_heads(css, tokens, own)
    return css if artwork.kind is Kind.THEME else f"{target.logo} {{\n{css.strip()}\n}}", own


def _url(url: str) -> str:
    """Return a URL as a value in a head, without ending the head."""
    return _line(url.replace("*/", "%2A/"))


def _line(text: str) -> str:
    """Return a text as a value in a head, without ending the line or the head."""
    line = "".join(each for each in " ".join(text.split()) if category(each) not in ("Cc", "Cs"))
    line = without_marks(line)
    # Readers strip these quotes, unless the value is a string.
    if line and line[0] == line[-1] and line[0] in _QUOTES:
        line = json.dumps(line, ensure_ascii=False)
    return line.replace("*/", "*\\/")


def _limited_to(css: str, document: str) -> str | None:
    """Return the namespaces of a sheet, its own ``@-moz-document`` rules, and the others wrapped for the target.

    None if the result is too long.
    """
    if _MUST_SPLIT.search(css) is None:
        return _wrapped(css, document)
    rest, may_follow, length = "", True, 0
    namespaces: list[str] = []
    parts: list[str] = []
    for statement, before, block in sources(css):
        name, written = statement.at_keyword, before + block
        if is_document(statement.first):
            if rest.strip():
                parts.append(_wrapped(rest, document))
                length += len(parts[-1])
                if length > _MOST_CHARACTERS:
                    return None
            parts.append(f"{written.rstrip()}\n")
            rest = ""
        elif name == "namespace" and may_follow and not block:
            namespaces.append(f"{written.strip().removesuffix(';')};\n")
        elif name not in ("charset", "import", "namespace"):
            rest += written
        may_follow = may_follow and not block and (name in _BEFORE_RULES or statement.is_between)
    last = "" if parts and not rest.strip() else _wrapped(rest, document)
    return "".join((*namespaces, *parts, last))


def _with_plain_heads(css: str, tokens: Tokens, own: Sequence[Document]) -> str:
    """Return CSS in which every ``@-moz-document`` begins in the only form that all readers understand."""

    def head(rule: Document) -> str:
        return f"@-moz-document {', '.join(map(str, rule.conditions))} "

    rules = ((each, each.block) for each in own if each.block is not None)
    return edited(css, ((tokens.offset(each.place), tokens.offset(block), head(each)) for each, block in rules))


def _wrapped(css: str, document: str) -> str:
    return f"@-moz-document {document} {{\n{css.strip()}\n}}\n"


# Incremented whenever this program generates other user styles.
_FORM: Final = 4


@dataclass(frozen=True, slots=True)
class UserStyles:
    """The user styles of a publication, see :func:`user_style`."""

    index: Index
    artworks: Mapping[tuple[Kind, int], PublishedArtwork]
    gallery: str
    url: str | None
    has_page: bool
    # Whether artworks have a file, as far as known.
    made: dict[tuple[Kind, int], bool] = field(default_factory=dict)

    def __iter__(self) -> Iterator[GeneratedFile]:
        """Yield a file for each artwork, one at a time."""
        yield from filter(None, (self._of(*work) for work in self.artworks))

    def name_of(self, kind: Kind, id_: int) -> str:
        """Return the name of the file of an artwork; empty if it has none."""
        if (kind, id_) not in self.made and (file := self._of(kind, id_)) is not None:
            file.content()
        return style_name(kind, id_) if self.made.get((kind, id_)) else ""

    def _of(self, kind: Kind, id_: int) -> GeneratedFile | None:
        published = self.artworks[kind, id_]
        target = published.styled_for
        if target is None:
            return None
        record = self.index.record(KINDS[kind].plural, id_)
        authors = [self.index.record("authors", each)["username"] for each in record.get("author_ids", ())]
        css, details = self.index.css_of(record), record.get("details", {})
        artwork = StyledArtwork(kind, id_, published.version, record["name"], authors, css, details)
        sources = repr((_FORM, artwork, target, self.gallery, self.url, self.has_page))

        def content() -> bytes | None:
            css = user_style(artwork, target, self.gallery, self.url, has_page=self.has_page)
            self.made[kind, id_] = css is not None
            return None if css is None else css.encode()

        return GeneratedFile(style_name(kind, id_), sha256(sources.encode())[:16], content)
