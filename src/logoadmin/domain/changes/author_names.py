"""Authors by their names in an import, those that it creates among them (contract I1)."""

from collections.abc import Collection
from functools import cached_property

from logoadmin.domain.identity.accounts import FIRST_USER_ID
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import AUTHORS, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import Author, Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, history_in


class AuthorsByName:
    """The ids of the authors that a file names. They are looked up once, when the first name is."""

    def __init__(self, uow: AuditedUnitOfWork, names: Collection[str]) -> None:
        """Know some names in a write."""
        self._uow, self._names = uow, names
        self._highest = FIRST_USER_ID - 1

    def get(self, name: str) -> int | None:
        """Return the id of an author; None if nobody has the name."""
        return self._ids.get(name)

    def created(self, name: str) -> int:
        """Return the id of an author, who is created if nobody has the name.

        Raises:
            NotPermitted: the caller may not create authors.
        """
        found = self.get(name)
        if found is not None:
            return found
        self._uow.held.require([AUTHORS.write_scope])
        authors = self._uow.records(AUTHORS)
        author = Author(authors.next_id(), self.free_number(), name, self._uow.now)
        authors.add(author)
        self.add(name, author.author_id)
        return author.author_id

    def add(self, name: str, author_id: int) -> None:
        """Know another author."""
        self._ids[name] = author_id

    def free_number(self) -> int:
        """Return a number for an author that no user ever had, no author has, and no member of a site gets.

        Raises:
            Conflict: there is none.
        """
        _ = self._ids  # which finds out the highest number
        newest = self._uow.records(USERS).page(MAX_ID + 1, 1, order="desc")
        self._highest = max(self._highest, newest[0].user_id if newest else 0) + 1
        while history_in(self._uow).last_of(Kind.USER, self._highest):
            self._highest += 1
        if self._highest > MAX_ID:
            raise Conflict("There are no more numbers for new authors")
        return self._highest

    @cached_property
    def _ids(self) -> dict[str, int]:
        found: dict[str, int] = {}
        after = -1
        while some := self._uow.records(AUTHORS).page(after, AUTHORS.page_sizes.most):
            for author in some:
                if author.username in self._names:
                    found[author.username] = author.author_id
                self._highest = max(self._highest, author.user_id)
            after = some[-1].author_id
        return found
