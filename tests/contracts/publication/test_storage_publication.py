"""The rules of :mod:`logoadmin.ports.gallery_storage`, over every adapter."""

import pytest

from logoadmin.domain.kernel.kinds import LOGOS
from logoadmin.domain.kernel.limits import MAX_ID, MAX_REASON
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, logo, remove, write, write_and_fail

LAST = 2**53 - 1


@pytest.mark.rule("contract L3")
def test_withdrawals_are_replaced_dropped_and_kept_without_their_record(storage: Storage) -> None:
    def stored(kind: Kind = Kind.LOGO, id_: int = 1) -> Withdrawal | None:
        return next(iter(storage.read(lambda uow: uow.withdrawals.get_many(kind, [id_]))), None)

    write(storage, add(logo(1)), lambda uow: uow.withdrawals.put(Withdrawal(Kind.LOGO, 1, 100)))
    assert (stored(), stored(id_=2), stored(Kind.THEME)) == (Withdrawal(Kind.LOGO, 1, 100), None, None)
    blocked = Withdrawal(Kind.LOGO, 1, LAST, "🂡" * MAX_REASON)
    write(storage, lambda uow: uow.withdrawals.put(blocked))
    assert stored() == blocked
    write_and_fail(storage, lambda uow: uow.withdrawals.put(Withdrawal(Kind.LOGO, 1, 1)))
    write_and_fail(storage, lambda uow: uow.withdrawals.drop(Kind.LOGO, 1))
    write(storage, remove(LOGOS, 1))
    assert stored() == blocked
    write(storage, lambda uow: uow.withdrawals.put(), lambda uow: uow.withdrawals.drop(Kind.LOGO))
    write(storage, lambda uow: uow.withdrawals.drop(Kind.LOGO, 1, 2), lambda uow: uow.withdrawals.drop(Kind.LOGO, 1))
    assert stored() is None


@pytest.mark.rule("contract L3")
def test_many_withdrawals_are_stored_and_dropped_at_once(storage: Storage) -> None:
    many = [Withdrawal(Kind.LOGO, id_, 100 + id_) for id_ in range(1, 121)]
    write(storage, lambda uow: uow.withdrawals.put(*many, Withdrawal(Kind.THEME, 1, 1)))
    blocked = [Withdrawal(Kind.LOGO, id_, 300 - id_, "reason") for id_ in range(61, 121)]
    write(storage, lambda uow: uow.withdrawals.put(many[0], *blocked, blocked[0]))
    write(storage, lambda uow: uow.withdrawals.drop(Kind.LOGO, *range(1, 61)))
    newest = storage.read(lambda uow: uow.withdrawals.newest(0, 999))
    assert newest == (*blocked, Withdrawal(Kind.THEME, 1, 1))


@pytest.mark.rule("contract L3")
def test_the_newest_withdrawals_come_first(storage: Storage) -> None:
    listed = [
        *(Withdrawal(Kind.LOGO, MAX_ID, 300), Withdrawal(Kind.THEME, 1, 200, "b"), Withdrawal(Kind.LOGO, 2, 200, "a")),
        *(Withdrawal(Kind.LOGO, 1, 200), Withdrawal(Kind.THEME, 9, 100, "c"), Withdrawal(Kind.THEME, 8, 100)),
    ]
    write(storage, *(lambda uow, each=each: uow.withdrawals.put(each) for each in sorted(listed, key=lambda w: w.id)))

    def read(uow: UnitOfWork) -> list[tuple[Withdrawal, ...]]:
        found = [uow.withdrawals.newest(since, limit) for since, limit in ((0, 99), (0, 2), (200, 99), (301, 99))]
        return [*found, uow.withdrawals.blocked(99), uow.withdrawals.blocked(1)]

    write(storage, add(logo(1), logo(2), logo(3), logo(MAX_ID)))
    many = write(storage, lambda uow: uow.withdrawals.get_many(Kind.LOGO, [MAX_ID, 3, 2, 2]))
    assert (
        many == storage.read(lambda uow: uow.withdrawals.get_many(Kind.LOGO, [MAX_ID, 3, 2])) == (listed[2], listed[0])
    )
    assert write(storage, lambda uow: uow.withdrawals.get_many(Kind.LOGO, [])) == ()
    blocked = tuple(each for each in listed if each.reason)
    assert storage.read(read) == [(*listed,), (*listed[:2],), (*listed[:4],), (), blocked, blocked[:1]]
