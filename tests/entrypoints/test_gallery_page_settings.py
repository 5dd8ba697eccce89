"""The settings of the page of the published gallery (contract Q2, H1)."""

from pathlib import Path
from typing import Any

import pytest

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.settings import load_settings, settings_of

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract Q2")]


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)
    return str(caught.value)


MOVED = "gallery_targets: is changed by administrators now, in the console under Settings"


@pytest.mark.rule("contract J8")
def test_targets_are_no_setting_of_the_service_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOVED in refused(gallery_targets={"forum": {"name": "Forum", "document": 'domain("forum.example")'}})
    Path("logoadmin.toml").write_text("[gallery_targets.forum]\nname = 'The forum'\n")
    with pytest.raises(SettingsError, match=MOVED):
        load_settings()
    Path("logoadmin.toml").unlink()
    monkeypatch.setenv("LOGOADMIN_GALLERY_TARGETS", "{}")
    with pytest.raises(SettingsError, match=MOVED.replace("gallery_targets", "LOGOADMIN_GALLERY_TARGETS")):
        load_settings()


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\ud800", "x" * 101])
def test_what_is_no_name(name: str) -> None:
    assert "gallery_title: " in refused(gallery_title=name)


@pytest.mark.parametrize("home", ["https://a.example", "http://a.example:8/b?c#d", "HTTPS://ä.example/ä", ""])
def test_the_way_home(home: str) -> None:
    assert settings_of(gallery_home=home).gallery_home == home


@pytest.mark.parametrize(
    "home",
    [
        "javascript:alert(1)",
        "//a.example",
        "a.example",
        "https://",
        "https://u:p@a.example",
        "https://a b",
        "https://a\n",
    ],
)
def test_what_is_no_way_home(home: str) -> None:
    assert "gallery_home: should be an http or https URL" in refused(gallery_home=home)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("true", True),
        ("false", False),
        (False, False),
        ("https://site.example/submit?a", "https://site.example/submit?a"),
    ],
)
def test_the_way_to_submit(given: Any, found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(gallery_submit=given).gallery_submit == found
    monkeypatch.setenv("LOGOADMIN_GALLERY_SUBMIT", f"{given}")
    assert load_settings().gallery_submit == found


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "maybe", "https://u:p@a.example", "mailto:a@b.example"])
def test_what_is_no_way_to_submit(url: str) -> None:
    assert "gallery_submit: " in refused(gallery_submit=url)


@pytest.mark.parametrize(
    "url", ["", "https://a.example/report?page={url}", "mailto:us@a.example", "MAILTO:us@a.example?body={url}"]
)
def test_the_way_to_report(url: str) -> None:
    assert settings_of(gallery_report=url).gallery_report == url


@pytest.mark.parametrize("url", ["javascript:{url}", "mailto:", "mailto:a b@c.example", "data:text/html,x", "{url}"])
def test_what_is_no_way_to_report(url: str) -> None:
    assert "gallery_report: should be an http or https URL" in refused(gallery_report=url)
