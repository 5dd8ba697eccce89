"""Callers: identified by their tokens, with their rights, and the use of service keys (contract A19, B5, C5)."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from logoadmin.domain.identity.accounts import confirmed_factors, must_enrol
from logoadmin.domain.identity.records import KEY_PREFIX, ServiceKey, hashed_key
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.access import (
    CLOCK_SKEW,
    RECENT_SECONDS,
    ActingAs,
    KeyHolder,
    Rights,
    SentRequestId,
    SignedIn,
)
from logoadmin.domain.kernel.errors import (
    InvalidInput,
    InvalidToken,
    NotFound,
    NotPermitted,
    RecentSignInRequired,
    StorageUnavailable,
)
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork
from logoadmin.ports.environment import Clock
from logoadmin.ports.storage import Storage, UnitOfWork
from logoadmin.ports.tokens import AccessTokens

_USE_RECORDED_EVERY: Final = 60  # seconds


class Callers:
    """Identifies callers and reads their rights, see :class:`~logoadmin.domain.kernel.gate.Callers`."""

    def __init__(self, tokens: AccessTokens, clock: Clock, rules: SignInRules) -> None:
        self._tokens, self._clock, self._rules = tokens, clock, rules

    def caller(
        self, token: str, request_id: str | SentRequestId | None = None, origin: str = "", user_agent: str = ""
    ) -> SignedIn | KeyHolder:
        """Return the caller of an access token or a service key, as far as it can be verified without storage.

        The history has the ``request_id``; ``origin`` and ``user_agent`` are those of the client (contract A19, C5, G).

        Raises:
            InvalidInput: the token is not a text.
            InvalidToken: this service did not issue it, or it has expired.
        """
        if not isinstance(token, str):
            raise InvalidInput.of("Input should be a valid string", "token", type_="string_type")
        if token.startswith(KEY_PREFIX):
            return KeyHolder(hashed_key(token), request_id)
        granted = self._tokens.verify(token, self._clock.now())
        return SignedIn(granted.user_id, granted.session_id, request_id, origin, user_agent)

    def rights(self, uow: UnitOfWork, caller: SignedIn | KeyHolder | ActingAs, now: int) -> Rights:
        """Return the rights of a session, of a service key, or of a user for whom the embedding program acts.

        A key has its scope, limited to the scopes that its creator holds.

        Raises:
            InvalidToken: the session has ended, or the key is not valid any more.
            NotFound: the user for whom the program acts does not exist.
        """
        if isinstance(caller, ActingAs):
            return _rights_of_user(uow, caller)
        if isinstance(caller, SignedIn):
            held = uow.identity.sessions.rights(caller.session_id, caller.user_id)
        else:
            key, of_maker = uow.identity.keys.find(caller.key_hash) or (None, None)
            held = of_maker.limited_to(key.scope) if key and of_maker and key.is_valid(now) else None
        if held is None:
            raise InvalidToken
        if held.signed_in_at is None or held.ends_at is None:  # a key has no session that ends
            return held
        if self._rules.session_end(held.signed_in_at, held.ends_at, now) <= now:
            raise InvalidToken
        if held.must_change_password and not self._rules.ways.password:
            # A password that signs nobody in need not be changed.
            held = replace(held, must_change_password=False)
        is_demanded = self._rules.second_factor == "required" and must_enrol(uow, held)
        return replace(held, must_enrol=True) if is_demanded else held

    def record_use(self, storage: Storage, caller: KeyHolder, now: int) -> None:
        """Record that a key was used; the caller neither waits nor fails if this cannot be stored now."""
        with suppress(StorageUnavailable):
            if storage.read(partial(_stale_key, caller, now)):
                storage.try_write(partial(_store_use, caller, now))


def require_recent_sign_in(uow: AnyUnitOfWork, held: Rights, now: int) -> None:
    """Reject a session that began too long ago, by a clock that was ahead, or without an enrolled factor (contract O3).

    Issuers require their own factors, and the operator vouches for users with a sign-in code.

    Raises:
        NotPermitted: the caller is a service key, which cannot sign in.
        RecentSignInRequired: the session is older, or began with the password alone although the user has a factor.
    """
    if held.signed_in_at is None:
        raise NotPermitted
    if not -CLOCK_SKEW <= now - held.signed_in_at <= RECENT_SECONDS:
        raise RecentSignInRequired
    if held.factor == "password" and confirmed_factors(uow, held.user_id):
        raise RecentSignInRequired


def _rights_of_user(uow: UnitOfWork, caller: ActingAs) -> Rights:
    account = uow.identity.passwords.account(caller.user_id)
    if account is None:
        raise NotFound("User", caller.user_id)
    # A refusal by the issuer counts here as well (contract D, O7).
    if not account.active or account.refused:
        raise NotPermitted
    return Rights(caller.user_id, account.scope, signed_in_at=caller.signed_in_at, username=account.username)


def _stale_key(caller: KeyHolder, now: int, uow: UnitOfWork) -> ServiceKey | None:
    """Return the key of a caller if its recorded use is old, or in the future."""
    key, _ = uow.identity.keys.find(caller.key_hash) or (None, None)
    if key is None or not key.is_valid(now):
        return None
    used_at = now - _USE_RECORDED_EVERY if key.last_used_at is None else key.last_used_at
    return key if key.created_at > now or not 0 <= now - used_at < _USE_RECORDED_EVERY else None


def _store_use(caller: KeyHolder, now: int, uow: UnitOfWork) -> None:
    """Record the use of a key, unless that was done recently."""
    key = _stale_key(caller, now, uow)
    if key is None:
        return
    if key.created_at > now:  # by a clock that was ahead: the key keeps its lifetime
        expires_at = None if key.expires_at is None else now + key.expires_at - key.created_at
        key = replace(key, created_at=now, expires_at=expires_at)
    uow.identity.keys.update(replace(key, last_used_at=now))
