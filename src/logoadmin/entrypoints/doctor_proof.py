"""The proof by which ``logoadmin doctor`` shows a service that it holds its keys (contract K4).

It is an HMAC of the time, which is good for a minute and for nothing else.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

SCHEME: Final = "Doctor"
_SECONDS: Final = 60


def proof(keys: Sequence[bytes], now: int) -> str:
    """Return the value of ``Authorization`` that proves possession of the keys."""
    return " ".join([SCHEME, str(now), *(_mac(key, str(now)) for key in keys)])


def is_proof(sent: str, keys: Sequence[bytes], now: float) -> bool:
    """Whether somebody who holds one of the keys made this value within the last minute."""
    scheme, _, rest = sent.partition(" ")
    time, *macs = rest.split(" ")
    if scheme != SCHEME or not (time.isascii() and time.isdecimal() and len(time) <= 12):
        return False
    genuine = any(hmac.compare_digest(_mac(key, time).encode(), mac.encode()) for key in keys for mac in macs[:8])
    return genuine and abs(now - int(time)) <= _SECONDS


def _mac(key: bytes, time: str) -> str:
    return hmac.new(key, f"logoadmin doctor {time}".encode(), hashlib.sha256).hexdigest()
