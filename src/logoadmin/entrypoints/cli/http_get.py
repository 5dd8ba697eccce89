"""Requests of the commands that check a running service (contract K1, K4)."""

import json
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, InvalidURL
from ipaddress import ip_address
from threading import Thread
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

_MAX_BODY: Final = 2**20  # bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response: status, and body as text."""

    status: int
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON, None if it is not JSON."""
        with suppress(ValueError):
            return json.loads(self.text)
        return None

    @property
    def is_well(self) -> bool:
        """Whether it is the response of ``/livez`` or ``/readyz`` of a service that is well."""
        return self.status == 200 and self.json == {"status": "ok"}


class _Redirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect: its response is what the caller wants to see."""


_OPENER: Final = build_opener(_Redirect, ProxyHandler({}))


def http_get(url: str, headers: Mapping[str, str] | None = None, *, timeout: float) -> HttpResponse:
    """Return the response to a GET.

    Args:
        url: http or https; a certificate must be one that this machine trusts.
        headers: further headers.
        timeout: seconds for everything, even if the response arrives byte by byte.

    Raises:
        OSError: no response, or not in HTTP; TimeoutError: not in time; ssl.SSLError: TLS failed.
    """
    outcome: Future[HttpResponse] = Future()

    def ask() -> None:
        try:
            outcome.set_result(_response(url, headers or {}, timeout))
        except Exception as error:
            outcome.set_exception(error)

    # A timeout of a socket is for each of its bytes.
    Thread(target=ask, daemon=True).start()
    try:
        return outcome.result(timeout)
    except TimeoutError:
        raise TimeoutError(f"no response within {timeout:g} seconds") from None


def local_url(host: str, port: int) -> str:
    """Return the URL of a service that listens on ``host``; on all addresses, that of loopback."""
    with suppress(ValueError):
        address = ip_address(host)
        if address.is_unspecified:
            host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _response(url: str, headers: Mapping[str, str], timeout: float) -> HttpResponse:
    if not url.isprintable() or not url.startswith(("http://", "https://")):  # urllib drops line breaks
        raise OSError("the URL is not valid")
    try:
        with _OPENER.open(Request(url, headers=dict(headers)), timeout=timeout) as response:  # noqa: S310 (checked above)
            return _read(response)
    except HTTPError as error:
        with error:
            return _read(error)
    except URLError as error:
        raise error.reason if isinstance(error.reason, OSError) else OSError(str(error.reason)) from None
    except (ValueError, InvalidURL):
        raise OSError("the URL is not valid") from None
    except HTTPException:
        raise OSError("the response is not HTTP") from None


def _read(response: Any) -> HttpResponse:
    return HttpResponse(response.status, response.read(_MAX_BODY).decode("utf-8", "replace"))
