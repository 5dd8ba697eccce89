"""Pinned imports: readers get copies of the style sheets that artworks import, which people accept (contract L5).

Origins are asked outside of transactions. What they answered is stored in a write of records, so that neither the
record nor its pins change meanwhile: the first sheet is pinned, and a later one that differs is only offered.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar, Final

from logoadmin.domain.kernel.access import OWNER, Caller, Permission
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import Conflict, OutgoingError
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import LOGOS, THEMES, AnyArtworkKind
from logoadmin.domain.kernel.limits import LogoId, ThemeId
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, get_existing, publication_in
from logoadmin.domain.kernel.use_cases import Service, for_program, storage_of, use_case
from logoadmin.domain.publication.css import TooLarge, inline, judge
from logoadmin.domain.publication.pins.audited_pins import AuditedPins
from logoadmin.domain.publication.pins.import_trees import MOST_BYTES, Outcome, SheetFetcher, sha256_of
from logoadmin.domain.publication.pins.pin_changes import DOCUMENTS, documents, imports_of, store
from logoadmin.domain.publication.pins.pin_runs import (
    NOT_ASKED,
    PatientOutgoing,
    artworks_with_imports,
    forget_unused_sheets,
    missing_pins,
    urls_of,
)
from logoadmin.domain.publication.pins.pinned_css import (
    PinnedCss,
    PinnedSheets,
    ReadsPins,
    StoredPins,
    Unpinned,
    closure,
)
from logoadmin.domain.publication.pins.pinned_imports import (
    AcceptedSheets,
    CheckedRecord,
    InlinedCss,
    PinnedCopies,
    PinnedImport,
)
from logoadmin.domain.publication.pins.sheet_differences import difference, text_difference
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.outgoing import Outgoing
from logoadmin.ports.storage import UnitOfWork

# Characters of CSS with its imports in it.
_MOST_INLINED: Final = 4 * 1024 * 1024

_OF_THEMES: Final = Permission(THEMES.write_scope)
_OF_LOGOS: Final = Permission(LOGOS.write_scope)


class PinsCommand(Command):
    """A command about the pinned imports of one artwork; subclasses add its id."""

    of_kind: ClassVar[AnyArtworkKind]


class GetPins(PinsCommand):
    """The imports of an artwork, and their pinned copies."""

    judges = True


class GetCopies(PinsCommand):
    """The CSS of an artwork with the pinned and with the offered copies of its imports."""

    judges = True


class CheckPins(PinsCommand):
    """A comparison of the pinned copies with what their origins have now."""

    asks_others = True


class AcceptPins(PinsCommand):
    """The acceptance of what the origins offer, of all imports or of some."""

    offered: AcceptedSheets = UNSET


class GetThemePins(GetPins):
    """The imports of a theme, and their pinned copies."""

    of_kind = THEMES

    theme_id: ThemeId


class GetThemeCopies(GetCopies):
    """The CSS of a theme with the pinned and with the offered copies of its imports."""

    of_kind = THEMES

    theme_id: ThemeId


class CheckThemePins(CheckPins):
    """A comparison of the pinned copies of a theme's imports with what their origins have now."""

    of_kind = THEMES

    theme_id: ThemeId


class AcceptThemePins(AcceptPins):
    """The acceptance of what the origins of a theme's imports offer."""

    of_kind = THEMES

    theme_id: ThemeId


class GetLogoPins(GetPins):
    """The imports of a logo, and their pinned copies."""

    of_kind = LOGOS

    logo_id: LogoId


class GetLogoCopies(GetCopies):
    """The CSS of a logo with the pinned and with the offered copies of its imports."""

    of_kind = LOGOS

    logo_id: LogoId


class CheckLogoPins(CheckPins):
    """A comparison of the pinned copies of a logo's imports with what their origins have now."""

    of_kind = LOGOS

    logo_id: LogoId


class AcceptLogoPins(AcceptPins):
    """The acceptance of what the origins of a logo's imports offer."""

    of_kind = LOGOS

    logo_id: LogoId


class PinService(Service):
    """The use cases of pinned imports."""

    def __init__(self, transactions: Transactions, outgoing: Outgoing | None, clock: Clock) -> None:
        """Pin what ``outgoing`` fetches; nothing without it."""
        super().__init__(transactions)
        self._outgoing, self._clock = outgoing, clock

    @use_case({GetThemePins: _OF_THEMES, GetLogoPins: _OF_LOGOS})
    def list(self, gate: Gate, command: GetPins, caller: Caller = OWNER) -> tuple[PinnedImport, ...]:
        """Return the imports of an artwork in order, with their pins. No transaction is open while CSS is judged.

        Raises:
            NotFound: the artwork does not exist.
        """
        kind, record = command.of_kind, gate.read(command, caller, _record)
        stored = StoredPins(storage_of(gate))
        return _compared(stored, kind, record, _listed(stored, kind, record))

    @use_case({GetThemeCopies: _OF_THEMES, GetLogoCopies: _OF_LOGOS})
    def copies(self, gate: Gate, command: GetCopies, caller: Caller = OWNER) -> PinnedCopies:
        """Return the CSS of an artwork as readers get it, and as they would get it with every offer accepted.

        No transaction is open while CSS is judged.

        Raises:
            NotFound: the artwork does not exist.
        """
        kind, record = command.of_kind, gate.read(command, caller, _record)
        stored, urls = StoredPins(storage_of(gate)), imports_of(kind, record.custom_css)
        imports = {pin.url: pin for pin in stored.of(kind.kind, kind.id_of(record)) if pin.url in urls}
        pinned = {url: pin.sheet for url, pin in imports.items() if pin.sheet is not None}
        offered = {url: pin.offered for url, pin in imports.items() if pin.offered is not None}
        return PinnedCopies(
            _with_sheets(stored, kind, record.custom_css, pinned),
            _with_sheets(stored, kind, record.custom_css, {**pinned, **offered}) if offered else None,
        )

    @use_case({CheckThemePins: _OF_THEMES, CheckLogoPins: _OF_LOGOS})
    def check(self, gate: Gate, command: CheckPins, caller: Caller = OWNER) -> tuple[PinnedImport, ...]:
        """Ask the origins of an artwork's imports now; pin what had no pin, and store what else they offer.

        Returns:
            The imports as :meth:`list` does.

        Raises:
            NotFound: the artwork does not exist.
            Conflict: this service does not fetch imports.
        """
        kind, record = command.of_kind, gate.snapshot(command, caller, _record)
        asked_at, urls = self._clock.now(), imports_of(kind, record.custom_css)
        outcomes = _asked(SheetFetcher(self._required_outgoing(), self._clock), urls) if urls else {}

        def work(uow: AuditedUnitOfWork, _: CheckPins) -> dict[str, Any]:
            record = _record(uow, command)
            store(publication_in(uow).pins, kind, record, outcomes, asked_at, uow.now)
            return _answer(_listed(publication_in(uow).pins, kind, record))

        return self._pins_in(gate.write(command, caller, work), command)

    @use_case({AcceptThemePins: _OF_THEMES, AcceptLogoPins: _OF_LOGOS})
    def accept(self, gate: Gate, command: AcceptPins, caller: Caller = OWNER) -> tuple[PinnedImport, ...]:
        """Pin what the origins offered when they were last asked; this is a change of the artwork.

        Returns:
            The imports as :meth:`list` does.

        Raises:
            NotFound: the artwork does not exist.
            Conflict: nothing is offered, or something else than the command names.
        """
        record = gate.snapshot(command, caller, _record)
        # The CSS is judged before the write, which finds that remembered.
        _documents(StoredPins(storage_of(gate)), command.of_kind, record)
        return self._pins_in(gate.write(command, caller, _accept), command)

    @for_program
    def pin_missing(self, seconds: float) -> int:
        """Fetch the imports of active artworks that have no pin, if they did not fail a short time ago.

        Several processes may do this at once: the first pin of an import stays.

        Args:
            seconds: begin no further artwork after this time.

        Returns:
            The number of artworks whose pins were stored, those of failures included.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        if self._outgoing is None:
            return 0
        run, end, stored = PatientOutgoing(self._outgoing, self._clock), self._clock.elapsed() + seconds, 0
        for kind, id_ in storage_of(self).snapshot(partial(missing_pins, self._clock.now())):
            if self._clock.elapsed() >= end:
                break
            stored += self._pin(run, kind, id_, missing=True) is not None
        return stored

    @for_program
    def check_all(self) -> Iterator[CheckedRecord]:
        """Check the imports of every active artwork that has any, logos first, by id, as :meth:`check` does.

        At the end, sheets are removed that are neither pinned nor offered, and that no change in the history names.

        Raises:
            Conflict: this service does not fetch imports.
            StorageUnavailable: the database is out of reach.
        """
        run = PatientOutgoing(self._required_outgoing(), self._clock)
        for kind, id_ in storage_of(self).snapshot(artworks_with_imports):
            checked = self._pin(run, kind, id_, missing=False)
            if checked is not None:
                yield replace(checked, imports=self._with_differences(kind, id_, checked.imports))
        storage_of(self).write(forget_unused_sheets, alone=True)

    def _pin(self, run: Outgoing, kind: AnyArtworkKind, id_: int, *, missing: bool) -> CheckedRecord | None:
        """Ask the origins of an artwork, of the imports that miss a pin or of all; return None if there is none.

        Others may have changed the record or its pins since it was listed.
        """
        storage, asked_at = storage_of(self), self._clock.now()
        urls = storage.snapshot(partial(urls_of, kind, id_, asked_at if missing else None))
        if not urls:
            return None
        outcomes = _asked(SheetFetcher(run, self._clock), urls)
        answers = {url: outcome for url, outcome in outcomes.items() if getattr(outcome, "reason", "") != NOT_ASKED}

        def work(uow: UnitOfWork) -> CheckedRecord | None:
            record: Any = uow.records(kind).get(id_)
            if record is None:
                return None
            store(uow.publication.pins, kind, record, answers, asked_at, self._clock.now())
            listed = (_failed(each, outcomes.get(each.url)) for each in _listed(uow.publication.pins, kind, record))
            # Documents have no origin that may have changed.
            return CheckedRecord(kind.kind, id_, record.name, tuple(each for each in listed if each.url != DOCUMENTS))

        return storage.write(work, alone=True)

    def _required_outgoing(self) -> Outgoing:
        if self._outgoing is None:
            raise Conflict("Imports are not fetched: pin_imports is false, or httpx2 is not installed")
        return self._outgoing

    def _pins_in(self, answer: Mapping[str, Any], command: PinsCommand) -> tuple[PinnedImport, ...]:
        kind, imports = command.of_kind, [PinnedImport(**each) for each in answer["pins"]]
        return self._with_differences(kind, kind.id_of(command), imports)

    def _with_differences(
        self, kind: AnyArtworkKind, id_: int, imports: Sequence[PinnedImport]
    ) -> tuple[PinnedImport, ...]:
        """Add the differences, outside of the write: sheets never change."""
        if not any(each.offered for each in imports):
            return tuple(imports)
        record: Any = storage_of(self).read(lambda uow: uow.records(kind).get(id_))
        return _compared(StoredPins(storage_of(self)), kind, record, imports)


def _record(uow: AnyUnitOfWork, command: PinsCommand) -> Any:
    return get_existing(uow, command.of_kind, command.of_kind.id_of(command))


def _with_sheets(pins: ReadsPins, kind: AnyArtworkKind, css: str, imports: Mapping[str, str]) -> InlinedCss:
    """Return CSS with these sheets in it; one that the database has lost is missing."""
    with suppress(Unpinned):
        sheets = dict(closure(pins, imports.values()))
        texts = PinnedCss(css, imports, sheets).texts
        inlined: str | None = css
        if kind.css_form == "sheet":
            try:
                inlined = inline(css, texts, _MOST_INLINED)
            except TooLarge:
                inlined = None
        return InlinedCss(inlined, judge(css, kind.css_form, texts))
    return InlinedCss(None, judge(css, kind.css_form))


def _asked(fetcher: SheetFetcher, urls: Sequence[str]) -> dict[str, Outcome]:
    """Return what the origins of a record's imports answer."""
    return {url: fetcher.fetch(url) for url in urls}


def _accept(uow: AuditedUnitOfWork, command: AcceptPins) -> dict[str, Any]:
    kind, id_, record = command.of_kind, command.of_kind.id_of(command), _record(uow, command)
    offered = {each.url: each.offered for each in _listed(publication_in(uow).pins, kind, record) if each.offered}
    wanted = offered if command.offered is UNSET else command.offered
    if not wanted:
        raise Conflict(f"Nothing is offered for the imports of {kind.kind} {id_}")
    for url, sheet in wanted.items():
        if offered.get(url) != sheet:
            what = "Something else" if url in offered else "Nothing"
            raise Conflict(f"{what} is offered for the import {url} of {kind.kind} {id_}")
    if DOCUMENTS in wanted:
        publication_in(uow).pins.add_sheet(wanted[DOCUMENTS], _documents(publication_in(uow).pins, kind, record))
    AuditedPins(kind, uow).accept(id_, wanted)
    return _answer(_listed(publication_in(uow).pins, kind, record))


def _listed(stored: ReadsPins, kind: AnyArtworkKind, record: Any) -> tuple[PinnedImport, ...]:
    """Return the imports of a record with their pins, in the order of its CSS, without differences; then documents."""
    known = {pin.url: pin for pin in stored.of(kind.kind, kind.id_of(record))}
    imports = [
        PinnedImport(url, None, None, None, None)
        if (pin := known.get(url)) is None
        else PinnedImport(url, pin.sheet, pin.offered, pin.failure, pin.checked_at)
        for url in imports_of(kind, record.custom_css)
    ]
    if found := _documents(stored, kind, record):
        accepted = known[DOCUMENTS].sheet if DOCUMENTS in known else None
        offered = sha256_of(found)
        imports.append(PinnedImport(DOCUMENTS, accepted, None if offered == accepted else offered, None, None))
    return tuple(imports)


def _documents(stored: ReadsPins, kind: AnyArtworkKind, record: Any) -> str:
    """Return the list of a record's documents that somebody may accept; empty for none, or too many."""
    sheets = PinnedSheets(stored, kind, kind.id_of(record)).texts(kind.id_of(record), record.custom_css)
    found = documents(kind, record.custom_css, sheets)
    return found if len(found) <= MOST_BYTES else ""


def _compared(
    stored: ReadsPins, kind: AnyArtworkKind, record: Any, imports: Sequence[PinnedImport]
) -> tuple[PinnedImport, ...]:
    """Return the imports of a record with the differences between their pinned and their offered sheets."""
    found = []
    for each in imports:
        changes = None
        if each.url == DOCUMENTS and each.offered:
            changes = _document_difference(stored, kind, record, each)
        elif each.sha256 and each.offered:
            changes = difference(stored, each.sha256, each.offered)
        found.append(replace(each, difference=changes))
    return tuple(found)


def _document_difference(stored: ReadsPins, kind: AnyArtworkKind, record: Any, listed: PinnedImport) -> str | None:
    """Return the difference between accepted and offered documents; None if the record has others by now."""
    accepted = listed.sha256 or ""
    found = "" if record is None else _documents(stored, kind, record)
    if sha256_of(found) != listed.offered:
        return None
    before = stored.sheet(accepted) if accepted else None
    return text_difference((accepted, before or ""), (listed.offered, found))


def _answer(imports: Sequence[PinnedImport]) -> dict[str, Any]:
    """Return imports as values that a stored response can have."""
    return {"pins": [asdict(each) for each in imports]}


def _failed(each: PinnedImport, outcome: Outcome | None) -> PinnedImport:
    """Return an import with the failure of this check."""
    return replace(each, failure=str(outcome)) if isinstance(outcome, OutgoingError) else each
