"""The demo: an invented gallery in memory, marked as a demo on every page (contract Q4)."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import logoadmin
from logoadmin.demo import Demo, demo_settings, open_demo
from logoadmin.domain.changes.proposal_commands import ListProposals
from logoadmin.domain.kernel.access import ANONYMOUS
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.app import web_application
from logoadmin.entrypoints.cli import cli
from logoadmin.settings import Settings, settings_of
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract Q4")
DRAWN: Final = pytest.mark.slow("150 pictures are drawn and encoded")

WEEK = 7 * 86_400


@pytest.fixture(scope="module")
def settings() -> Settings:
    return demo_settings(settings_of(argon2_memory_kib=8, argon2_passes=1))


@pytest.fixture(scope="module")
def opened(settings: Settings) -> Iterator[Demo]:
    demo = open_demo(settings)
    with demo.gallery:
        yield demo


@pytest.fixture(scope="module")
def demo(opened: Demo) -> LogoAdmin:
    return opened.gallery


@DRAWN
def test_the_demo_looks_like_a_gallery_after_a_week(demo: LogoAdmin) -> None:
    logos, themes = list(demo.logos.list(logoadmin.ListLogos())), list(demo.themes.list(logoadmin.ListThemes()))
    assert (len(logos), len(themes), len(list(demo.authors.list(logoadmin.ListAuthors())))) == (61, 12, 15)
    assert len(list(demo.users.list(logoadmin.ListUsers()))) == 1 + 4
    changes = list(demo.changes.list(logoadmin.ListChanges()))
    assert len({change.user_id for change in changes}) >= 3
    assert 0.9 * WEEK < changes[-1].at - changes[0].at < 1.01 * WEEK
    assert [change.at for change in changes] == sorted(change.at for change in changes)
    assert [change.id for change in changes if change.action.endswith(".blocked")] == [33]
    artworks: list[logoadmin.Logo | logoadmin.Theme] = [*logos, *themes]
    for artwork in artworks:
        about = artwork.details
        assert about.description, about.tags and about.licence
        assert len(about.pictures) == 1  # beside the first one


@DRAWN
def test_the_queue_of_the_demo_shows_the_purpose_of_reviews(demo: LogoAdmin) -> None:
    proposals = list(demo.proposals.list(ListProposals()))
    assert [each.state.value for each in proposals] == ["declined", "applied", *["waiting"] * 5]
    redrawn, font, snow, lamp, boat = proposals[2:]
    assert redrawn.new_hosts == ("sparks.example",)
    assert font.new_hosts == ("letters.example",)
    assert snow.risks == ("overlay",)
    assert [(each.new_hosts, each.risks) for each in (lamp, boat)] == [((), ())] * 2
    assert not [each for each in demo.authors.list(logoadmin.ListAuthors()) if each.username == boat.user_name]


@DRAWN
def test_the_pictures_of_the_demo_are_stored_in_it(demo: LogoAdmin) -> None:
    artworks = [*demo.logos.list(logoadmin.ListLogos()), *demo.themes.list(logoadmin.ListThemes())]
    shown = {artwork.preview_url for artwork in artworks}
    assert len(shown) == 73
    for url in shown:
        found = re.search(r"/pictures/([0-9a-f]{64})\.webp$", url)
        assert found
        caller = ANONYMOUS if url != artworks[32].preview_url else logoadmin.OWNER
        content, _ = demo.pictures.get(logoadmin.GetPicture(picture=found[1]), caller)
        assert content[8:12] == b"WEBP"


_SAID: Final = "A demo with invented people and works. Nothing of it is stored."


@DRAWN
def test_every_page_is_marked_as_a_demo(demo: LogoAdmin) -> None:
    with TestClient(web_application(demo, settings_of()), base_url="http://localhost") as client:
        console = client.get("/console/").text
        assert '"demo":true' in console.replace("&quot;", '"')
        theme = next(iter(demo.themes.list(logoadmin.ListThemes(active=True))))
        for path in ("/gallery/", f"/gallery/themes/{theme.theme_id}/"):
            comes_true(lambda: _SAID in client.get(path).text)  # noqa: B023 (called at once)


@DRAWN
def test_three_demo_users_can_sign_in_at_once(opened: Demo) -> None:
    scopes = {}
    for name, password in opened.passwords.items():
        tokens = opened.gallery.sessions.sign_in(logoadmin.SignIn(username=name, password=password))
        me = opened.gallery.sessions.me(logoadmin.WhoAmI(), opened.gallery.sessions.caller(tokens.access_token))
        assert not me.must_change_password
        scopes[name] = set(me.scope)
    administrator, moderator, member = scopes.values()
    assert (administrator, member) == ({"*"}, {"proposals:write"})
    assert {"authors:write", "logos:write", "themes:write"} <= moderator


def test_a_database_is_refused_as_nothing_is_stored() -> None:
    ran = CliRunner().invoke(cli, ["serve", "--demo", "--database", "sqlite:///kept.db"])
    assert ran.exit_code == 2
    assert "leave out --database" in ran.output


@pytest.mark.slow("processes are started and stopped")
def test_no_printed_command_would_change_another_gallery(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "logoadmin", "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as demo:
        assert demo.stdout is not None
        printed = [demo.stdout.readline() for _ in range(5)]
        demo.terminate()
    assert printed[0].startswith("Nothing in this gallery is stored")
    assert all(" with the password " in line for line in printed[1:4])
    assert printed[4].startswith("The console is at")
