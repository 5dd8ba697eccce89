"""The parts of names, by which a part of a name finds the records that have it (contract E3)."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Table, bindparam, delete, insert, select

from logoadmin.adapters.sql_storage.statements import Row, in_portions
from logoadmin.adapters.sql_storage.tables import PARTS
from logoadmin.adapters.sql_storage.transaction import Transaction

# So many parts are removed with one statement.
_AT_ONCE: Final = tuple(f"part_{number}" for number in range(50))


def parts_of(name: str) -> frozenset[str]:
    """Return the parts of a folded name that are kept."""
    return frozenset(name[at : at + length] for length in PARTS for at in range(len(name) - length + 1))


def parts_that_cover(part: str) -> tuple[str, ...]:
    """Return kept parts, none of them twice, that every folded name has which has this part; none of an empty one."""
    for length in PARTS:
        if length <= len(part):
            starts = [*range(0, len(part) - length, length), len(part) - length]
            return tuple(dict.fromkeys(part[at : at + length] for at in starts))
    return ()


class Names:
    """The names of the records of one kind."""

    def __init__(self, table: Table, parts: Table) -> None:
        """Find records of a table by the parts of their names that are kept in another one."""
        (key,) = table.primary_key
        self._id_name = key.name
        self._folded = select(table.c.folded).where(key == bindparam("key"))
        # One that is there already is left of a record that somebody removed by hand.
        self._insert = insert(parts).prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")
        of_some = parts.c.part.in_([bindparam(name) for name in _AT_ONCE])
        self._delete = delete(parts).where(parts.c[key.name] == bindparam("key"), of_some)

    def ask(self, transaction: Transaction, id_: int) -> Sequence[Row]:
        """Return what :meth:`change` is told of a record before it is changed or removed."""
        return transaction.ask(self._folded, {"key": id_})

    def change(self, transaction: Transaction, id_: int, before: Sequence[Row], after: str) -> None:
        """Keep the parts of the folded name that a record has now, which is empty if it was removed."""
        name = before[0][0] if before else ""
        if name == after:
            return
        was, is_ = parts_of(name), parts_of(after)
        for removed in in_portions(_AT_ONCE, sorted(was - is_)):
            transaction.put_off(self._delete, {**removed, "key": id_})
        added: list[dict[str, Any]] = [{"part": part, self._id_name: id_} for part in sorted(is_ - was)]
        if added:
            transaction.insert(self._insert, added)
