"""The page that visitors see, in Chromium, as the service publishes and serves it (contract Q1, Q2)."""

import re

import pytest
from playwright.sync_api import expect

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.gallery.artworks import BlockLogo, CreateLogo, CreateTheme
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.settings import settings_of
from tests.gallery_page.conftest import Look
from tests.services import comes_true, in_thread

FORUM = {"forum": {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".logo"}}
PIXEL = "https://pictures.example/1.png"


@pytest.mark.slow("a browser")
@pytest.mark.rule("contract Q1")
def test_visitors_browse_what_the_service_publishes(look: Look) -> None:
    settings = settings_of(database="memory:", access="open", gallery_title="Ours")
    own = f"background: url({settings.effective_public_url.base}/pictures/{'a' * 64}.webp)"
    with open_gallery(settings) as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=FORUM))
        for name in ("Dusk", "Dawn"):
            css = f"background: url({PIXEL})"
            gallery.logos.create(CreateLogo(name=name, preview_url=PIXEL, target="forum", custom_css=css, active=True))
        broken = CreateTheme(name="Broken", preview_url=PIXEL, target="forum", custom_css="a {", active=True)
        gallery.themes.create(broken)
        pictured = CreateLogo(name="Pictured", preview_url=PIXEL, target="wiki", custom_css=own, active=True)
        gallery.logos.create(pictured)
        with in_thread(logoadmin.asgi(gallery)) as address:
            page = look(f"{address}/gallery")
            request = page.context.request
            comes_true(lambda: request.get(f"{address}/gallery/index.html").ok)
            page.reload()
            expect(page.locator(".card")).to_have_count(3)  # broken CSS is not published (contract L4)
            assert page.title() == "Ours"
            page.get_by_role("link", name="Pictured").click()
            expect(page.get_by_text("Contacts no other site")).to_be_visible()
            page.get_by_role("button", name="Preview").click()
            logo = page.frame_locator("iframe").locator(".with .logo").first
            expect(logo).to_have_attribute("style", re.compile(f"{address}/gallery/pictures/"))
            install = page.get_by_role("link", name="Install")
            expect(install).to_have_count(0)  # its target has no pages
            page.get_by_role("link", name="All works").click()
            page.get_by_role("link", name="Dusk").click()
            expect(page.get_by_text("Contacts pictures.example, which learns your IP address")).to_be_visible()
            link = install.evaluate("(link) => link.href")
            assert link == f"{address}/gallery/logos/1.user.css"
            comes_true(lambda: "==UserStyle==" in request.get(link).text())
            gallery.logos.block(BlockLogo(logo_id=1, reason="tracks readers"))
            # With or without the slash.
            comes_true(lambda: "tracks readers" in request.get(f"{address}/gallery/logos/1").text())
            unknown = request.get(f"{address}/gallery/logos/99/")
            assert (unknown.status, unknown.headers["cache-control"]) == (404, "no-store")
