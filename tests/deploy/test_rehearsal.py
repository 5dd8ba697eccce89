"""The rehearsal of a restore is what the page says, word by word, on a file and on a server (contract K4)."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import pytest

from tests.mariadb import MariaDb, free_port

pytestmark = [pytest.mark.rule("contract K4"), pytest.mark.slow("processes are started and stopped")]

PAGE: Final = Path(__file__).parents[2] / "docs" / "rehearsal.md"
_PARTS: Final = re.compile(r"^(##+) ([^\n]+)$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DONE: Final = "-- this block is done --"


class Block(NamedTuple):
    """A block of the page, and its expected output."""

    language: str
    pasted: str
    printed: str


def blocks(database: str) -> Iterator[Block]:
    """Yield the blocks of the page for a database, each with its output according to the page."""
    under, last = "", None
    for level, heading, language, body in _PARTS.findall(PAGE.read_text(encoding="utf-8")):
        if level:
            under = heading if level == "###" else ""
        elif under in ("", database):
            if language == "text":
                assert last is not None
                last = last._replace(printed=body)
                continue
            if last is not None:
                yield last
            last = Block(language, body, "")
    assert last is not None
    yield last


def commands() -> Path:
    """Return the directory of the ``logoadmin`` under test."""
    return Path(sys.executable).parent


def follow(database: str, directory: Path, replaced: dict[str, str]) -> None:
    """Paste all blocks into one shell, and compare their output."""
    for program in ("curl", "python3"):
        assert shutil.which(program), f"this test needs {program}"
    pasted = [block for block in blocks(database) if block.language == "sh"]
    script = "".join(f"{block.pasted}\necho '{_DONE}'\n" for block in pasted)
    for word, by in replaced.items():
        assert word in script
        script = script.replace(word, by)
    path = f"{commands()}:{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-ec", script],
        cwd=directory,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, complaints = shell.communicate(timeout=120)
    finally:
        # Also stop processes that a failed block left running.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    said = printed.split(f"{_DONE}\n")
    assert (shell.returncode, said[:-1]) == (0, [block.printed for block in pasted]), complaints
    assert [*directory.iterdir()] == []


class Stranger(BaseHTTPRequestHandler):
    """Another service, which accepts every request and records the writes."""

    written: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def do_POST(self) -> None:
        self.written.append(self.path)
        self.do_GET()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is inherited
        """Log nothing."""


def test_another_service_on_the_port_is_noticed_and_not_written_to(tmp_path: Path) -> None:
    pasted = [block.pasted for block in blocks("SQLite") if block.language == "sh"][:3]
    assert "author 1 " in pasted[1]
    assert "author $user " in pasted[2]
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        serving = threading.Thread(target=stranger.serve_forever)
        serving.start()
        try:
            done = subprocess.run(
                ["bash"],
                input="\n".join([*pasted, "wait"]).replace("8123", str(stranger.server_port)),
                cwd=tmp_path,
                env={**os.environ, "PATH": f"{commands()}:{os.environ['PATH']}"},
                check=False,
                capture_output=True,
                text=True,
                timeout=120,
            )
        finally:
            stranger.shutdown()
            serving.join()
    assert "Stop here: the service did not start" in done.stdout
    assert Stranger.written == []


def test_the_page_is_followed_with_a_file(tmp_path: Path) -> None:
    follow("SQLite", tmp_path, {"8123": str(free_port())})


def test_the_page_is_followed_with_a_server(mariadb: MariaDb, tmp_path: Path) -> None:
    for program in ("mariadb", "mariadb-dump"):
        assert shutil.which(program), f"this test needs {program}"
    first, last = (block.pasted for block in blocks("MariaDB") if block.language == "sql")
    statements = [[each.strip() for each in block.split(";") if each.strip()] for block in (first, last)]
    mariadb.execute(*statements[0])
    try:
        follow("MariaDB", tmp_path, {"8123": str(free_port()), "3306": str(mariadb.port)})
    finally:
        mariadb.execute(*statements[1])
