"""History from before a record had one of its fields, as after an upgrade (contract G4)."""

from dataclasses import dataclass
from typing import Any, Final

import pytest

from logoadmin.domain.changes.history import Revert
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.gallery.audited_artworks import serialized_links
from logoadmin.domain.identity import roles, users
from logoadmin.domain.kernel.act_log import Snapshot
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import NOW, FrozenClock, ask, gallery_on, stock


@dataclass(frozen=True)
class Newer:
    """A record of a stocked gallery, and one of its fields that stands for a newer one."""

    kind: Kind
    id: int
    field: str
    default: Any
    other: Any
    amend: type[Command]

    def repository(self, uow: UnitOfWork) -> Any:
        return uow.records(KINDS[self.kind])

    def command(self, value: Any) -> Command:
        return self.amend(**{KINDS[self.kind].id_field: self.id, self.field: value})


NEWER: Final = (
    Newer(Kind.ROLE, 3, "scope", (), ["a", "b"], roles.AmendRole),
    Newer(Kind.USER, 7, "avatar", None, "b.png", users.AmendUser),
    Newer(Kind.AUTHOR, 2, "username", "nobody", "Eve", authors.AmendAuthor),
    Newer(Kind.THEME, 1, "target", "site", "wiki", artworks.AmendTheme),
    Newer(Kind.LOGO, 1, "active", False, True, artworks.AmendLogo),
)
pytestmark = [
    pytest.mark.rule("contract G2", "contract G4"),
    pytest.mark.parametrize("newer", NEWER, ids=lambda newer: newer.kind.value),
]


@pytest.fixture
def upgraded(storage: Storage, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, newer: Newer) -> LogoAdmin:
    """A gallery whose record has the default of the newer field, as a migration leaves it."""
    gallery = gallery_on(storage, clock)
    stock(gallery)
    fields: dict[str, Any] = KINDS[newer.kind].record.__dataclass_fields__
    monkeypatch.setattr(fields[newer.field], "default", newer.default)
    ask(gallery, newer.command(newer.default))
    return gallery


def earlier(uow: UnitOfWork, newer: Newer) -> Snapshot:
    """Return the snapshot that an earlier version stored of the record."""
    serialized = {**snapshot(KINDS[newer.kind], newer.repository(uow).get(newer.id))}
    del serialized[newer.field]
    for kind in ARTWORK_KINDS:
        if kind.kind is newer.kind:
            serialized["authors"] = serialized_links(kind, kind, uow.links(kind).of_artwork(newer.id))
    return serialized


def write(uow: UnitOfWork, newer: Newer, action: str, before: Snapshot | None, after: Snapshot | None) -> int:
    """Record a change of an earlier version in the history; return its id."""
    number = uow.changes.last_id() + 1
    kind = newer.kind
    uow.changes.add([Change(number, NOW, None, f"{kind}.{action}", kind, newer.id, before, after, None)])
    return number


def amended(uow: UnitOfWork, newer: Newer) -> int:
    now = earlier(uow, newer)
    return write(uow, newer, "amended", {**now, "created_at": 5}, now)


def removed(uow: UnitOfWork, newer: Newer) -> int:
    now = earlier(uow, newer)
    assert newer.repository(uow).remove(newer.id)
    return write(uow, newer, "removed", now, None)


def test_old_changes_are_undone_with_the_default_of_the_newer_field(
    upgraded: LogoAdmin, storage: Storage, newer: Newer
) -> None:
    def stored() -> Any:
        return storage.read(lambda uow: newer.repository(uow).get(newer.id))

    before = stored()
    upgraded.changes.revert(Revert(change_id=storage.write(lambda uow: removed(uow, newer))))
    assert stored() == before
    upgraded.changes.revert(Revert(change_id=storage.write(lambda uow: amended(uow, newer))))
    assert (stored().created_at, getattr(stored(), newer.field)) == (5, newer.default)
    created = storage.write(lambda uow: write(uow, newer, "created", None, earlier(uow, newer)))
    upgraded.changes.revert(Revert(change_id=created))
    assert stored() is None


def test_a_newer_field_that_was_changed_since_is_kept(upgraded: LogoAdmin, storage: Storage, newer: Newer) -> None:
    number = storage.write(lambda uow: amended(uow, newer))
    ask(upgraded, newer.command(newer.other))
    with pytest.raises(Conflict, match=f"was changed since, by change {number + 1}$"):
        upgraded.changes.revert(Revert(change_id=number))
    upgraded.changes.revert(Revert(change_id=number + 1))
    record = storage.read(lambda uow: newer.repository(uow).get(newer.id))
    assert getattr(record, newer.field) == newer.default
