"""Limits on failed sign-ins, and the networks from which users signed in (contract C1, O2).

Attempts are counted by the network of the origin, in storage, so that all processes count together. Attackers with many
networks meet the limits of the wider networks and of the name: these do not apply in networks from which the user
signed in, so that nobody can be locked out there from elsewhere. Only wrong TOTP codes are counted from anywhere: there
are few codes, and the password was right.

The networks are stored with the counts, hashed, for as long as events. Refreshes of a session count as well, because
users may have moved since they signed in.

Every step of a sign-in is an attempt::

    limits = limits_of(client.origin, "ann", is_known=is_known_network(uow, 1042, client.origin, now))
    wait = count_or_wait(uow.identity.sign_in_attempts, limits, now)  # before anything is verified, see count_attempt
    succeeded(uow.identity.sign_in_attempts, limits)  # the session begins
"""

import hashlib
import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.kernel.access import address_of, network_of
from logoadmin.domain.kernel.errors import TooManySignIns
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.identity_storage import SignInAttempts
from logoadmin.ports.storage import Storage, UnitOfWork

_DAY: Final = 86_400  # seconds
_WINDOW: Final = 300  # seconds
_PER_USERNAME: Final = 10
_PER_ORIGIN: Final = 100
# For IPv6 networks of these lengths, this many times as much: providers give subscribers a /56 or a /48.
_WIDER: Final = ((56, 2), (48, 4))
_NAME_WINDOW: Final = 3600  # seconds
_PER_NAME: Final = 100
_TOTP_WINDOW: Final = 3600  # seconds
_TOTP_PER_USER: Final = 20
_USE_WINDOW: Final = 3600  # seconds
_USES: Final = 1_000
# The maximum number of networks that are added for one user until the first of them is forgotten.
MOST_NETWORKS: Final = 1_000
_NOBODY: Final = -1
IN_A_BLOCK: Final = "sign in outside of the atomic block: if the block failed, the attempts in it would not be counted"

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on attempts with something in common.

    Attributes:
        counted: the key of their count, which reveals neither names nor addresses.
        most: the maximum number of attempts in a window.
        window: its length in seconds.
        named: whether it is on attempts for one name, which a right password alone does not take back.
        forgives: whether a success clears all attempts, not only its own.
    """

    counted: str
    most: int
    window: int = _WINDOW
    named: bool = False
    forgives: bool = False


def limits_of(
    origin: str, username: str | None = None, totp_of: int | None = None, *, is_known: bool = False
) -> tuple[Limit, ...]:
    """Return the limits on an attempt, those on the origin first, because they limit the number of names.

    Args:
        origin: where it comes from, such as an address.
        username: the name that it is for; None without one, such as for a passkey.
        totp_of: the id of the user, if it is a TOTP code.
        is_known: whether the user signed in from that network, or the attempt is not a guess.
    """
    networks = [(network_of(origin), 1)]
    if username is not None and not is_known:
        wider = [(wider_network(origin, length), times) for length, times in _WIDER]
        networks += [(wide, times) for wide, times in wider if wide is not None]
    limits = [Limit(_hashed(network), _PER_ORIGIN * times) for network, times in networks]
    if username is not None:
        limits += [
            Limit(_hashed((network, username)), _PER_USERNAME * times, named=True, forgives=times == 1)
            for network, times in networks
        ]
        if not is_known:
            limits.append(Limit(_hashed(("name", username, "anywhere")), _PER_NAME, _NAME_WINDOW, named=True))
    if totp_of is not None:
        limits.append(Limit(_hashed(("totp", totp_of)), _TOTP_PER_USER, _TOTP_WINDOW, named=True))
    return tuple(limits)


def wider_network(origin: str, length: int) -> str | None:
    """Return the IPv6 network of this prefix length around an address; None for IPv4 and other texts."""
    try:
        address = address_of(origin)
    except ValueError:
        return None
    return None if address.version == 4 else str(ipaddress.ip_network((address.packed, length), strict=False))


def count_or_wait(stored: SignInAttempts, limits: Sequence[Limit], now: int) -> int | None:
    """Count an attempt before anything is verified, so that concurrent attempts are all counted.

    Return None if it may go on, or the seconds to wait. Whether the user exists makes no difference.
    """
    counts = []
    known = stored.counts([limit.counted for limit in limits])
    for limit, (attempts, ends_at) in zip(limits, known, strict=True):
        # No count, an expired one, or one from a clock that was ahead.
        is_new = not now < ends_at <= now + limit.window or not attempts
        if not is_new and attempts >= limit.most:
            return max(1, ends_at - now)
        counts.append((limit.counted, 1 if is_new else attempts + 1, now + limit.window if is_new else ends_at))
    for count in counts:
        stored.set(*count)
    return None


def count_attempt(
    storage: Storage, now: int, look_up: Callable[[UnitOfWork], tuple[tuple[Limit, ...], Found]]
) -> tuple[tuple[Limit, ...], Found]:
    """Count an attempt in a separate write; return its limits and the data for the verification, which are looked up.

    Raises:
        TooManySignIns: there were too many failed attempts.
        RuntimeError: the storage is that of an atomic block, which would forget the attempt if it failed.
    """
    if isinstance(storage, OpenTransaction):
        raise RuntimeError(IN_A_BLOCK)

    def count(uow: UnitOfWork) -> tuple[tuple[Limit, ...], Found, int | None]:
        limits, found = look_up(uow)
        return limits, found, count_or_wait(uow.identity.sign_in_attempts, limits, now)

    limits, found, wait = storage.write(count)
    if wait is not None:
        raise TooManySignIns(wait)
    return limits, found


def uses_of(what: str, user_id: int) -> tuple[Limit, ...]:
    """Return the limit on something that anyone may do with their own account, and that fills the storage."""
    return (Limit(_hashed((what, user_id)), _USES, _USE_WINDOW),)


def succeeded(counts: SignInAttempts, limits: Sequence[Limit]) -> None:
    """Forget the failures for the username, and take back this attempt: a session begins."""
    forgiven = next((limit.counted for limit in limits if limit.forgives), "")
    counts.take_back([limit.counted for limit in limits], forgiven)


def is_known_network(uow: UnitOfWork, user_id: int | None, origin: str, now: int) -> bool:
    """Return whether a user signed in from the network of an origin.

    An unknown name, without a user, takes as many statements.
    """
    user_id = _NOBODY if user_id is None else user_id
    name = _network(user_id, creation_of(uow.changes, user_id), origin)
    return now < uow.identity.sign_in_attempts.count(name)[1]


def remember_network(counts: SignInAttempts, user_id: int, user_since: int, origin: str, now: int, days: int) -> None:
    """Remember for ``days`` that the user whom the change ``user_since`` created is in the network of an origin."""
    seconds, name = days * _DAY, _network(user_id, user_since, origin)
    _, ends_at = counts.count(name)
    if now + seconds // 2 < ends_at <= now + seconds:
        return
    if ends_at <= now:
        added = _hashed(("networks", user_id, user_since))
        number, until = counts.count(added)
        if not now < until <= now + seconds:  # over, or from a clock that was ahead
            number, until = 0, now + seconds
        if number >= MOST_NETWORKS:
            return
        counts.set(added, number + 1, until)
    counts.set(name, 1, now + seconds)


def _network(user_id: int, user_since: int, origin: str) -> str:
    return _hashed(("network", user_id, user_since, network_of(origin)))


def _hashed(counted: object) -> str:
    return hashlib.sha256(repr(counted).encode()).hexdigest()
