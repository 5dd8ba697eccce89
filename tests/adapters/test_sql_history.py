"""How databases find changes: each page by one index, never by reading the whole history."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from logoadmin import Change, CreateAuthor, CreateLogo, Kind, ListActs
from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.kernel.access import Owner, SentRequestId
from logoadmin.domain.kernel.gate import _unused_id
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import ChangeFilter, Order, before_all
from logoadmin.ports.history_storage import StoredAct
from logoadmin.ports.storage import UnitOfWork
from tests.adapters.test_sql_searches import ORDERS, sent_statements, with_and_without_statistics, work_for
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in


def add(storage: SqlStorage, changes: list[Change]) -> None:
    for start in range(0, len(changes), 1_000):
        storage.write(partial(_add, changes[start : start + 1_000]))


def _add(changes: list[Change], uow: UnitOfWork) -> None:
    uow.changes.add(changes)


def page_of(after: int, limit: int, where: ChangeFilter, order: Order) -> Callable[[UnitOfWork], tuple[Change, ...]]:
    return lambda uow: uow.changes.page(after, limit, where, order)


def history() -> list[Change]:
    """Return changes of which the last ninety are another's and of another kind."""
    changes = []
    for number in range(1, 6_001):
        is_late = number > 5_910
        at = 1_000 + number // 3
        kind = Kind.ROLE if is_late or number % 2 else Kind.USER
        action = f"{kind}.{'amended' if is_late else 'created'}"
        user_id, request_id = 2 if is_late else 1, f"request {number // 10}"
        changes.append(Change(number, at, user_id, action, kind, number % 1_000, None, None, request_id))
    return changes


RARE: tuple[dict[str, Any], ...] = (
    *({"user_id": 2}, {"action": "role.amended"}, {"request_id": "request 595"}, {"kind": Kind.ROLE, "id": 911}),
    *({"kind": Kind.THEME}, {"user_id": 9}, {"since": 2_980}, {"since": 1_500, "until": 1_505}, {"until": 1_002}),
    {"since": 900_000},
)
FREQUENT: tuple[dict[str, Any], ...] = ({}, {"user_id": 1}, {"kind": Kind.ROLE}, {"kind": Kind.USER}, {"since": 0})


@pytest.mark.rule("contract G3", "contract E2")
def test_the_cost_of_a_page_of_changes_is_independent_of_the_length_of_the_history(sql_storage: SqlStorage) -> None:
    add(sql_storage, history())
    asked = [(one, order, before_all(order)) for one in (*RARE, *FREQUENT) for order in ORDERS]
    asked += [(one, order, 3_001) for one in FREQUENT for order in ORDERS]
    for statistics in with_and_without_statistics(sql_storage):
        everything = work_for(sql_storage, lambda uow: uow.changes.page(-1, 6_000))
        for where, order, after in asked:
            work = work_for(sql_storage, page_of(after, 10, ChangeFilter(**where), order))
            assert work < everything / 6, (statistics, where, order, after)


@pytest.mark.rule("contract G4")
@pytest.mark.parametrize("sent", ["import", "new"])
def test_the_cost_to_find_a_request_is_independent_of_its_number_of_changes(sql_storage: SqlStorage, sent: str) -> None:
    many = [Change(n, 0, None, "role.created", Kind.ROLE, n, None, None, "import") for n in range(1, 3_001)]
    add(sql_storage, many)
    sql_storage.write(lambda uow: uow.acts.add(StoredAct(1, 3_000, "import", None, None, {})))
    everything = work_for(sql_storage, lambda uow: uow.changes.of_request("import", MAX_ID, 3_000))
    assert work_for(sql_storage, lambda uow: _unused_id(uow, SentRequestId(sent, "own"))) < everything / 20


@pytest.mark.rule("contract G4", "contract G5")
def test_a_create_takes_six_statements_besides_the_transaction(sql_storage: SqlStorage) -> None:
    """The counters and the rights are read; the record, its act, its change and the counters are stored."""
    gallery = gallery_on(sql_storage, FrozenClock())
    writer = replace(signed_in(sql_storage, "*", user_id=501), request_id=SentRequestId("our own", "our own"))
    with sent_statements() as statements:
        gallery.logos.create(CreateLogo(**ARTWORK), writer)
    assert len(statements) == 6, statements
    (act,) = gallery.acts.list(ListActs(request_id="our own"))
    assert act.user_name == "user 501"


@pytest.mark.rule("contract G5")
@pytest.mark.parametrize("where", [{}, {"kind": "author"}], ids=str)
def test_a_page_of_acts_takes_at_most_eight_statements(sql_storage: SqlStorage, where: dict[str, Any]) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    reader = signed_in(sql_storage, "*", user_id=501)
    for number in range(20):
        gallery.authors.create(CreateAuthor(user_id=number, username=f"Ann {number}"), Owner(f"request {number}"))
    with sent_statements() as statements:
        page = gallery.acts.list(ListActs(limit=20, order="desc", **where), reader)
    assert len(page.first) == 20
    assert len(statements) <= 8, statements
