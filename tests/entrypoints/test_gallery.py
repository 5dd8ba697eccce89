"""The main job: a gallery goes in, is read back over HTTP, and comes out again.

A small gallery lies beside the tests; LOGOADMIN_GALLERY names another one.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import logoadmin
from logoadmin.entrypoints.cli import cli
from tests.asgi import AppClient
from tests.options import GALLERY

Line = dict[str, Any]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def undated(lines: list[Line]) -> set[str]:
    """Return lines as texts that can be compared, without the dates that an import adds."""
    return {json.dumps({**line, "created_at": None}, sort_keys=True) for line in lines}


@pytest.mark.rule("contract I1", "contract I2", "contract A18")
def test_every_imported_artwork_is_read_back_over_http(prepared_url: str) -> None:
    url = prepared_url
    run("import", str(GALLERY), "--database", url)
    with logoadmin.connect(url, access="open") as gallery:
        client = AppClient(logoadmin.asgi(gallery))
        checked = 0
        for line in lines(GALLERY):
            kind = line.pop("kind")
            if kind not in {"theme", "logo"}:
                continue
            answer = client.get(f"/api/{kind}s/{line[f'{kind}_id']}").json()
            answer.pop("created_at")
            answer["author_ids"] = [author["author_id"] for author in answer.pop("authors")]
            assert answer == line
            checked += 1
        assert checked


@pytest.mark.rule("contract I3")
def test_from_sqlite_to_mariadb_and_back_loses_nothing(sqlite_url: str, mariadb_url: str, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("first.jsonl", "second.jsonl", "third.jsonl")]
    source = GALLERY
    for url, file in zip((sqlite_url, mariadb_url, f"sqlite:///{tmp_path}/again.db"), files, strict=True):
        run("import", str(source), "--database", url)
        run("export", str(file), "--database", url, "--with-password-hashes")
        source = file
    exported = lines(files[0])
    assert exported == lines(files[1]) == lines(files[2])
    assert undated(lines(GALLERY)) <= undated(exported)
