"""History of a newer program, whose records have more fields: it is left after going back a version (contract K7)."""

from typing import Any

import pytest

from logoadmin.domain.changes.history import ListChanges, Revert
from logoadmin.domain.kernel.audited_unit_of_work import snapshot
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import KINDS, AnyKind
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.gallery import NOW, FrozenClock, gallery_on, stock

IDS = {**dict.fromkeys(Kind, 1), Kind.ROLE: 3, Kind.USER: 7}
pytestmark = [
    pytest.mark.rule("contract K7", "contract G2"),
    pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.kind.value),
]


@pytest.fixture
def stocked(storage: Storage, clock: FrozenClock) -> LogoAdmin:
    gallery = gallery_on(storage, clock)
    stock(gallery)
    return gallery


@pytest.mark.parametrize("action", ["created", "amended", "removed"])
def test_a_change_with_a_field_of_a_newer_program_is_shown_and_not_undone(
    stocked: LogoAdmin, storage: Storage, kind: AnyKind, action: str
) -> None:
    id_ = IDS[kind.kind]
    record: Any = storage.read(lambda uow: uow.records(kind).get(id_))
    newer = {**snapshot(kind, record), "stars": 5}
    before, after = (None if action == "created" else newer), (None if action == "removed" else newer)
    number = stocked.changes.version() + 1
    change = Change(number, NOW, None, f"{kind.kind}.{action}", kind.kind, id_, before, after, None)
    storage.write(lambda uow: uow.changes.add([change]))
    assert [*stocked.changes.list(ListChanges(after=number - 1))] == [change]
    with pytest.raises(Conflict, match=f"^Change {number} cannot be undone: a newer version of logoadmin made it$"):
        stocked.changes.revert(Revert(change_id=number))
    assert stocked.changes.version() == number
    assert storage.read(lambda uow: uow.records(kind).get(id_)) == record
