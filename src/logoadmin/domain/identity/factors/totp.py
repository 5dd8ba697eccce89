"""Time-based one-time passwords (RFC 6238, contract O1).

With SHA-1, six digits and 30 seconds, because many authenticator apps support nothing else.
"""

import base64
import hashlib
import hmac
from typing import Final

from pyotp import TOTP

from logoadmin.ports.kernel.environment import Randomness

_PERIOD: Final = 30  # seconds
_SECRET_BYTES: Final = 20  # as many as SHA-1 returns (RFC 4226 §4)
# Clocks of phones may differ: the codes of the previous and the next step are valid as well.
_TOLERANCE: Final = 1  # steps
# A last step that is further ahead is from a clock that was ahead, and must lock nobody out (contract K7).
_MOST_AHEAD: Final = 20  # steps


def new_secret(randomness: Randomness) -> str:
    """Return a new secret of 160 random bits, in base32."""
    return base64.b32encode(hashlib.sha256(randomness.text().encode()).digest()[:_SECRET_BYTES]).decode()


def provisioning_uri(secret: str, username: str, issuer: str) -> str:
    """Return the ``otpauth:`` URI from which an authenticator app learns a secret.

    Args:
        secret: the secret in base32.
        username: the name of the account, as the app shows it.
        issuer: the host of the service, as the app shows it.

    A colon separates the two in the label; apps refuse a second one.
    """
    return TOTP(secret, name=username.replace(":", "-"), issuer=issuer.replace(":", "-")).provisioning_uri()


def matching_step(secret: str, code: str, now: int, after: int) -> int | None:
    """Return the time step of a code; None if it is not valid now.

    Args:
        secret: the secret in base32.
        code: six digits.
        now: the time, in Unix seconds.
        after: the last step that was used. It and earlier steps are not valid, so each code is usable once
            (RFC 6238 §5.2).
    """
    current, totp = now // _PERIOD, TOTP(secret)
    used = after if after <= current + _MOST_AHEAD else -1
    steps = range(max(current - _TOLERANCE, used + 1, 0), current + _TOLERANCE + 1)
    matching = [step for step in steps if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode())]
    return max(matching, default=None)
