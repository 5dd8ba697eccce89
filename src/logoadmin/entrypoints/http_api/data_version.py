"""Whether the records are still as they were when something was made of them (contract E1, F1)."""

from typing import Final

from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.dispatch import Dispatch, deadline_of

# Where in the scope of a request the version is that was found for it.
_IN_SCOPE: Final = "logoadmin.data_version"


def version_in(scope: Scope) -> object | None:
    """Return the version that was found for a request before it was answered, None where nobody looked."""
    return scope.get(_IN_SCOPE)


class DataVersion:
    """Finds the version of all records together, for everything that is kept to be given again.

    What is made after a look is kept under the version that this found. It is given again only where another look finds
    the same version. Any change counts, so that no answer can be forgotten. A version is an object of its own, and no
    number, because a number that comes back, as after a backup was put in, may be of other records.
    """

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch) -> None:
        self._gallery = gallery
        self._dispatch = dispatch
        self._seen: tuple[int | None, object] = None, object()

    def nonblocking(self, scope: Scope) -> object | None:
        """Return the version of a request if storage can tell it on the spot; None if it takes a look that waits."""
        number = self._gallery.data_version()
        if number is None:
            return None
        scope[_IN_SCOPE] = version = self._version(number)
        return version

    async def of(self, scope: Scope) -> object:
        """Return the version of a request, from one look however often it is asked for; raises what :meth:`look` does.

        What is read for the request is read afterwards: it may be newer than its version, but not older.
        """
        version = scope.get(_IN_SCOPE)
        if version is None:
            scope[_IN_SCOPE] = version = await self.look(deadline_of(scope))
        return version

    async def look(self, deadline: float) -> object:
        """Return the version that is found now: on the spot if storage can tell it there, else by one look for all.

        Raises:
            StorageUnavailable: it took longer than until the deadline, or storage is out of reach.
        """
        number = self._gallery.data_version()
        if number is None:
            number = await self._dispatch.reading(self._gallery.changes.version, deadline, key=self)
        return self._version(number)

    def _version(self, number: int) -> object:
        seen = self._seen
        if seen[0] != number:
            self._seen = seen = number, object()
        return seen[1]
