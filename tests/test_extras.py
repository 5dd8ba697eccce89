"""The remedy for a missing extra (contract K4)."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from logoadmin.extras import install_extra

NO_PLACE = "install logoadmin again, from its wheel or its source directory, with the extra [server]"


class Installed(importlib.metadata.Distribution):
    """An installation, with the installer's record of its source."""

    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, filename: str) -> str | None:
        return self.direct_url if filename == "direct_url.json" else None

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


def cure(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> str:
    text = direct_url if isinstance(direct_url, str | None) else json.dumps(direct_url)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(text))
    return install_extra("server")


@pytest.mark.rule("contract K4")
def test_the_cure_installs_from_where_logoadmin_came_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "it's here" / "logoadmin-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    direct_url: dict[str, Any] = {"url": tmp_path.as_uri(), "dir_info": {}}
    assert cure(monkeypatch, direct_url) == f"run pip install '{tmp_path}[server]'"
    direct_url["dir_info"]["editable"] = True
    assert cure(monkeypatch, direct_url) == f"run pip install --editable '{tmp_path}[server]'"
    quoted = str(wheel).replace("'", "'\"'\"'")
    assert cure(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}}) == f"run pip install '{quoted}[server]'"
    repository = {"url": "https://git.example/logoadmin", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    expected = "run pip install 'logoadmin[server] @ git+https://git.example/logoadmin@abc'"
    assert cure(monkeypatch, repository) == expected


@pytest.mark.parametrize(
    "direct_url", [None, "", "no JSON", {}, {"url": "file:///gone/logoadmin.whl", "archive_info": {}}]
)
def test_the_cure_names_no_source_that_is_gone(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> None:
    assert cure(monkeypatch, direct_url) == NO_PLACE
