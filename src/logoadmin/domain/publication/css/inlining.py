"""Copies of imported style sheets in place of their imports (contract L5)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from tinycss2 import serialize
from tinycss2.ast import AtKeywordToken, Comment, FunctionBlock, IdentToken, Node, ParseError

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, described
from logoadmin.domain.publication.css.addresses import Use, imported
from logoadmin.domain.publication.css.judging import TOO_MANY
from logoadmin.domain.publication.css.risks import invalid
from logoadmin.domain.publication.css.sheets import Sheet, SheetFetcher, with_absolute_urls
from logoadmin.domain.publication.css.structure import statements, structure_of
from logoadmin.domain.publication.css.tokens import (
    Edit,
    Nodes,
    Tokens,
    edited,
    has_too_many_blocks,
    is_literal,
    significant,
    tokenize,
    walk,
)
from logoadmin.ports.environment import Clock
from logoadmin.ports.outgoing import Outgoing

# Statements that may stand before an import (CSS Cascading and Inheritance Level 5 §2).
_BEFORE_IMPORTS: Final = ("charset", "import", "layer")
_FROM: Final = re.compile(r"! from (\S+) sha256-[0-9a-f]{64} ")
_END: Final = "! end "
# Replacing relative URLs by absolute ones may add this much to a sheet.
_MOST_ADDED: Final = 4 * 1024 * 1024

_IGNORED: Final = "browsers ignore an @import there: it has to stand before all rules, outside of blocks"
_DECLARATIONS: Final = "a list of declarations cannot import a style sheet"
_UNREADABLE: Final = "what follows its URL cannot be read"
_NAMESPACES: Final = "@namespace applies to a whole file, and cannot be copied"
_INVALID: Final = "its CSS is invalid in line {line}"
_TOO_LONG: Final = f"the CSS would have more than {MAX_CUSTOM_CSS:,} characters"

_SHA256: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_URL: Final = "https://styles.example/aurora.css"


@dataclass(frozen=True, slots=True)
class CopiedSheet:
    """A style sheet that was fetched."""

    url: Annotated[str, described("The URL of the style sheet.", _URL)]
    sha256: Annotated[str, described("The SHA-256 of the style sheet, in hexadecimal.", _SHA256)]
    size: Annotated[int, described("The size of the style sheet in bytes.", 512)]


@dataclass(frozen=True, slots=True)
class FailedImport:
    """An import that was not copied."""

    url: Annotated[str, described("The imported URL, as written.", _URL)]
    reason: Annotated[str, described("Why the import was not copied.", "styles.example: status 404")]


@dataclass(frozen=True, slots=True)
class InlinedCss:
    """CSS with copies in place of its imports."""

    custom_css: Annotated[
        str,
        described(
            "The CSS. Each copy stands between two comments, inside a block for each condition of its `@import`.",
            f"/*! from {_URL} sha256-{_SHA256} */\nbody {{ color: #123 }}\n/*! end */\n",
        ),
    ]
    sheets: Annotated[tuple[CopiedSheet, ...], described("The style sheets that were copied.", [])]
    failed: Annotated[tuple[FailedImport, ...], described("The imports that could not be copied.", [])]


def inline(css: str, form: CssForm, outgoing: Outgoing, clock: Clock) -> InlinedCss:
    """Return CSS with a copy of each imported style sheet; if it imports none, its copies are fetched again.

    Everything else is unchanged, byte for byte.
    """
    if has_too_many_blocks(css):
        return InlinedCss(css, (), ())
    tokens, copier = tokenize(css), _Copier(SheetFetcher(outgoing, clock))
    found = [*_imports(tokens)]
    edits: list[Edit] = []
    has_namespace, failed = _has_namespace(tokens.nodes), []
    for each in found or _copies(tokens):
        before = len(copier.copied)
        try:
            if form != "sheet":
                raise OutgoingError("", _DECLARATIONS)
            if not each.is_followed:
                raise OutgoingError("", _IGNORED)
            if has_namespace:
                raise OutgoingError("", _NAMESPACES)
            edits.append((each.start, each.end, copier.copy(each, None)))
        except OutgoingError as error:
            del copier.copied[before:]
            failed.append(FailedImport(each.url, str(error)))
    result = edited(css, edits)
    known = {each.url for each in failed}
    failed += (FailedImport(url, _IGNORED) for url in _urls(result, form) if url not in known)
    if len(result) > MAX_CUSTOM_CSS:
        return InlinedCss(css, (), (*failed, *(FailedImport(each.url, _TOO_LONG) for each in found[:1])))
    sheets = tuple(CopiedSheet(each.name, each.sha256, len(each.body)) for each in copier.copied)
    return InlinedCss(result, sheets, tuple(failed))


@dataclass(frozen=True, slots=True)
class _Import:
    """An import, or an earlier copy, with the offsets of its start and its end in the text."""

    url: str
    start: int
    end: int
    heads: tuple[str, ...] | None = ()  # the openings of the blocks for its conditions; None if these cannot be read
    is_followed: bool = True  # by browsers


class _Copier:
    """Copies the sheets that one text imports."""

    def __init__(self, sheets: SheetFetcher) -> None:
        self._sheets, self._left = sheets, MAX_CUSTOM_CSS
        self.copied: list[Sheet] = []

    def copy(self, found: _Import, importer: Sheet | None) -> str:
        """Return the replacement for an import: a copy of the sheet, with copies of its own imports.

        Raises:
            OutgoingError: part of it cannot be copied.
        """
        if found.heads is None:
            raise OutgoingError("", _UNREADABLE)
        sheet = self._sheets.fetch(found.url, importer)
        text = self._with_copies(sheet)
        if sheet not in self.copied:
            self.copied.append(sheet)
        name = sheet.name.replace("*", "%2A")  # or it could end the comment
        copy = f"/*! from {name} sha256-{sheet.sha256} */\n{text.strip()}\n/*{_END}*/"
        return "".join((*(f"{head} {{\n" for head in found.heads), copy, "\n}" * len(found.heads)))

    def _with_copies(self, sheet: Sheet) -> str:
        if len(sheet.text) > self._left:
            raise OutgoingError(sheet.host, _TOO_LONG)
        text = _without_marks(sheet.text)
        if has_too_many_blocks(text):
            raise OutgoingError(sheet.host, TOO_MANY)
        tokens = tokenize(text)
        if places := sorted(node.source_line for node in invalid(tokens, structure_of(tokens, "sheet"))):
            raise OutgoingError(sheet.host, _INVALID.format(line=places[0]))
        if sheet.base is not None:
            if (text.count("(") + text.count('"') + text.count("'")) * len(sheet.base) > _MOST_ADDED:
                raise OutgoingError(sheet.host, _TOO_LONG)
            text = with_absolute_urls(text, sheet.base)
        self._left -= len(text)
        if self._left < 0:
            raise OutgoingError(sheet.host, _TOO_LONG)
        tokens = tokenize(text)
        if _has_namespace(tokens.nodes):
            raise OutgoingError(sheet.host, _NAMESPACES)
        edits = [
            (each.start, each.end, self.copy(each, sheet) if each.is_followed else "") for each in _imports(tokens)
        ]
        text = edited(text, [*edits, *_stray(tokens)])
        if _urls(text, "sheet"):
            raise OutgoingError(sheet.host, _IGNORED)
        return text


def _imports(tokens: Tokens) -> Iterator[_Import]:
    """Yield the imports of a sheet outside blocks; earlier copies may precede them, as imports may."""
    copies, may_follow = 0, True
    for each in statements(tokens.nodes):
        if each.is_between:
            copies = max(0, copies + _mark(each.first))
            continue
        token = imported(each.head, 0) if each.at_keyword == "import" else None
        if token is not None:
            stop = len(tokens.text) if each.end is None else tokens.offset(each.end) + 1
            is_followed = may_follow and each.block is None
            url, start = tokens.value(token.value), tokens.offset(each.first)
            yield _Import(url, start, stop, _heads(each.head[1:]), is_followed=is_followed)
        is_copy = copies or (each.block is not None and any(_mark(node) > 0 for node in walk(each.block.content)))
        may_follow = may_follow and bool(is_copy or (each.block is None and each.at_keyword in _BEFORE_IMPORTS))


def _heads(prelude: Nodes) -> tuple[str, ...] | None:
    """Return the block openings for the conditions and the layer that follow the URL of an import."""
    nodes = significant(prelude)[1:]
    if any(isinstance(node, ParseError) for node in walk(prelude)) or "\\" in serialize(nodes):
        return None
    layer, heads = "", []
    first = nodes[0] if nodes else None
    if isinstance(first, IdentToken) and first.lower_value == "layer":
        layer = "@layer"
    elif isinstance(first, FunctionBlock) and first.lower_name == "layer":
        layer = f"@layer {serialize(first.arguments)}"
    nodes = nodes[1:] if layer else nodes
    first = nodes[0] if nodes else None
    if isinstance(first, FunctionBlock) and first.lower_name == "supports":
        heads.append(f"@supports ({serialize(first.arguments)})")
        nodes = nodes[1:]
    if nodes:
        rest = prelude[prelude.index(nodes[0]) :]
        heads.append(f"@media {serialize([node for node in rest if not isinstance(node, Comment)]).strip()}")
    # If a condition fails, the layer is not in the layer order (CSS Cascading and Inheritance Level 5).
    return (*heads, layer) if layer else tuple(heads)


def _copies(tokens: Tokens) -> Iterator[_Import]:
    """Yield the outermost copies that can be fetched again from their URL."""
    level = 0
    first: Comment | None = None
    for node in walk(tokens.nodes):
        if not isinstance(node, Comment):
            continue
        mark = _mark(node)
        level = max(0, level + mark)
        if level == 1 and mark > 0:
            first = node
        elif level == 0 and mark < 0 and first is not None:
            match = _FROM.fullmatch(first.value)
            if match is not None and not match[1].startswith("data:"):
                yield _Import(match[1], tokens.offset(first), tokens.offset(node) + len(f"/*{node.value}*/"))
            first = None


def _mark(node: Node) -> int:
    """Return 1 for the comment at the start of a copy, -1 for the one at its end, and 0 for anything else."""
    if not isinstance(node, Comment):
        return 0
    return 1 if _FROM.fullmatch(node.value) else -int(node.value == _END)


def _without_marks(text: str) -> str:
    """Return a sheet in which no comment looks like the start or end of a copy."""
    if "/*!" not in text:
        return text
    tokens = tokenize(text)
    marks = [tokens.offset(node) + 2 for node in walk(tokens.nodes) if _mark(node)]
    return edited(text, [(offset, offset + 1, "") for offset in marks])


def _stray(tokens: Tokens) -> Iterator[Edit]:
    """Yield edits that remove ``@charset`` and HTML comment tokens, which are ignored outside blocks."""
    nodes = tokens.nodes
    for place, node in enumerate(nodes):
        offset = tokens.offset(node)
        if is_literal(node, "<!--", "-->"):
            yield offset, offset + (4 if is_literal(node, "<!--") else 3), ""
        elif isinstance(node, AtKeywordToken) and node.lower_value == "charset":
            following = [each for each in nodes[place + 1 : place + 4] if is_literal(each, ";")]
            if following:
                yield offset, tokens.offset(following[0]) + 1, ""


def _urls(css: str, form: CssForm) -> list[str]:
    """Return the imported URLs, at any depth."""
    found = () if has_too_many_blocks(css) else structure_of(tokenize(css), form).addresses()
    return [each.url for each in found if each.use is Use.IMPORT]


def _has_namespace(nodes: Sequence[Node]) -> bool:
    return any(isinstance(node, AtKeywordToken) and node.lower_value == "namespace" for node in nodes)
