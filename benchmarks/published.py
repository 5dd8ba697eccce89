"""The published gallery: polling by readers, the sizes of its files, and publishing a large gallery."""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import load
from benchmarks.environment import ONE_LOGO, SQLITE, Environment
from benchmarks.gallery import import_gallery, write_gallery
from benchmarks.interleaving import Rounds, interleave, median_ratio
from benchmarks.results import Result, at_least, at_most
from benchmarks.servers import Server

_POINTER: Final = "/gallery/latest.json"
_KB: Final = 1000
_MIB: Final = 1024 * 1024
_MANY: Final = 100_000  # logos
# The service compresses with Brotli in the background.
_COMPRESSED_WITHIN: Final = 60.0  # seconds


def publishing(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Poll the pointer, read the files that it refers to, and publish many logos to a folder."""
    for server in (environment.logoadmin[SQLITE], environment.whole):
        _await_publication(server)
    yield from _polls(environment, rounds)
    yield from _sizes(environment)
    yield from _many_logos(environment)


def _polls(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    server = environment.logoadmin[SQLITE]
    tag = load.entity_tag(server, _POINTER)
    ways = {
        "bare": partial(load.rate, environment.bare, ONE_LOGO, rounds.seconds),
        "unchanged": partial(load.rate, server, _POINTER, rounds.seconds, headers={"If-None-Match": tag}),
    }
    rates = interleave(ways, lambda measure: measure(), rounds.count)
    share = 100 * median_ratio(rates["unchanged"], rates["bare"])
    yield Result("an unchanged gallery, conditional GET", SQLITE, share, "% of a bare route", at_least(80))


def _sizes(environment: Environment) -> Iterator[Result]:
    server = environment.whole
    index = f"/gallery/{_pointer(server)['index']['path']}"
    for coding, bound in (("identity", None), ("gzip", at_most(85)), ("br", at_most(70))):
        size = len(_in_coding(server, index, coding)) / _KB
        yield Result(f"the index of a whole gallery, {coding}", "", size, "KB", bound)
    yield Result("latest.json", "", len(_in_coding(server, _POINTER, "identity")) / 1024, "KiB", at_most(8))
    yield Result("reader.js, gzip", "", len(_in_coding(server, "/gallery/reader.js", "gzip")) / 1024, "KiB", at_most(4))


def _many_logos(environment: Environment) -> Iterator[Result]:
    file, folder, database = (environment.directory / "many.jsonl", environment.directory / "published",
                              environment.new_database(SQLITE))  # fmt: skip
    write_gallery(file, logos=_MANY, two_authors_every=10, all_active=True)
    import_gallery(file, database)
    for what, code in (("publishing", 0), ("publishing again", 3)):
        seconds, memory = _publish(database, folder, code)
        yield Result(f"{what} {_MANY:,} logos", SQLITE, seconds, "seconds")
        yield Result(f"{what} {_MANY:,} logos: peak memory", SQLITE, memory / _MIB, "MiB", at_most(400))


def _publish(database: str, folder: Path, code: int) -> tuple[float, int]:
    """Publish to a folder; return the seconds it took, and its peak memory in bytes."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "logoadmin", "publish", str(folder)],
        env={**os.environ, "LOGOADMIN_DATABASE": database},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise RuntimeError(f"logoadmin publish ended with {process.returncode}, not {code}")
    return time.perf_counter() - began, used.ru_maxrss * 1024


def _await_publication(server: Server) -> None:
    """Wait until a newly started server has published."""
    deadline = time.monotonic() + _COMPRESSED_WITHIN
    while True:
        try:
            load.read(server, _POINTER)
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def _pointer(server: Server) -> dict[str, Any]:
    payload = json.loads(load.read(server, _POINTER).answer.partition(b"\r\n\r\n")[2])["payload"]
    pointer: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return pointer


def _in_coding(server: Server, path: str, coding: str) -> bytes:
    """Return the body of a file in a coding, once the service has it."""
    deadline = time.monotonic() + _COMPRESSED_WITHIN
    while True:
        request = urllib.request.Request(server.url(path), headers={"Accept-Encoding": coding})
        with urllib.request.urlopen(request) as answer:
            body: bytes = answer.read()
            if answer.headers.get("Content-Encoding", "identity") == coding:
                return body
        if time.monotonic() > deadline:
            raise RuntimeError(f"{path} is not served in {coding}")
        time.sleep(0.2)
