"""The clients: wrk for many concurrent requests, and a plain socket for one long response."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.servers import Server

_HERE: Final = Path(__file__).parent
_CLIENTS: Final = 32
_CHUNK: Final = 262_144
_MILLISECONDS: Final = {"us": 0.001, "ms": 1.0, "s": 1_000.0, "m": 60_000.0}


def is_installed() -> bool:
    """Return whether a load generator is installed."""
    return shutil.which("wrk") is not None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The results of a load test with 32 clients.

    Attributes:
        rate: requests per second.
        latency: the 99th percentile of the response time in milliseconds.
        share: the share of a processor that the load generator used, 1 for a whole one.
        requests: the number of requests.
    """

    rate: float
    latency: float
    share: float
    requests: int


def wrk_load(
    server: Server,
    path: str,
    seconds: float,
    script: str | None = None,
    *arguments: object,
    headers: Mapping[str, str] | None = None,
) -> LoadResult:
    """Return the results of 32 concurrent clients; all their requests must succeed.

    Args:
        server: the server.
        path: the path of the requests.
        seconds: the duration, rounded to whole seconds, at least one.
        script: the script that generates the requests, unless all are the same GET.
        arguments: the arguments of the script.
        headers: the headers of each request without a script.
    """
    header_options = [part for name, value in (headers or {}).items() for part in ("-H", f"{name}: {value}")]
    command = ["wrk", "-t1", f"-c{_CLIENTS}", f"-d{max(1, round(seconds))}s", "--timeout", "30s", "--latency"]
    script_options = [] if script is None else ["-s", str(_HERE / script)]
    script_arguments = ["--", *map(str, arguments)] if arguments else []
    command += [*header_options, *script_options, server.url(path), *script_arguments]
    before, began = os.times(), time.perf_counter()
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    after, took = os.times(), time.perf_counter() - began
    bad = re.search(r"Non-2xx.*|Socket errors.*", output)
    found = re.search(r"Requests/sec:\s+([\d.]+)", output)
    latency = re.search(r"99%\s+([\d.]+)(us|ms|s|m)\b", output)
    count = re.search(r"(\d+) requests in", output)
    if bad or found is None or latency is None or count is None or not float(found[1]):
        raise RuntimeError(f"Requests for {path} failed: {bad[0] if bad else output}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return LoadResult(float(found[1]), float(latency[1]) * _MILLISECONDS[latency[2]], used / took, int(count[1]))


def processor(server: Server, path: str, seconds: float, headers: Mapping[str, str]) -> float:
    """Return the server's processor seconds per response, with 32 concurrent clients."""
    before = server.processor()
    requests = wrk_load(server, path, seconds, headers=headers).requests
    return (server.processor() - before) / requests


def rate(
    server: Server,
    path: str,
    seconds: float,
    script: str | None = None,
    *arguments: object,
    headers: Mapping[str, str] | None = None,
) -> float:
    """Return the requests per second; see :func:`wrk_load`."""
    return wrk_load(server, path, seconds, script, *arguments, headers=headers).rate


@dataclass(frozen=True, slots=True)
class Reading:
    """One response: the seconds until the first and the last byte of its body, and all its bytes."""

    first: float
    whole: float
    answer: bytes


def read(server: Server, path: str, headers: Mapping[str, str] | None = None) -> Reading:
    """Read one response as fast as it arrives."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    request = "\r\n".join(lines) + "\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
        began = time.perf_counter()
        connection.sendall(request.encode())
        received = bytearray()
        first = 0.0
        while chunk := connection.recv(_CHUNK):
            received += chunk
            first = first or (time.perf_counter() - began if _has_body(received) else 0.0)
        whole = time.perf_counter() - began
    if not received.startswith(b"HTTP/1.1 200 "):
        raise RuntimeError(f"The request for {path} failed: {bytes(received[:200])!r}")
    return Reading(first, whole, bytes(received))


def _has_body(received: bytearray) -> bool:
    end = received.find(b"\r\n\r\n")
    return end >= 0 and len(received) > end + 4


def entity_tag(server: Server, path: str) -> str:
    """Return the entity tag of a response."""
    with urllib.request.urlopen(server.url(path)) as answer:
        tag: str = answer.headers["ETag"]
        return tag


def access_token(server: Server, username: str, password: str) -> str:
    """Sign in, and return the access token."""
    body = json.dumps({"username": username, "password": password}).encode()
    request = urllib.request.Request(server.url("/api/auth/token"), body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        token: str = json.load(answer)["access_token"]
        return token
