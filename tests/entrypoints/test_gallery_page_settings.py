"""The settings of the page of the published gallery and of user styles (contract Q2, Q3, H1)."""

import json
from pathlib import Path
from typing import Any

import pytest

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.domain.publication.css.targets import Target
from logoadmin.settings import load_settings, settings_of
from logoadmin.settings.gallery_page import targets_of
from tests.entrypoints.command_line import Run

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract Q3")]

FORUM = {"name": "The forum", "document": 'domain("forum.example")', "logo": ".site-logo, #x"}
WIKI = {"name": "Wiki", "document": "url-prefix( 'https://wiki.example/' )"}
TARGETS = (
    Target("forum", "The forum", 'domain("forum.example")', ".site-logo, #x"),
    Target("my wiki", "Wiki", 'url-prefix("https://wiki.example/")'),
)


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)
    return str(caught.value)


def test_targets_in_the_file() -> None:
    Path("logoadmin.toml").write_text(
        "[gallery_targets.forum]\nname = 'The forum'\ndocument = 'domain(\"forum.example\")'\n"
        "logo = '.site-logo, #x'\n[gallery_targets.'my wiki']\nname = 'Wiki'\n"
        "document = \"url-prefix( 'https://wiki.example/' )\"\n"
    )
    assert targets_of(load_settings()) == TARGETS


def test_targets_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_GALLERY_TARGETS", json.dumps({"forum": FORUM, "my wiki": WIKI}))
    assert targets_of(load_settings()) == TARGETS
    monkeypatch.setenv("LOGOADMIN_GALLERY_TARGETS", "")
    assert targets_of(load_settings()) == ()


@pytest.mark.parametrize("given", ["[]", "{", "forum", "[" * 100_000, 7, ["forum"], {"": FORUM}, {"x" * 65: FORUM}])
def test_what_are_no_targets(given: Any) -> None:
    assert "should be tables by target" in refused(gallery_targets=given)


@pytest.mark.parametrize(
    "document",
    [
        *("", "forum.example", "domain()", 'domain("")', 'domain("a"', 'domain("a'),
        *('domain("a") {', 'domain("a")}', 'domain("a"), domain("b")', 'media("a")', "*", 'domain("a"; "b")'),
        *('domain("a\\a b")', 'domain("a")/*', '"a"', "url(a", "url(a b)", 'regexp("a" "b")', 'domain("a\nb")'),
    ],
)
def test_what_is_no_document(document: str) -> None:
    text = refused(gallery_targets={"forum": FORUM | {"document": document}})
    assert "gallery_targets.forum.document: should be url(), url-prefix(), domain() or regexp()" in text


@pytest.mark.parametrize(
    ("document", "canonical"),
    [
        ("url(https://a.example/x)", 'url("https://a.example/x")'),
        ('URL("https://a.example/x")', 'url("https://a.example/x")'),
        ("domain(a.example)", 'domain("a.example")'),
        (r'regexp("https://a\\.example/.*")', r'regexp("https://a\\.example/.*")'),
        (r'domain( "a\22 ) { } b" )', r'domain("a\") { } b")'),
    ],
)
def test_a_document_is_canonical(document: str, canonical: str) -> None:
    settings = settings_of(gallery_targets={"forum": FORUM | {"document": document}})
    assert targets_of(settings)[0].document == canonical


@pytest.mark.parametrize(
    "logo",
    [
        *("", " ", "a {", "a }", "a { color: red }", "a; b", "@media", "a /* b", "/* a */", "a )", ":is(a", '[x="a'),
        *("<!-- a", "a -->", ":is(a { })", "[x='a\nb']"),
    ],
)
def test_what_is_no_selector(logo: str) -> None:
    text = refused(gallery_targets={"forum": FORUM | {"logo": logo}})
    assert "gallery_targets.forum.logo: should be a selector" in text


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\ud800", "x" * 101])
def test_what_is_no_name(name: str) -> None:
    assert "gallery_targets.forum.name: " in refused(gallery_targets={"forum": FORUM | {"name": name}})
    assert "gallery_title: " in refused(gallery_title=name)


def test_unknown_members_are_refused() -> None:
    assert "gallery_targets.forum.colour" in refused(gallery_targets={"forum": FORUM | {"colour": "red"}})
    assert "gallery_targets.forum.document" in refused(gallery_targets={"forum": {"name": "a"}})


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


def test_targets_are_shown_as_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_GALLERY_TARGETS", json.dumps({"forum": FORUM}))
    assert json.dumps({"forum": FORUM}) in run("config").out
