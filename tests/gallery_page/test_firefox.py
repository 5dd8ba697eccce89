"""The page that visitors see, in Firefox, from a folder under a path (contract Q1)."""

from pathlib import Path

import pytest

from tests import firefox
from tests.gallery_page.folder import NOW, published, served
from tests.reader.publisher import withdrawal


@pytest.mark.slow("a browser is started")
@pytest.mark.release
@pytest.mark.rule("contract Q1")
def test_firefox_shows_and_updates_the_gallery_and_stores_it_for_offline_use(tmp_path: Path) -> None:
    with served(tmp_path, published()) as folder, firefox.started("", {}) as fox:
        fox.open(folder.address)
        fox.becomes("document.querySelectorAll('.card').length === 7")
        fox.type("input[type=search]", "ann d")
        fox.becomes("document.querySelectorAll('.card').length === 2")
        fox.run("document.querySelector('.card a').focus()")
        fox.run("dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))")
        fox.becomes("document.activeElement.matches('[type=search]')")
        fox.click("[data-kind] input[value='']")
        folder.publish(published(2, withdrawn=[withdrawal("logo", 1, "tracks readers", NOW)]))
        fox.run("dispatchEvent(new Event('online'))")
        fox.becomes("document.querySelectorAll('.card').length === 1")
        fox.run("navigator.serviceWorker.ready.then(() => true)")
        folder.stop()
        fox.open(folder.address)
        fox.becomes("document.querySelectorAll('.card').length === 6")
        fox.becomes("document.querySelector('#notice').textContent.includes('cannot be reached')")
