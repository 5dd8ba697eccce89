"""What a client may take, in numbers (contract H4)."""

import sys
from typing import ClassVar

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]  # not on Windows


class Bounds:
    """The limits of a connection.

    Attributes:
        head_seconds: from the first byte of a head, or from the connection, to the end of the head (contract H4).
        body_seconds: from the end of the head to the end of the body (contract H4).
        pace_seconds: how often the pace of a body is looked at.
        pace_bytes: what must have come each time; 500 bytes a second, as Apache's mod_reqtimeout wants.
        stop_seconds: for a body that is on its way when the service stops.
        linger_seconds: for reading an answer that came before the request was there.
        write_seconds: for which a client may keep the server waiting before it is looked at what it took meanwhile.
        write_bytes: what it must have taken then. Who takes 8 KiB/s takes twice as much; half is for what the systems
            on both sides hold back and hand on at once (contract H4).
        slice_bytes: how much of an answer is handed to the transport at once.
        write_ahead_bytes: what the transport may hold before the next slice waits (contract K8).
        head_bytes: of request line and headers, as of what is between the chunks of a body (contract H4).
        head_fields: how many headers, since each costs more memory than its bytes.
        pipelined: how many requests may wait for the answer to an earlier one.
    """

    head_seconds: ClassVar[float] = 5
    body_seconds: ClassVar[float] = 15
    pace_seconds: ClassVar[float] = 5
    pace_bytes: ClassVar[int] = 2_500
    stop_seconds: ClassVar[float] = 2
    linger_seconds: ClassVar[float] = 2
    write_seconds: ClassVar[float] = 60
    write_bytes: ClassVar[int] = 30 * 8 * 1024
    slice_bytes: ClassVar[int] = 32 * 1024
    write_ahead_bytes: ClassVar[int] = 16 * 1024
    head_bytes: ClassVar[int] = 32 * 1024
    head_fields: ClassVar[int] = 1_000
    pipelined: ClassVar[int] = 64

    @classmethod
    def most_connections(cls) -> int:
        """Return how many connections there may be; a quarter of the files that may be open is for other things."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative where there is no limit
