"""The details and pictures of a published gallery (contract P2, P5)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from logoadmin import AmendSettings, GetPicture, Logo, LogoAdmin, RemovePicture, SendPicture, SentPicture
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.bootstrap import gallery_page
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, CreateLogo
from logoadmin.domain.kernel.kinds import picture_names
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.files.publishing import Destination
from logoadmin.domain.publication.publication_records import Page, Published
from logoadmin.ports.storage import Storage
from tests.gallery import ARTWORK, FrozenClock, drawing, gallery_on

DAY: Final = 86_400


@pytest.fixture
def files(tmp_path: Path) -> FolderGalleryFiles:
    return FolderGalleryFiles(tmp_path / "published")


def send(gallery: LogoAdmin, shade: int) -> SentPicture:
    return gallery.pictures.send(SendPicture(), drawing(shade, (640, 480)))


def logo(gallery: LogoAdmin, url: str) -> Logo:
    return gallery.logos.create(CreateLogo(**ARTWORK | {"preview_url": url, "active": True}))


def pictures_in(files: FolderGalleryFiles) -> set[str]:
    return {name for name in files.names() if name.startswith("pictures/")}


def names(*pictures: SentPicture) -> set[str]:
    return {*picture_names(each.picture for each in pictures)}


def index_of(files: FolderGalleryFiles, published: Published) -> Any:
    return json.loads(files.read(parsed(published.pointer).index["path"]) or b"")


@pytest.mark.rule("contract L2", "contract P2", "contract S2")
def test_published_records_have_their_details_and_pictures(gallery: LogoAdmin, files: FolderGalleryFiles) -> None:
    picture, shown, unnamed = (send(gallery, shade) for shade in (1, 2, 3))
    elsewhere = "https://elsewhere.example/a.png"
    screenshots = [{"url": shown.url, "alt": "Ours"}, {"url": elsewhere, "alt": "Theirs"}]
    details = {"origin": "aurora-17", "tags": ["dark"], "screenshots": screenshots}
    former = f"https://former.example/{picture.thumbnail_url.partition('//')[2].partition('/')[2]}"
    gallery.logos.create(CreateLogo(**ARTWORK | {"preview_url": former, "details": details}))
    logo(gallery, elsewhere)
    ours, plain = index_of(files, gallery.publication.publish(files))["logos"]

    def entry(sent: SentPicture) -> dict[str, Any]:
        path, thumbnail = picture_names([sent.picture])
        return {"path": path, "thumbnail": thumbnail, "width": 640, "height": 480, "ground": "light"}

    assert ours["picture"] == entry(picture)
    assert ours["details"] == details | {"screenshots": [{**entry(shown), "alt": "Ours"}, screenshots[1]]}
    assert not {"picture", "details"} & plain.keys()
    assert pictures_in(files) == names(picture, shown)
    for thumbnail, path in enumerate(picture_names([picture.picture])):
        stored, *_ = gallery.pictures.get(GetPicture(picture=picture.picture, thumbnail=bool(thumbnail)))
        assert files.read(path) == stored
    assert not gallery.publication.publish(files).changed
    assert names(unnamed).isdisjoint(files.names())


@pytest.mark.rule("contract P2")
def test_a_picture_that_is_sent_after_a_record_names_it_is_published(
    gallery: LogoAdmin, storage: Storage, files: FolderGalleryFiles
) -> None:
    picture = send(gallery, 1)
    storage.write(lambda uow: uow.pictures.forget_unnamed(2**40, 5))
    logo(gallery, picture.url)
    assert "picture" not in index_of(files, gallery.publication.publish(files))["logos"][0]
    send(gallery, 1)
    assert "picture" in index_of(files, gallery.publication.publish(files))["logos"][0]
    assert pictures_in(files) == names(picture)


@pytest.mark.rule("contract P2")
def test_pictures_stay_while_referenced(gallery: LogoAdmin, files: FolderGalleryFiles, clock: FrozenClock) -> None:
    old, new = send(gallery, 1), send(gallery, 2)
    one = logo(gallery, old.url)
    gallery.publication.publish(files)
    gallery.logos.amend(AmendLogo(logo_id=one.logo_id, preview_url=new.url))
    gallery.publication.publish(files)
    assert pictures_in(files) == names(old, new)
    clock.pass_by(30 * DAY)
    gallery.publication.publish(files)
    assert pictures_in(files) == names(new)


@pytest.mark.rule("contract P2")
def test_a_picture_is_read_from_the_database_only_if_its_file_is_missing(
    gallery: LogoAdmin, files: FolderGalleryFiles, clock: FrozenClock
) -> None:
    picture, names_read = send(gallery, 1), list[str]()
    logo(gallery, picture.url)
    gallery.publication.publish(files)
    path, thumbnail = picture_names([picture.picture])
    files.remove(thumbnail)
    publication = gallery.publication.generate()

    def picture_of(name: str) -> bytes | None:
        names_read.append(name)
        return publication.read_picture(name)

    Destination(files, gallery_page(), clock.now()).publish(replace(publication, read_picture=picture_of))
    assert names_read == [thumbnail]
    assert pictures_in(files) == {path, thumbnail}


@pytest.mark.rule("contract J8", "contract Q2")
def test_the_mark_and_accent_are_on_all_pages(storage: Storage, clock: FrozenClock, files: FolderGalleryFiles) -> None:
    gallery = gallery_on(storage, clock, page=Page("Ours"))
    work, mark = logo(gallery, "https://elsewhere.example/a.png"), send(gallery, 1)
    gallery.publication.publish(files)
    usual = files.read("page.css") or b""
    gallery.settings.amend(AmendSettings(gallery_mark=mark.picture, gallery_accent="#3355cc"))
    gallery.publication.publish(files)
    assert pictures_in(files) == names(mark)
    look = (files.read("page.css") or b"").removeprefix(usual).decode()
    assert "--chosen: #3355cc" in look
    _, thumbnail = picture_names([mark.picture])
    assert thumbnail in look
    for page, path in {"index.html": thumbnail, f"logos/{work.logo_id}/index.html": f"../../{thumbnail}"}.items():
        assert f'rel="icon" href="{path}"' in (files.read(page) or b"").decode()
    gallery.pictures.remove(RemovePicture(picture=mark.picture))
    gallery.publication.publish(files)
    assert thumbnail not in (files.read("page.css") or b"").decode()
    assert pictures_in(files) == set()


@pytest.mark.rule("contract P5")
def test_pictures_of_blocked_records_leave_at_once_and_return(gallery: LogoAdmin, files: FolderGalleryFiles) -> None:
    alone, shared = send(gallery, 1), send(gallery, 2)
    blocked, other = logo(gallery, alone.url), logo(gallery, shared.url)
    logo(gallery, shared.url)
    gallery.publication.publish(files)
    for each in (blocked, other):
        gallery.logos.block(BlockLogo(logo_id=each.logo_id, reason="not theirs"))
    gallery.publication.publish(files)
    assert pictures_in(files) == names(shared)
    gallery.logos.amend(AmendLogo(logo_id=blocked.logo_id, active=True, unblock=True))
    gallery.publication.publish(files)
    assert pictures_in(files) == names(alone, shared)


@pytest.mark.rule("contract P5")
def test_the_file_of_a_removed_picture_is_removed_at_once(gallery: LogoAdmin, files: FolderGalleryFiles) -> None:
    picture = send(gallery, 1)
    logo(gallery, picture.url)
    gallery.publication.publish(files)
    gallery.pictures.remove(RemovePicture(picture=picture.picture))
    published = gallery.publication.publish(files)
    assert pictures_in(files) == set()
    assert "picture" not in index_of(files, published)["logos"][0]
