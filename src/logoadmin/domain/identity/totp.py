"""Authenticator apps: time-based one-time passwords (RFC 6238, contract O1).

Codes use SHA-1, six digits and 30 seconds, because many authenticator apps support nothing else. Secrets are encrypted
at rest, with other keys than tokens, so that rotating token keys locks nobody out.
"""

import base64
import hashlib
import hmac
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyotp import TOTP

from logoadmin.domain.identity.accounts import confirmed_factors, require_room
from logoadmin.domain.kernel.access import CLOCK_SKEW
from logoadmin.domain.kernel.errors import Conflict, NotFound, TablesMissing
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in, secrets_in
from logoadmin.ports.encryption import Encryption
from logoadmin.ports.environment import Randomness
from logoadmin.ports.sign_in_storage import Factor

# The key in the database, created at the first start. If the settings have keys, it only decrypts.
FACTOR_KEY: Final = "factor_key"
_PERIOD: Final = 30  # seconds
_SECRET_BYTES: Final = 20  # as many as SHA-1 returns (RFC 4226 §4)
# Clocks of phones may differ: the codes of the previous and the next step are valid as well.
_TOLERANCE: Final = 1  # steps
# A last step that is further ahead is from a clock that was ahead, and must lock nobody out (contract K7).
_MOST_AHEAD: Final = 20  # steps
_NEVER: Final = -1
# How long a secret waits for its confirmation.
_ENROLMENT_SECONDS: Final = 600

log = logging.getLogger("logoadmin.sign_in")


def new_secret(randomness: Randomness) -> str:
    """Return a new secret of 160 random bits, in base32."""
    return base64.b32encode(hashlib.sha256(randomness.text().encode()).digest()[:_SECRET_BYTES]).decode()


def provisioning_uri(secret: str, username: str, issuer: str) -> str:
    """Return the ``otpauth:`` URI from which an app learns a secret in base32, with the names that it shows.

    A colon separates the two in the label; apps refuse a second one.
    """
    return TOTP(secret, name=username.replace(":", "-"), issuer=issuer.replace(":", "-")).provisioning_uri()


def matching_step(secret: str, code: str, now: int, after: int) -> int | None:
    """Return the time step of a code; None if it is not valid now.

    ``after`` is the last step that was used. It and earlier steps are not valid, so each code is usable once (RFC 6238
    §5.2).
    """
    current, totp = now // _PERIOD, TOTP(secret)
    used = after if after <= current + _MOST_AHEAD else _NEVER
    steps = range(max(current - _TOLERANCE, used + 1, 0), current + _TOLERANCE + 1)
    matching = [step for step in steps if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode())]
    return max(matching, default=None)


@dataclass(frozen=True, slots=True)
class TotpFactors:
    """The authenticator apps of users. Of the configured keys, the first encrypts, and all decrypt."""

    encryption: Encryption
    configured_keys: Sequence[str] = field(repr=False)

    def add(self, uow: AnyUnitOfWork, user_id: int, name: str, secret: str, now: int) -> Factor:
        """Store a secret that waits for its confirmation, in place of any other; raise Conflict if there is no room."""
        for factor in identity_in(uow).factors.of_user(user_id):
            if not factor.confirmed:
                identity_in(uow).factors.remove(factor.factor_id, user_id)  # it signed nobody in
        require_room(uow, user_id)
        factor_id, encrypted = identity_in(uow).factors.next_id(), self.encrypted(uow, user_id, secret)
        factor = Factor(factor_id, user_id, "totp", name, now, encrypted, None, _NEVER, False, None)
        identity_in(uow).factors.add(factor)
        return factor

    def confirm(self, uow: AnyUnitOfWork, user_id: int, factor_id: int, code: str, now: int) -> bool:
        """Confirm a secret with a code, whose step is used up; return whether the code is right.

        Raises:
            NotFound: the user has no such secret, or it has expired.
            Conflict: it is confirmed already.
        """
        factor = next((each for each in identity_in(uow).factors.of_user(user_id) if each.factor_id == factor_id), None)
        if factor is not None and factor.confirmed:
            raise Conflict(f"Factor {factor_id} is confirmed already")
        if factor is None or not -CLOCK_SKEW <= now - factor.created_at <= _ENROLMENT_SECONDS:
            raise NotFound("Factor", factor_id)
        used = self._used(uow, factor, code, now)
        if used is not None:
            identity_in(uow).factors.update(replace(used, confirmed=True))
        return used is not None

    def use(self, uow: AnyUnitOfWork, user_id: int, code: str, now: int) -> bool:
        """Use up the step of a code; return whether one of the user's apps shows it."""
        for factor in confirmed_factors(uow, user_id):
            used = self._used(uow, factor, code, now) if factor.kind == "totp" else None
            if used is not None:
                identity_in(uow).factors.update(used)
                return True
        return False

    def encrypted(self, uow: AnyUnitOfWork, user_id: int, secret: str) -> str:
        """Return the secret of a user, encrypted for this user alone; raise TablesMissing if there is no key yet."""
        for key in self._keys(uow):
            return self.encryption.encrypt(secret, _key(key, user_id))
        raise TablesMissing

    def decrypted(self, uow: AnyUnitOfWork, user_id: int, encrypted: str) -> tuple[str, bool] | None:
        """Return the secret of a user, and whether the current key encrypted it; None if no key decrypts it."""
        keys = self._keys(uow)
        for key in keys:
            try:
                return self.encryption.decrypt(encrypted, _key(key, user_id)), key == keys[0]
            except ValueError:
                continue
        return None

    def _used(self, uow: AnyUnitOfWork, factor: Factor, code: str, now: int) -> Factor | None:
        """Return an app with the step of a code used up, and its secret encrypted with the current key; or None."""
        secret, is_current = self.decrypted(uow, factor.user_id, factor.secret) or (None, False)
        if secret is None:
            log.error("Factor %d cannot be used: no key in factor_key decrypts its secret", factor.factor_id)
            return None
        step = matching_step(secret, code, now, factor.counter)
        if step is None:
            return None
        encrypted = factor.secret if is_current else self.encrypted(uow, factor.user_id, secret)
        return replace(factor, secret=encrypted, counter=step, last_used_at=now)

    def _keys(self, uow: AnyUnitOfWork) -> tuple[str, ...]:
        stored = secrets_in(uow).get(FACTOR_KEY)
        return (*self.configured_keys, *(() if stored is None else (stored,)))


def _key(key: str, user_id: int) -> str:
    return f"second factor of {user_id} {key}"
