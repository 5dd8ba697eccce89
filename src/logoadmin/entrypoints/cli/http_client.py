"""An HTTP client of the command line, which asks a service as somebody who looks after it (contract K1, K4)."""

import json
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection, InvalidURL
from ipaddress import ip_address
from threading import Thread
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

_MAX_ANSWER: Final = 2**20  # bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What was answered: the status, the headers, their names in small letters, and the text."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """What the text is as JSON, None where it is none."""
        with suppress(ValueError):
            return json.loads(self.text)
        return None

    @property
    def is_well(self) -> bool:
        """Whether it is what ``/livez`` and ``/readyz`` say of a service that is well."""
        return self.status == 200 and self.json == {"status": "ok"}


def http_get(url: str, headers: Mapping[str, str] | None = None, *, timeout: float) -> HttpResponse:
    """Return the answer to a GET; a redirection is not followed.

    Args:
        url: http or https; a certificate must be one that this machine trusts.
        headers: what is sent beside the usual ones.
        timeout: seconds for all of it: finding the address, connecting, and an answer that comes in drops.

    Raises:
        OSError: nobody answered, or not in HTTP; TimeoutError: not in time; ssl.SSLError: not with a certificate that
            is trusted.
    """
    if not url.isprintable():  # what is taken out of it would lead elsewhere
        raise OSError("no machine can have this name")
    outcome: list[HttpResponse | OSError] = []
    try:
        question = (urlsplit(url), {"Connection": "close", **(headers or {})}, timeout)
    except ValueError:  # as of a bracket alone
        raise OSError("no machine can have this name") from None
    thread = Thread(target=lambda: outcome.append(_outcome(*question)), daemon=True)
    thread.start()
    thread.join(timeout)
    found = outcome[0] if outcome else TimeoutError()
    if isinstance(found, TimeoutError):
        raise TimeoutError(f"no answer within {timeout:g} seconds")
    if isinstance(found, OSError):
        raise found
    return found


def local_url(host: str, port: int) -> str:
    """Return where a service that listens on ``host`` is reached: one that listens everywhere, on loopback."""
    with suppress(ValueError):
        address = ip_address(host)
        if address.is_unspecified:
            host = "127.0.0.1" if address.version == 4 else "::1"
    host = host or "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _outcome(url: SplitResult, headers: Mapping[str, str], timeout: float) -> HttpResponse | OSError:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        with closing(_connection(url, timeout)) as connection:
            connection.request("GET", target, headers=dict(headers))
            answer = connection.getresponse()
            text = answer.read(_MAX_ANSWER).decode("utf-8", "replace")
            return HttpResponse(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
    except OSError as error:
        return error
    except (ValueError, InvalidURL):  # as of two dots in a row, or of a space
        return OSError("no machine can have this name")
    except HTTPException:
        return OSError("what answers there does not speak HTTP")


def _connection(url: SplitResult, timeout: float) -> HTTPConnection:
    host = url.hostname or ""
    if url.scheme == "https":
        return HTTPSConnection(host, url.port, timeout=timeout, context=ssl.create_default_context())
    return HTTPConnection(host, url.port, timeout=timeout)
