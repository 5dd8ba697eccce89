"""Limits on failed sign-ins, and the networks from which users signed in (contract C1, O2).

Attempts are counted by the network of the origin, in storage, so that all processes count together. Attackers with many
networks meet the limits of the wider networks and of the name: these do not apply in networks from which the user
signed in, so that nobody can be locked out there from elsewhere. Only wrong TOTP codes are counted from anywhere: there
are few codes, and the password was right.

The networks are stored with the counts, hashed, for as long as events. Refreshes of a session count as well, because
users may have moved since they signed in.

Every step of a sign-in is an :class:`~logoadmin.domain.identity.sign_in_attempts.Attempt`, counted by these limits.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from logoadmin.domain.identity.sign_in_rules import DAY, NO_USER
from logoadmin.ports.history_storage import ReadsChanges, creation_of
from logoadmin.ports.identity_storage import Count, Counts

_WINDOW: Final = 300  # seconds
_PER_USERNAME: Final = 10
_PER_ORIGIN: Final = 100
_NAME_WINDOW: Final = 3600  # seconds
_PER_NAME: Final = 100
_TOTP_WINDOW: Final = 3600  # seconds
_TOTP_PER_USER: Final = 20
# The maximum number of networks that are added for one user until the first of them is forgotten.
MOST_NETWORKS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on attempts with something in common.

    Attributes:
        counted: the key of their count, which reveals neither names nor addresses.
        most: the maximum number of attempts in a window.
        window: its length in seconds.
        named: whether it is on attempts for one name, which a right password alone does not take back.
        forgives: whether a success clears all attempts, not only its own.
        elsewhere: whether it applies only in networks that are new to the user.
    """

    counted: str
    most: int
    window: int = _WINDOW
    named: bool = False
    forgives: bool = False
    elsewhere: bool = False


def limits_of(
    networks: Sequence[str], username: str | None = None, totp_of: int | None = None, *, guessable: bool = True
) -> tuple[Limit, ...]:
    """Return the limits on an attempt, those on the networks first, because they limit the number of names.

    Args:
        networks: the client's networks, the narrowest first; each has twice the limits of the one before.
        username: the name that it is for; None without one, such as for a passkey.
        totp_of: the id of the user, if it is a TOTP code.
        guessable: whether the secret that it is for can be guessed.
    """
    applying = networks if username is not None and guessable else networks[:1]
    places = [(network, 2**at, at > 0) for at, network in enumerate(applying)]
    limits = [Limit(_hashed(network), _PER_ORIGIN * times, elsewhere=wide) for network, times, wide in places]
    if username is not None:
        for network, times, wide in places:
            counted = _hashed((network, username))
            limits.append(Limit(counted, _PER_USERNAME * times, named=True, forgives=not wide, elsewhere=wide))
        if guessable:
            anywhere = _hashed(("name", username, "anywhere"))
            limits.append(Limit(anywhere, _PER_NAME, _NAME_WINDOW, named=True, elsewhere=True))
    if totp_of is not None:
        limits.append(Limit(_hashed(("totp", totp_of)), _TOTP_PER_USER, _TOTP_WINDOW, named=True))
    return tuple(limits)


def count_or_wait(counts: Counts, found: Iterable[tuple[Limit, Count]], now: int) -> int | None:
    """Add 1 to the count of each limit, unless one is reached; return the seconds to wait for it, None for none."""
    counted = {}
    for limit, stored in found:
        count = stored.at(now, limit.window)
        if count.number >= limit.most:
            return count.ends_at - now
        counted[limit.counted] = Count(count.number + 1, count.ends_at)
    counts.put(counted)
    return None


@dataclass(frozen=True, slots=True)
class UserNetwork:
    """The network of a client, and the user that the client claims to be.

    Attributes:
        user_since: the change that created the user, because someone else may have had the id before.
        counted: the key under which it is stored while it is known to the user.
    """

    user_id: int
    user_since: int
    counted: str


def network_of_user(history: ReadsChanges, user_id: int | None, network: str) -> UserNetwork:
    """Return the network of a client that claims to be a user; without a user, this takes as many statements."""
    user_id = NO_USER if user_id is None else user_id
    since = creation_of(history, user_id)
    return UserNetwork(user_id, since, _hashed(("network", user_id, since, network)))


def remember_network(counts: Counts, network: UserNetwork, known_until: int, now: int, days: int) -> None:
    """Remember a network of a user for some days; ``known_until`` is its end so far, 0 if it is unknown."""
    end = now + days * DAY
    if now + days * DAY // 2 < known_until <= end:
        return
    if known_until <= now:
        added = _hashed(("networks", network.user_id, network.user_since))
        count = counts.get(added).at(now, days * DAY)
        if count.number >= MOST_NETWORKS:
            return
        counts.put({added: Count(count.number + 1, count.ends_at)})
    counts.put({network.counted: Count(1, end)})


def _hashed(counted: object) -> str:
    return hashlib.sha256(repr(counted).encode()).hexdigest()
