"""The statements of one unit of work, all on the same connection."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import ClauseElement, PoolProxiedConnection

from logoadmin.adapters.sql_storage.counters import HOLD, HOLD_AT_ONCE, KEEP, READ, Counters
from logoadmin.adapters.sql_storage.statements import Row, Statements
from logoadmin.domain.model.errors import DuplicateEntry
from logoadmin.domain.model.lists import HeavyPage, light_enough

# Of what is inserted at last, so many rows, or characters of text, go with one statement: some servers take but a
# megabyte at once.
_ROWS: Final = 100
_WEIGHT: Final = 65_536

Answer = TypeVar("Answer")
Found = TypeVar("Found")


class _Waiting(NamedTuple):
    """A statement that is run when it has to be, and what is done with its rows."""

    sql: str
    values: Row
    then: Callable[[Sequence[Row]], object] | None = None


class Transaction:
    """Runs statements for the repositories of one unit of work.

    It begins with :meth:`begin` or :meth:`take_write_lock` and ends with :meth:`finish` and :meth:`commit`; without
    them, each statement is a transaction of its own. What nobody needs the answer of waits until a statement is run
    whose answer is needed, and goes with it; rows that nobody looks at wait until :meth:`settle` or the end.

    Attributes:
        counters: what is counted.
        begun: whether the database has heard of it.
    """

    __slots__ = (
        "_connection",
        "_cursor",
        "_depth",
        "_is_lost",
        "_last",
        "_rights",
        "_statements",
        "_waiting",
        "begun",
        "counters",
    )

    def __init__(self, connection: PoolProxiedConnection, statements: Statements) -> None:
        """Work on a connection."""
        self._connection = connection
        self._cursor = connection.cursor()
        self._statements = statements
        self._waiting: list[_Waiting] = []
        self._last: list[tuple[ClauseElement, Mapping[str, Any]]] = []
        self._rights: dict[object, Any] = {}
        self._depth = 0
        self._is_lost = False
        self.begun = False
        self.counters = Counters(self._look_at_counters)

    def take_write_lock(self, statements: Sequence[str], *, wait: bool = True) -> None:
        """Begin a write: wait for the one before it, or else fail if there is one, and keep the next one waiting."""
        self.begin(statements)
        hold = self._statements.written(HOLD if wait else HOLD_AT_ONCE, ())
        self._waiting.append(_Waiting(hold.sql, (), lambda rows: self.counters.held(rows[0])))
        self.catch_up()

    def begin(self, statements: Sequence[str]) -> None:
        """Begin with statements that have no values and no rows."""
        self._waiting += [_Waiting(statement, ()) for statement in statements]

    def put_off(self, statement: ClauseElement, values: Mapping[str, Any]) -> None:
        """Make a change that the rest of the work hardly looks at: at the end, or with the next statement."""
        written = self._statements.written(statement, tuple(values))
        if written.changes_rights:
            self._rights.clear()
        self._waiting.append(_Waiting(written.sql, written.ordered(values)))

    def ask(self, query: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return rows that are there as soon as the next statement was run, and cost no round trip of their own."""
        written = self._statements.written(query, tuple(values))
        found: list[Row] = []
        self._waiting.append(_Waiting(written.sql, written.ordered(values), found.extend))
        return found

    def insert(self, insertion: ClauseElement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows with one statement, which is put off."""
        written = self._statements.written(insertion, tuple(rows[0]))
        head, values, row = written.sql.rpartition(" VALUES ")
        ordered = chain.from_iterable(map(written.ordered, rows))
        self._waiting.append(_Waiting(head + values + ", ".join([row] * len(rows)), tuple(ordered)))

    def at_last(self, insertion: ClauseElement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows that the rest of the work looks at only after :meth:`settle`; at the end at the latest."""
        self._last += [(insertion, row) for row in rows]

    def settle(self) -> None:
        """Insert what was left for the end, many rows with one statement."""
        last, self._last = self._last, []
        for number, (insertion, rows) in enumerate(_portions(last)):
            if number:
                self.catch_up()
            self.insert(insertion, rows)

    def part(self, work: Callable[[], Answer]) -> Answer:
        """Return the answer of a part of the work, which undoes itself alone if it raises."""
        if len(self._last) >= _ROWS:
            self.settle()
        self._depth += 1
        name = f"part_{self._depth}"
        counted, last, savepoint = self.counters.noted(), list(self._last), _Waiting(f"SAVEPOINT {name}", ())
        self._waiting.append(savepoint)
        try:
            answer = work()
        except BaseException:
            waiting = next((index for index, one in enumerate(self._waiting) if one is savepoint), None)
            if waiting is None:
                self._waiting = [
                    _Waiting(f"ROLLBACK TO SAVEPOINT {name}", ()),
                    _Waiting(f"RELEASE SAVEPOINT {name}", ()),
                ]
            else:
                del self._waiting[waiting:]
            # What came before this part, too, is undone with it if it was inserted meanwhile.
            self._last = last
            self.counters.take_back(counted)
            self._rights.clear()
            raise
        else:
            self._waiting.append(_Waiting(f"RELEASE SAVEPOINT {name}", ()))
            return answer
        finally:
            self._depth -= 1

    def finish(self) -> None:
        """Run what was put off, so that nothing is left but the commit."""
        self.settle()
        changed = self.counters.changed()
        if changed:
            self.put_off(KEEP, changed)
        if self.begun:
            self.catch_up()

    def commit(self) -> None:
        """Keep everything. Alone: only of a commit is it unknown, when the connection is lost, whether it was done."""
        if self.begun:
            self._cursor.execute("COMMIT")

    def catch_up(self) -> None:
        """Run what was put off."""
        if self._waiting or self._is_lost:
            self._send()

    def _send(self, *, wants_page: bool = False) -> Sequence[Row]:
        """Run what waits, in one round trip where that is possible; return the rows of the last statement."""
        if self._is_lost:
            raise RuntimeError("a change that was put off failed, so there is nothing that could be kept")
        statements, self._waiting = self._waiting, []
        together = self._statements.together
        rows: Sequence[Row] = ()
        self.begun = True
        for number, statement in enumerate(statements, start=1):
            # An error of what was put off comes too late for the work whose change that was.
            self._is_lost = number < len(statements)
            if not together:
                self._cursor.execute(statement.sql, statement.values)
            elif number > 1:
                self._cursor.nextset()
            else:
                sql = "; ".join(waiting.sql for waiting in statements)
                self._cursor.execute(sql, tuple(chain.from_iterable(waiting.values for waiting in statements)))
            is_page = wants_page and number == len(statements)
            rows = (self._page() if is_page else self._cursor.fetchall()) if self._cursor.description else ()
            if statement.then is not None:
                statement.then(rows)
        return rows

    def row(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the first row that a query finds, or None."""
        rows = self.rows(statement, values)
        return rows[0] if rows else None

    def rows(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds."""
        return self._execute(statement, values)

    def rights(self, of: object, find: Callable[[], Found]) -> Found:
        """Return what somebody may do, as a query finds it.

        Nobody else can change that while this transaction writes, so it is found once, and again after a change here.
        """
        if of in self._rights:
            known: Found = self._rights[of]
            return known
        found = find()
        if self.counters.are_held:
            self._rights[of] = found
        return found

    def page(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds, as many as are light enough for a page."""
        self.put_off(statement, values)
        with self._statements.holding_little(self._cursor):
            return self._send(wants_page=True)

    def _page(self) -> Sequence[Row]:
        page: Sequence[Row] = light_enough(iter(self._cursor.fetchone, None), _text_of)
        if isinstance(page, HeavyPage):
            # What was not read is let go of: SQLite would keep the query, and the moment that it sees, until then.
            self._cursor.close()
            self._cursor = self._connection.cursor()
        return page

    def change(self, statement: ClauseElement, values: Mapping[str, Any]) -> int:
        """Return how many rows a change met; those that had the new values before count too."""
        self._execute(statement, values)
        return self._cursor.rowcount

    def claim(
        self, statement: ClauseElement, values: Mapping[str, Any], explain: Callable[[], DuplicateEntry | None]
    ) -> None:
        """Make a change that a unique key may refuse; ``explain`` then looks for the value that is taken.

        It looks after the fact, so that the many changes that meet no duplicate pay nothing for the few that do.
        Both databases undo no more than the statement, so the transaction goes on. The error is made from the
        request; the driver's text knows other spellings of it.
        """
        try:
            self._execute(statement, values)
        except self._statements.refused:
            duplicate = None if self._is_lost else explain()
            if duplicate is None:
                raise
        else:
            return
        # Out here, so that the driver's text is not in tow.
        raise duplicate

    def _look_at_counters(self) -> None:
        self.catch_up()  # a write has asked for them, and waits for the answer
        if not self.counters.are_held:
            self.counters.seen(self.row(READ, {}))

    def _execute(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        self.put_off(statement, values)
        return self._send()


def _portions(
    insertions: Sequence[tuple[ClauseElement, Mapping[str, Any]]],
) -> Iterator[tuple[ClauseElement, list[Mapping[str, Any]]]]:
    """Yield rows in portions for one statement each: of the same table, and no more than a server takes at once."""
    for insertion, group in groupby(insertions, itemgetter(0)):
        portion: list[Mapping[str, Any]] = []
        size = 0
        for _, row in group:
            added = sum(len(value) for value in row.values() if isinstance(value, str))
            if portion and (len(portion) == _ROWS or size + added > _WEIGHT):
                yield insertion, portion
                portion, size = [], 0
            portion.append(row)
            size += added
        yield insertion, portion


def _text_of(row: Row) -> int:
    return sum([len(value) if isinstance(value, str) else 8 for value in row])
