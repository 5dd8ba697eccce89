"""Users of the issuer: their identities, records and roles (contract O7).

An identity is an issuer and a subject, never a name or an address: a user of the issuer gets a new record, even if a
user here has the same name. A name that resembles another user's gets a number. The issuer's groups determine the role
at every sign-in and refresh. If the issuer has no groups, new users get the default role, and administrators assign
roles from then on.
"""

import json
import logging
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from operator import attrgetter
from typing import Final

from logoadmin.domain.identity.accounts import end_sessions, free_user_id, note_possible_lockout
from logoadmin.domain.identity.roles import role_named
from logoadmin.domain.identity.sign_in_rules import SingleSignOnRules
from logoadmin.domain.kernel.errors import IssuerRefused
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import MAX_NAME
from logoadmin.domain.kernel.lists import CHANGE_PAGE_SIZES, ChangeFilter, Listing
from logoadmin.domain.kernel.records import Kind, User
from logoadmin.domain.kernel.texts import is_visible
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, all_records, history_in, identity_in
from logoadmin.ports.identity_storage import Account, Session
from logoadmin.ports.issuer import IssuedIdentity
from logoadmin.ports.sign_in_storage import Identity
from logoadmin.ports.storage import UnitOfWork

log = logging.getLogger("logoadmin.issuer")

_NAMELESS: Final = "user"
_BEGINNING: Final = 8  # characters


class UserMissing(IssuerRefused):
    """The person at the issuer is not a user yet, or not any more."""


class Roleless(Exception):
    """Aborts the transaction of a sign-in by a person without a role."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The looks of the user names that may look like the name of a person, up to a change."""

    looks: frozenset[str]
    change_id: int


def known_names(person: IssuedIdentity, uow: UnitOfWork) -> KnownNames:
    """Return the names that may look like a person's; comparing all names takes too long for a write."""
    # A suffix does not change the beginning.
    beginnings = tuple(look[:_BEGINNING] for look in looks(_shown_name(person.names)))
    users = all_records(USERS, uow.records(USERS).page)
    alike = (look for user in users for look in looks(user.username) if look.startswith(beginnings))
    return KnownNames(frozenset(alike), uow.changes.last_id())


class IssuerUsers:
    """The users of one issuer.

    A write that takes everything from the last user who holds it ends with Conflict.
    """

    def __init__(self, issuer: str | None, rules: SingleSignOnRules) -> None:
        self._issuer, self._rules = issuer, rules

    def create(self, uow: AuditedUnitOfWork, person: IssuedIdentity, known: KnownNames) -> None:
        """Create a user for a person with a role, unless another sign-in has just done so.

        ``known`` was read a short time ago; later names are found in the history.
        """
        role_id = self._role_id(uow, person.groups)
        if role_id is None or self._identity(uow, person) is not None:
            return
        name = _free_name(uow, person.names, known)
        user = User(free_user_id(uow), name, person.avatar, role_id, uow.now)
        self._remember(uow, person, uow.records(USERS).add(user).user_id, None)

    def signed_in(self, uow: AuditedUnitOfWork, person: IssuedIdentity) -> int:
        """Return the user of a person who signs in now, with the current role of the person's groups.

        Raises:
            Roleless: the person has no role, and the issuer has groups or the person signs in for the first time.
            UserMissing: the person has a role, but no user.
        """
        role_id, identity = self._role_id(uow, person.groups), self._identity(uow, person)
        user = None if identity is None else uow.records(USERS).get(identity.user_id)
        if role_id is None and (user is None or person.groups is not None):
            raise Roleless
        if user is None:
            raise UserMissing
        if person.groups is not None:
            _assign_role(uow, user, role_id)
        self._remember(uow, person, user.user_id, identity)
        return user.user_id

    def refuse(self, uow: AuditedUnitOfWork, person: IssuedIdentity) -> None:
        """Revoke all rights of a person whose groups have no role; their sessions end at once.

        The user has no rights until the issuer names a group with a role. If a role is set but does not exist, which is
        a mistake in the settings, their groups are stored, and sessions of the issuer end at their next refresh.
        """
        identity = self._identity(uow, person)
        if identity is None:
            return
        user_id = identity.user_id
        if self._rules.role_of(frozenset(person.groups or ())) is not None:
            self._remember(uow, person, user_id, identity)
        elif not identity.refused:
            note_possible_lockout(uow, user_id)
            identity_in(uow).identities.put(replace(identity, groups=_json(person.groups), refused=True))
            end_sessions(uow, user_id)
            identity_in(uow).challenges.drop(user_id)

    def admitted(self, uow: AuditedUnitOfWork, session: Session) -> Account | None:
        """Return the account of a session that may continue, otherwise None.

        If the issuer began it, it may as long as the groups, if any, have a role, which the user gets.
        """
        if session.factor == "issuer" and not self._renew(uow, session):
            return None
        account = identity_in(uow).passwords.account(session.user_id)
        is_refused = account is not None and account.refused and session.factor != "issuer"
        return None if is_refused else account

    def _renew(self, uow: AuditedUnitOfWork, session: Session) -> bool:
        """Give a user of the issuer the current role of their groups; return whether they may stay."""
        identities = identity_in(uow).identities.of_user(session.user_id)
        identity = next((each for each in identities if each.issuer == self._issuer), None)
        user = uow.records(USERS).get(session.user_id)
        if identity is None or user is None:
            return False
        groups = json.loads(identity.groups)
        if groups is None:
            return True
        role_id = self._role_id(uow, groups)
        _assign_role(uow, user, role_id)
        return role_id is not None

    def _identity(self, uow: AnyUnitOfWork, person: IssuedIdentity) -> Identity | None:
        return None if self._issuer is None else identity_in(uow).identities.find(self._issuer, person.subject)

    def _role_id(self, uow: AnyUnitOfWork, groups: Iterable[str] | None) -> int | None:
        """Return the role for these groups; None if they have none, or one that does not exist."""
        wanted = self._rules.role_of(frozenset(groups or ()))
        if wanted is None:
            return None
        role_id = role_named(uow, wanted)
        if role_id is None:
            log.error("The settings give users of the issuer the role %s, which does not exist", wanted)
        return role_id

    def _remember(self, uow: AnyUnitOfWork, person: IssuedIdentity, user_id: int, known: Identity | None) -> None:
        groups = _json(person.groups)
        if known is None or known.refused or known.groups != groups:
            identity_in(uow).identities.put(Identity(self._issuer or "", person.subject, user_id, groups))


def _assign_role(uow: AuditedUnitOfWork, user: User, role_id: int | None) -> None:
    """Give a user the role from the issuer's groups, if any."""
    if role_id not in (None, user.role_id):
        uow.records(USERS).amend(user.user_id, None, {"role_id": role_id})


def _json(groups: Iterable[str] | None) -> str:
    return json.dumps(None if groups is None else list(groups), ensure_ascii=False)


def _free_name(uow: AuditedUnitOfWork, names: Iterable[str], known: KnownNames) -> str:
    """Return the first displayable name, with a number if it looks like another user's."""
    name = _shown_name(names)
    taken = known.looks | _looks_since(uow, known.change_id)
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        free = f"{name[: MAX_NAME - len(suffix)].rstrip()}{suffix}"
        if taken.isdisjoint(looks(free)) and identity_in(uow).passwords.account(free) is None:
            return free
    raise AssertionError  # there are more numbers than users


def _shown_name(names: Iterable[str]) -> str:
    shown = ("".join(filter(str.isprintable, name)).strip() for name in names)
    return next(filter(is_visible, shown), _NAMELESS)


def _looks_since(uow: AnyUnitOfWork, change_id: int) -> frozenset[str]:
    """Return the looks of the names that users got after a change."""
    page = partial(history_in(uow).page, where=ChangeFilter(kind=Kind.USER))
    size = CHANGE_PAGE_SIZES.first
    changes = Listing(page(change_id, size), attrgetter("change_id"), page, CHANGE_PAGE_SIZES)
    return frozenset().union(*(looks(change.after["username"]) for change in changes if change.after is not None))


# Each plain letter, followed by the Latin, Greek, Cyrillic and Armenian letters that resemble it, from Unicode
# Technical Standard 39. The page of the console contains them.
_ALIKE: Final = (
    "2\u01a7\ua644\ua75a 3\u01b7\u021c\u0417\u04e0\ua76a\ua7ab 5\u01bc 6\u0431 8\u0222\u0223 9\ua76e A\u0391\u0410 "
    "B\u0392\u0412\ua7b4 C\u0421 E\u0395\u0415 F\u03dc\ua798 G\u050c H\u0397\u041d J\u037f\u0408\ua7b2 "
    "K\u039a\u041a M\u039c\u03fa\u041c N\u039d O\u039f\u041e\u0555 P\u03a1\u0420 R\u01a6 S\u0405\u054f "
    "T\u03a4\u0422 U\u054d V\u0474 W\u051c X\u03a7\u0425\ua7b3 Y\u03a5\u0423\u04ae Z\u0396 a\u0251\u03b1\u0430 "
    "b\u0184\u042c c\u0441\u1d04 d\u0501 e\u0435\u04bd\uab32 f\u0584\u1e9d\ua799\uab35 g\u018d\u0261\u0581\u1d83 "
    "h\u04bb\u0570 i\u0131\u0269\u026a\u03b9\u0456\u04cf\ua647 j\u03f3\u0458 l\u0196\u01c0\u0399\u0406\u04c0 "
    "n\u0578\u057c o\u03bf\u03c3\u043e\u0585\u1d0f\u1d11\uab3d p\u03c1\u0440 q\u051b\u0563\u0566 "
    "r\u0433\u1d26\uab47\uab48 s\u01bd\u0455\ua731 u\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52 v\u03bd\u0475\u1d20 "
    "w\u026f\u0461\u051d\u0561\u1d21 x\u0445 y\u0263\u028f\u03b3\u0443\u04af\u1d8c\u1eff\uab5a z\u1d22"
)
LIKE: Final = {each[0]: each[1:] for each in _ALIKE.split()}
_LOOKS: Final = str.maketrans(
    {letter: plain for plain, letters in LIKE.items() for letter in letters}
    | {"1": "l", "I": "l", "|": "l", "0": "O", "m": "rn"}
)
# Accents and the like, which are hard to see in small letters.
_MARKS: Final = dict.fromkeys(range(0x300, 0x370))


def looks(name: str) -> frozenset[str]:
    """Return the looks of a name, ignoring case and marks; two names look alike if they share one.

    A capital I looks like an l, but is an i in lower case: both count.
    """
    return frozenset((_skeleton(_skeleton(name).casefold()), _skeleton(name.casefold())))


def _skeleton(text: str) -> str:
    """Return a text in plain letters; full-width letters and the like are normalized first."""
    return unicodedata.normalize("NFKD", "".join(filter(str.isprintable, text))).translate(_MARKS).translate(_LOOKS)
