"""The artworks that are not published, or have risks, for administrators of the gallery (contract L1, L3, L4)."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import (
    Reading,
    history_in,
    links_in,
    shared_settings,
    stored_records,
    withdrawals_in,
)
from logoadmin.domain.kernel.use_cases import Service, for_program, storage_of, use_case
from logoadmin.domain.publication.css.targets import Targets, targets_of
from logoadmin.domain.publication.files.contents import ACTIVE, judged_artworks
from logoadmin.domain.publication.files.gallery_keys import GalleryKeys
from logoadmin.domain.publication.files.known_verdicts import Verdicts, verdicts_in
from logoadmin.domain.publication.files.withdrawals import MOST_WITHDRAWN
from logoadmin.domain.publication.publication_records import (
    Blocked,
    LeftOut,
    PublicationStatus,
    PublishingRules,
    Risky,
    left_out,
)
from logoadmin.ports.environment import Clock
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_storage import Withdrawal


class ShowPublication(Command):
    """A request for the status of the publication."""

    judges = True

    @property
    def searches(self) -> bool:
        """It may compare all records."""
        return True


# An id that no author has.
_NOBODY: Final = -1


class StatusService(Service):
    """The use cases of unpublished artworks. No transaction is open while CSS is judged, which may take a while."""

    def __init__(
        self,
        transactions: Transactions,
        clock: Clock,
        keys: GalleryKeys,
        rules: PublishingRules,
        files: GalleryFiles | None,
    ) -> None:
        super().__init__(transactions)
        self._clock, self._keys, self.rules, self._files = clock, keys, rules, files

    @use_case(SIGNED_IN)
    def status(self, gate: Gate, command: ShowPublication, caller: Caller = OWNER) -> PublicationStatus:
        """Return the artworks that are not published, with the reasons, and the published ones with risks.

        Callers who may only propose logos or themes get the status of their own. It may already include changes after
        its version.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
        """
        version, withdrawals, where, targets = gate.snapshot_with_rights(command, caller, _snapshot)
        blocked = tuple(Blocked(each.kind, each.id, each.at, each.reason or "") for each in withdrawals)
        missing: list[LeftOut] = []
        risky: list[Risky] = []
        published: Counter[Kind] = Counter()
        active = partial(stored_records, storage_of(gate), where=where)
        for kind, artwork, verdict in judged_artworks(active, self._verdicts(targets)):
            found = left_out(kind, artwork, verdict, publish_imports=self.rules.publish_imports)
            if found is not None:
                missing.append(found)
                continue
            published[kind.kind] += 1
            if verdict.risks:
                risky.append(Risky(kind.kind, kind.id_of(artwork), artwork.name, verdict.risk_names))
        logos, themes = published[Kind.LOGO], published[Kind.THEME]
        return PublicationStatus(version, logos, themes, tuple(missing), tuple(risky), blocked)

    @for_program
    def left_out(self, artworks: Collection[tuple[Kind, int]]) -> Iterator[LeftOut]:
        """Yield those of these artworks that are active but not published, logos first, by id."""
        storage = storage_of(self)
        verdicts = self._verdicts(targets_of(storage.read(shared_settings)))
        # No others are judged.
        for kind, artwork, verdict in judged_artworks(
            partial(stored_records, storage, where=ACTIVE), verdicts, artworks
        ):
            found = left_out(kind, artwork, verdict, publish_imports=self.rules.publish_imports)
            if found is not None:
                yield found

    def _verdicts(self, targets: Targets) -> Verdicts:
        identity = storage_of(self).read(lambda uow: self._keys.identity(uow, self._clock.now()))
        return verdicts_in(self._files, targets, () if identity is None else identity.keys)


def _snapshot(uow: Reading, _command: ShowPublication, held: Held) -> tuple[int, Sequence[Withdrawal], Filter, Targets]:
    """Return the version, the blocked artworks that the caller sees, which active ones they see, and the targets."""
    blocked, where = withdrawals_in(uow).blocked(MOST_WITHDRAWN), ACTIVE
    if not any(held.hold(kind.write_scope) for kind in ARTWORK_KINDS):
        held.require([Scope.PROPOSALS_WRITE])
        author_id = _author_of(uow, held)
        own = {
            (kind.kind, link.artwork_id) for kind in ARTWORK_KINDS for link in links_in(uow, kind).of_author(author_id)
        }
        blocked = tuple(each for each in blocked if (each.kind, each.id) in own)
        where = replace(ACTIVE, author_id=author_id)
    return history_in(uow).last_id(), blocked, where, targets_of(shared_settings(uow))


def _author_of(uow: Reading, held: Held) -> int:
    """Return the id of the caller's author record; :data:`_NOBODY` if there is none."""
    authors = () if held.user_id is None else uow.records(AUTHORS).page(-1, 1, Filter(user_id=held.user_id))
    return authors[0].author_id if authors else _NOBODY
