"""The limits on changes of rights in a write, and the protocol of the guards that keep them (contract B4, C5, O3)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from logoadmin.domain.kernel.access import AllRights, Held, Rights
from logoadmin.domain.kernel.errors import NotPermitted


@dataclass(slots=True)
class Escalation:
    """The limits on changes of rights in one unit of work.

    Attributes:
        held: the caller's rights.
        now: the time of the changes, as Unix time.
        require_recent: rejects rights from a sign-in that is not recent.
        may_lose_all: whether the changes may have affected the last user who holds everything and can sign in.
    """

    held: Held
    now: int
    require_recent: Callable[[Rights], None]
    may_lose_all: bool = False

    def check(self, had: Iterable[str], has: Iterable[str], without_asking: Iterable[str] = ()) -> None:
        """Require the caller to hold the old and the new scopes of a role or a user, and a recent sign-in to add some.

        Args:
            had: the old scopes.
            has: the new ones.
            without_asking: scopes that need no recent sign-in.

        Raises:
            NotPermitted: the caller lacks one of them.
            RecentSignInRequired: the caller would add one, and signed in too long ago.
        """
        if isinstance(self.held, AllRights):
            return
        old, new = frozenset(had), frozenset(has)
        self.held.require(old | new)
        if not Rights(self.held.user_id, old | frozenset(without_asking)).cover(new):
            self.require_recent_sign_in()

    def require_recent_sign_in(self) -> None:
        """Require a recent sign-in of a caller that is a user; service keys never sign in.

        Raises:
            RecentSignInRequired: the caller signed in too long ago.
        """
        if isinstance(self.held, Rights) and self.key_of is None:
            self.require_recent(self.held)

    def check_key(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Reject a service key that grants scopes, because the grant would outlive the key (contract C5).

        Raises:
            NotPermitted: the caller is a service key, and some of the scopes are new.
        """
        if self.key_of is not None and not Rights(self.key_of, frozenset(had)).cover(has):
            raise NotPermitted

    @property
    def key_of(self) -> int | None:
        """The id of the user whose service key the caller is; None for other callers."""
        return None if self.held.of_user else self.held.user_id


class Guard(Protocol):
    """The rules of a kind of record."""

    def authorize(self, record: Any, values: Mapping[str, Any], /) -> None:
        """Reject a caller that would exceed their own scopes by giving a record these values or removing it.

        Raises:
            NotPermitted: the caller would.
        """

    def check_unused(self, record: Any, /) -> None:
        """Require that a record can be removed.

        Raises:
            Conflict: it is in use.
        """

    def note_possible_lockout(self, before: Any, after: Any, /) -> None:
        """Have the end of the work check that a user still holds everything, if this change may affect the last one."""
