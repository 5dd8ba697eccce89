"""The CSS of records with pinned imports, as readers get it (contract L5)."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import MAX_BLOCKS, has_too_many_blocks, judge, rewrite
from logoadmin.domain.publication.pins.import_trees import MOST_BYTES, SUFFIX, sha256_of, sheet_name
from logoadmin.domain.publication.pins.pin_changes import DOCUMENTS, documents, imports_of, may_import
from logoadmin.domain.publication.pins.sheet_sources import host_of
from logoadmin.domain.publication.publication_records import NOT_FETCHED, LeftOutReason
from logoadmin.ports.publication.publication_storage import Pin
from logoadmin.ports.storage import Storage

# Where the sheets are, as seen from the index.
FOLDER: Final = "css/"
NOT_ACCEPTED: Final = (
    "It has a document in a data: URL, out of which Firefox loads what the document names. Accept it to publish it"
)


class Unpinned(Exception):
    """Readers cannot get a record, such as one without a pinned sheet; the text is a sentence that says why.

    Attributes:
        code: the reason as one of a few.
        host: the host of the import that is not pinned; empty for none.
    """

    def __init__(self, text: str, code: LeftOutReason = "not_pinned", host: str = "") -> None:
        super().__init__(text)
        self.code, self.host = code, host


class ReadsPins(Protocol):
    """Reads pins and sheets."""

    def of(self, kind: Kind, id_: int, /) -> tuple[Pin, ...]:
        """Return the pins of a record."""

    def of_kind(self, kind: Kind, /) -> tuple[Pin, ...]:
        """Return the pins of all records of a kind."""

    def sheet(self, sha256: str, /) -> str | None:
        """Return the text of a sheet; None if it does not exist."""


@dataclass(frozen=True, slots=True)
class StoredPins:
    """The pins and the sheets, each read in a transaction of its own, so that none is open while CSS is judged."""

    _storage: Storage

    def of(self, kind: Kind, id_: int) -> tuple[Pin, ...]:
        """Return the pins of a record."""
        return self._storage.read(lambda uow: uow.publication.pins.of(kind, id_))

    def of_kind(self, kind: Kind) -> tuple[Pin, ...]:
        """Return the pins of all records of a kind."""
        return self._storage.read(lambda uow: uow.publication.pins.of_kind(kind))

    def offered(self) -> tuple[Pin, ...]:
        """Return the pins whose origins offer something else."""
        return self._storage.read(lambda uow: uow.publication.pins.offered())

    def sheet(self, sha256: str) -> str | None:
        """Return the text of a sheet, which never changes; None if it does not exist."""
        return self._storage.read(lambda uow: uow.publication.pins.sheet(sha256))


@dataclass(frozen=True, slots=True)
class PinnedCss:
    """The CSS of a record, and all sheets that it leads to.

    Attributes:
        css: the CSS, with each import replaced by the path of its sheet, ``css/<sha256>.css``.
        imports: the SHA-256 of the sheet of each import, by the URL in the record, in order.
        sheets: the texts of the sheets by their SHA-256; their own imports read ``<sha256>.css``.
    """

    css: str
    imports: Mapping[str, str]
    sheets: Mapping[str, str]

    @property
    def texts(self) -> Mapping[str, str]:
        """The sheets by the imports that lead to them, for :func:`~logoadmin.domain.publication.css.judge`."""
        nested = {sheet_name(sha): css for sha, css in self.sheets.items()}
        return {**nested, **{url: self.sheets[sha] for url, sha in self.imports.items()}}


class PinnedSheets:
    """The pinned imports of records of a kind.

    ::

        pinned = PinnedSheets(uow.publication.pins, LOGOS)
        for logo in logos:
            css = pinned.of(logo.logo_id, logo.custom_css)
    """

    def __init__(self, stored: ReadsPins, kind: AnyArtworkKind, id_: int | None = None) -> None:
        """Read the pins of all records of a kind, or of one; their sheets are read when they are needed."""
        self._kind, self._stored = kind, stored
        pins = self._stored.of_kind(kind.kind) if id_ is None else self._stored.of(kind.kind, id_)
        self._pins = {(pin.id, pin.url): pin for pin in pins}

    def of(self, id_: int, css: str) -> PinnedCss:
        """Return the CSS of a record with its pinned imports.

        Raises:
            Unpinned: it has an import without a pinned sheet or documents that nobody accepted, or cannot be read.
        """
        if has_too_many_blocks(css):
            text = f"Its CSS has more than {MAX_BLOCKS:,} blocks, or too many functions, to be judged"
            raise Unpinned(text, "unreadable")
        found = self._with_sheets(id_, css)
        listed = documents(self._kind, css, found.texts)
        accepted = self._pins.get((id_, DOCUMENTS))
        if len(listed) > MOST_BYTES:
            raise Unpinned("Its documents in data: URLs are larger than 1 MiB", "unreadable")
        if listed and (accepted is None or accepted.sheet != sha256_of(listed)):
            raise Unpinned(NOT_ACCEPTED, "document")
        return found

    def _with_sheets(self, id_: int, css: str) -> PinnedCss:
        if not may_import(css) or not judge(css, self._kind.css_form).import_urls:
            return PinnedCss(css, {}, {})
        imports = {url: self._sheet(id_, url) for url in imports_of(self._kind, css)}
        paths = {url: f"{FOLDER}{sheet_name(sha)}" for url, sha in imports.items()}
        form = self._kind.css_form
        rewritten = rewrite(css, form, None, paths)
        if not {*judge(rewritten, form).import_urls} <= {*paths.values()}:
            raise Unpinned("An import cannot be replaced")
        return PinnedCss(rewritten, imports, dict(closure(self._stored, imports.values())))

    def texts(self, id_: int, css: str) -> Mapping[str, str]:
        """Return the sheets that a record leads to, as far as they are pinned, see :attr:`PinnedCss.texts`."""
        known = ((url, self._pins.get((id_, url))) for url in imports_of(self._kind, css))
        texts: dict[str, str] = {}
        for url, pin in known:
            if pin is not None and pin.sheet is not None:
                with suppress(Unpinned):
                    texts |= PinnedCss(css, {url: pin.sheet}, dict(closure(self._stored, [pin.sheet]))).texts
        return texts

    def _sheet(self, id_: int, url: str) -> str:
        pin = self._pins.get((id_, url))
        if pin is None:
            raise Unpinned(NOT_FETCHED, "not_fetched", host_of(url))
        if pin.sheet is None:
            raise Unpinned(f"An imported style sheet cannot be pinned: {pin.failure}", host=host_of(url))
        return pin.sheet


def closure(pins: ReadsPins, roots: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 and the text of sheets and of all that they import, each once, an importing one first.

    Args:
        pins: where the sheets are.
        roots: the SHA-256 of the first.

    Raises:
        Unpinned: one of them is missing.
    """
    left = [*reversed([*roots])]
    seen: set[str] = set()
    while left:
        sha = left.pop()
        if sha in seen:
            continue
        seen.add(sha)
        css = pins.sheet(sha)
        if css is None:
            raise Unpinned(f"The pinned style sheet {sha} is missing from the database")
        yield sha, css
        if SUFFIX in css:
            left += reversed([url.removesuffix(SUFFIX) for url in judge(css, "sheet").import_urls])
