"""The pages of works and authors, written in full at publication (contract Q1, Q5)."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, Final

import pytest

from logoadmin import AmendAuthor, AmendSettings, CreateAuthor, CreateLogo, CreateTheme, LogoAdmin, SendPicture
from logoadmin.domain.gallery.artworks import AmendTheme, BlockTheme, LinkThemeAuthor, RemoveTheme
from logoadmin.domain.kernel.kinds import picture_names
from logoadmin.domain.publication import publication_service
from logoadmin.domain.publication.files.file_names import CHANGING_NAME
from logoadmin.domain.publication.files.gallery_pages import Effect, effects_of
from logoadmin.domain.publication.publication_records import POINTER
from tests.gallery import PIXEL
from tests.published_files import FullFiles, RecordedFiles, opened

pytestmark = pytest.mark.rule("contract Q1")

PAGES: Final = "/index.html"
ATOM: Final = "{http://www.w3.org/2005/Atom}"
G: Final = "https://g.example"
THEME: Final[dict[str, Any]] = {"preview_url": "https://i.example/a.png", "target": "forum.example", "active": True}


@pytest.fixture
def files() -> RecordedFiles:
    return RecordedFiles()


@pytest.fixture
def gallery() -> Iterator[LogoAdmin]:
    with opened() as found:
        yield found


def theme(gallery: LogoAdmin, name: str, *author_ids: int, css: str = "a { color: red }") -> int:
    made = gallery.themes.create(CreateTheme(name=name, custom_css=css, **THEME))
    for author_id in author_ids:
        gallery.themes.link(LinkThemeAuthor(theme_id=made.theme_id, author_id=author_id))
    return made.theme_id


def test_every_work_and_author_has_a_page_until_it_is_removed(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.authors.create(CreateAuthor(user_id=1, username="Ann"))
    theme(gallery, "Dawn", 1)
    theme(gallery, "Dusk")
    gallery.logos.create(CreateLogo(name="Crown", custom_css="color: red", **THEME))
    gallery.publication.publish(files)
    works = {"themes/1/index.html", "themes/2/index.html", "logos/1/index.html"}
    assert {*files.ending_in(PAGES)} == {*works, "authors/1/index.html", "checks/index.html"}
    assert all(CHANGING_NAME.fullmatch(name) for name in files.ending_in(PAGES))
    assert 'href="../../authors/1/"><bdi>Ann</bdi>' in files.text("themes/1/index.html")
    gallery.themes.remove(RemoveTheme(theme_id=1))
    gallery.publication.publish(files)
    assert {*files.ending_in(PAGES)} == {"themes/2/index.html", "logos/1/index.html", "checks/index.html"}


def test_only_pages_whose_content_changed_are_written(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.authors.create(CreateAuthor(user_id=1, username="Ann"))
    for number in range(20):
        theme(gallery, f"Theme {number}", 1)
    theme(gallery, "Apart")
    gallery.authors.create(CreateAuthor(user_id=2, username="Ben"))
    gallery.themes.link(LinkThemeAuthor(theme_id=10, author_id=2))
    assert len(files.written_by(gallery, PAGES)) == 24
    assert files.written_by(gallery, PAGES) == set()
    gallery.themes.amend(AmendTheme(theme_id=21, name="Aside"))
    assert files.written_by(gallery, PAGES) == {"themes/21/index.html"}
    gallery.themes.amend(AmendTheme(theme_id=10, name="Tenth"))
    # Those that show it: the four before it, and that of its author.
    shown = {f"themes/{number}/index.html" for number in range(6, 11)}
    assert files.written_by(gallery, PAGES) == {*shown, "authors/1/index.html", "authors/2/index.html"}
    gallery.authors.amend(AmendAuthor(author_id=1, username="Anna"))
    assert len(files.written_by(gallery, PAGES)) == 22
    assert "<name>Anna</name>" in files.text("feed.xml")
    gallery.authors.amend(AmendAuthor(author_id=2, username="Benedict"))
    gallery.publication.publish(files)
    assert "Benedict" in files.text("themes/9/index.html")  # which shows other works of Anna
    gallery.settings.amend(AmendSettings(gallery_title="Others"))
    assert len(files.written_by(gallery, PAGES)) == 24
    assert "Others</title>" in files.text("themes/1/index.html")


def publish_only_blocks(gallery: LogoAdmin, files: RecordedFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(gallery.publication, "generate", None)
        with pytest.raises(TypeError):  # once the block has been published
            gallery.publication.publish(files)


@pytest.mark.rule("contract L3", "contract Q1", "contract Q5")
def test_a_blocked_work_keeps_a_page_with_the_reason(monkeypatch: pytest.MonkeyPatch, files: RecordedFiles) -> None:
    with opened(public_url="https://g.example") as gallery:
        gallery.authors.create(CreateAuthor(user_id=1, username="Ann"))
        for name in ("Dawn", "Dusk", 'href="themes/1/"'):
            theme(gallery, name, 1)
        theme(gallery, "Of nobody")
        gallery.publication.publish(files)
        gallery.themes.block(BlockTheme(theme_id=1, reason="tracks <readers>"))
        files.written.clear()

        publish_only_blocks(gallery, files, monkeypatch)
        page = files.text("themes/1/index.html")
        assert "tracks &lt;readers&gt;" in page
        assert "Dawn" not in page
        assert "noindex" in page
        # First the pages that list it, so that an interrupted run finds them again; last the pointer.
        listing = ["feed.xml", "sitemap.xml", "authors/1/index.html", "themes/2/index.html", "themes/3/index.html"]
        written = [name for name in files.written if not name.startswith(".")]
        assert written == [*listing, "themes/1/index.html", POINTER]
        for _ in range(2):
            assert [name for name in listing if "/themes/1/" in files.text(name)] == []
            assert [name for name in listing if "themes/2/" in files.text(name)] == listing
            assert ET.fromstring(files.text("feed.xml")) is not None
            gallery.publication.publish(files)
        assert files.text("themes/1/index.html") == page
        gallery.themes.amend(AmendTheme(theme_id=1, active=True, unblock=True))
        gallery.publication.publish(files)
        for name in ("themes/1/index.html", *listing):
            assert "themes/1/" in files.text(name), name


@pytest.mark.rule("contract L1", "contract Q1")
@pytest.mark.parametrize("theme_id", [1, 14, 20])
def test_no_page_of_busy_authors_lists_a_blocked_work(
    theme_id: int, monkeypatch: pytest.MonkeyPatch, gallery: LogoAdmin, files: RecordedFiles
) -> None:
    for number in (1, 2):
        gallery.authors.create(CreateAuthor(user_id=number, username=f"Author {number}"))
    for number in range(1, 21):
        theme(gallery, f"Theme {number}", *((1, 2) if number % 3 else (2,)))
    gallery.publication.publish(files)
    link = f"/themes/{theme_id}/"
    listing = {name for name in files.ending_in(PAGES) if link in files.text(name)}
    assert len(listing) > 5
    gallery.themes.block(BlockTheme(theme_id=theme_id, reason="tracks readers"))
    publish_only_blocks(gallery, files, monkeypatch)
    assert not [name for name in files.ending_in(PAGES) if link in files.text(name)]


@pytest.mark.rule("contract L1", "contract Q1")
def test_a_block_is_published_while_many_pages_are_being_written(
    monkeypatch: pytest.MonkeyPatch, gallery: LogoAdmin, files: RecordedFiles
) -> None:
    monkeypatch.setattr(publication_service, "LOOK_EVERY", 0.0)
    for number in range(6):
        theme(gallery, f"Theme {number}")
    gallery.publication.publish(files)
    gallery.settings.amend(AmendSettings(gallery_title="Others"))
    files.written.clear()
    write = RecordedFiles.write

    def blocking(self: RecordedFiles, name: str, content: bytes) -> None:
        write(self, name, content)
        if name == "themes/3/index.html" and b"Theme" in content:
            gallery.themes.block(BlockTheme(theme_id=1, reason="tracks readers"))

    monkeypatch.setattr(RecordedFiles, "write", blocking)
    gallery.publication.publish(files)
    pages = [name for name in files.written if name.startswith("themes/") and name.endswith("/index.html")]
    # What was written is not written again.
    assert pages == [f"themes/{number}/index.html" for number in (1, 2, 3, 1, 4, 5, 6)]
    assert "tracks readers" in files.text("themes/1/index.html")


@pytest.mark.rule("contract L1", "contract P5", "contract Q1")
def test_on_a_full_disk_a_block_is_published_and_the_files_of_the_work_are_removed(
    gallery: LogoAdmin, files: RecordedFiles
) -> None:
    picture = gallery.pictures.send(SendPicture(), PIXEL)
    gallery.themes.create(CreateTheme(name="Dawn", custom_css="a {}", **THEME | {"preview_url": picture.url}))
    gallery.publication.publish(files)
    before = files.pointer
    own = {"themes/1/index.html", "themes/1.user.css", *picture_names([picture.picture])}
    assert own <= {*files.names()}
    gallery.themes.block(BlockTheme(theme_id=1, reason="tracks readers"))
    full = FullFiles(files.files)
    with pytest.raises(OSError, match="No space"):
        gallery.publication.publish(full)
    assert own & {*full.names()} == set()
    assert [(each["id"], each["reason"]) for each in files.pointer.blocked] == [(1, "tracks readers")]
    assert (files.pointer.index, files.pointer.withdrawn) == (before.index, before.withdrawn)
    assert files.pointer.paths <= {*full.names()}
    # The full publication follows when there is space again.
    assert gallery.publication.publish(files).changed
    assert files.index["themes"] == []
    assert "tracks readers" in files.text("themes/1/index.html")


def test_texts_are_escaped_and_the_css_is_shown_without_a_script(files: RecordedFiles) -> None:
    with opened(public_url="https://g.example", gallery_report="mailto:us@g.example?body={url}") as gallery:
        theme(gallery, '<script>"&', css="a::before { content: '</code></pre><script>' }")
        theme(gallery, "Long", css="a { color: red }" * 200)
        theme(gallery, "A picture alone", css="")
        gallery.publication.publish(files)
        page = files.text("themes/1/index.html")
        assert set(re.findall(r"<script\b[^>]*>", page)) == {
            '<script type="application/ld+json">', '<script type="module" src="../../page-work.js">'
        }  # fmt: skip
        assert "content: &#39;&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;&#39;" in page
        assert '<link rel="canonical" href="https://g.example/gallery/themes/1/" />' in page
        assert '<meta property="og:image" content="https://i.example/a.png" />' in page
        assert 'href="mailto:us@g.example?body=https%3A%2F%2Fg.example%2Fgallery%2Fthemes%2F1%2F"' in page
        assert 'href="../../themes/1.user.css"' in page
        (path,) = {*re.findall(r'href="\.\./\.\./(css/[0-9a-f]{64}\.css)"', files.text("themes/2/index.html"))}
        assert path in files.names()
        # Nothing to install or copy.
        alone = files.text("themes/3/index.html")
        assert [each in alone for each in (".user.css", 'class="copy', "This work has no CSS")] == [False, False, True]


@pytest.mark.rule("contract L4", "contract Q1")
def test_the_effects_of_css_are_described_in_sentences() -> None:
    risks = [{"risk": risk} for risk in ("overlay", "animation", "overlay")]
    verdict = {"hosts": ["own.example", "i.example"], "imports": [{"url": "https://s.example/"}], "risks": risks}
    assert [*effects_of(verdict, "own.example")] == [
        *(Effect("note", "contacts", "i.example"), Effect("bad", "unpinned", "https://s.example/")),
        *(Effect("bad", "overlay"), Effect("note", "animation")),
    ]
    good = [Effect("good", "contacts_nobody"), Effect("good", "no_risks")]
    assert [*effects_of({"hosts": ["own.example"]}, "own.example")] == good


@pytest.mark.rule("contract Q5")
def test_the_feed_has_the_newest_fifty_as_well_formed_atom(files: RecordedFiles) -> None:
    with opened(public_url="https://g.example") as gallery:
        for number in range(52):
            theme(gallery, f"Theme {number} \x08\ud7ff<&")
        gallery.themes.amend(AmendTheme(theme_id=1, name="Renewed"))
        gallery.publication.publish(files)
        feed = ET.fromstring(files.text("feed.xml"))
        entries = feed.findall(f"{ATOM}entry")
        assert len(entries) == 50
        assert [entry.findtext(f"{ATOM}title") for entry in entries[:2]] == ["Renewed", "Theme 51 \ud7ff<&"]
        assert feed.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")
        assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == 50
        assert [link.get("href") for link in entries[0].findall(f"{ATOM}link")] == [f"{G}/gallery/themes/1/"]
        assert '<img src="https://i.example/a.png"' in (entries[0].findtext(f"{ATOM}content") or "")
        again = files.read("feed.xml")
        gallery.publication.publish(files)
        assert files.read("feed.xml") == again


@pytest.mark.rule("contract Q5")
@pytest.mark.parametrize(("given", "has_one"), [({"public_url": "https://g.example"}, True), ({}, False)])
def test_the_sitemap_lists_every_page_where_the_public_url_is_known(
    given: dict[str, str], has_one: bool, files: RecordedFiles
) -> None:
    with opened(**given) as gallery:
        theme(gallery, "Dawn")
        gallery.publication.publish(files)
        assert ("sitemap.xml" in files.names()) == has_one
        assert ("canonical" in files.text("themes/1/index.html")) == has_one
        listed = re.findall(r"<loc>https://g\.example/gallery/(.*?)</loc>", files.text("sitemap.xml"))
        assert listed == (["", "checks/", "themes/1/"] if has_one else [])


@pytest.mark.rule("contract L2", "contract S1", "contract Q1")
def test_the_page_of_a_work_shows_its_details(gallery: LogoAdmin, files: RecordedFiles) -> None:
    details = {
        "description": "Calm & dark", "text": "# Colours\n\n*Deep* <b>blue</b>", "tags": ["dark"], "licence": "MIT",
        "version": "2.1", "source": "https://source.example/", "screenshots": [{"url": "https://i.example/b.png"}],
    }  # fmt: skip
    sent = gallery.pictures.send(SendPicture(), PIXEL)
    own = {"name": "Dawn", "custom_css": "", "details": details, "preview_url": sent.url}
    gallery.themes.create(CreateTheme(**THEME | own))
    gallery.publication.publish(files)
    page = files.text("themes/1/index.html")
    assert f"pictures/{sent.picture}.webp" in page
    assert "og:image" not in page  # whose address needs a public URL
    for part in (
        '<meta name="description" content="Calm &amp; dark" />', '<h3 dir="auto">Colours</h3>', "2.1", ">MIT<",
        "<em>Deep</em> &lt;b&gt;blue", 'href="../../#/?tag=dark"', 'href="https://source.example/"',
        'src="https://i.example/b.png"',
    ):  # fmt: skip
        assert part in page
    assert "Calm &amp; dark" in files.text("feed.xml")
    shown = files.index["themes"][0]["details"]
    assert shown == {name: value for name, value in details.items() if name != "text"}
    gallery.themes.amend(AmendTheme.model_validate({"theme_id": 1, "details": {"text": "Another story"}}))
    gallery.publication.publish(files)
    assert "Another story" in files.text("themes/1/index.html")


@pytest.mark.rule("contract S1", "contract Q1")
def test_the_origin_id_of_a_work_redirects_to_its_page(gallery: LogoAdmin, files: RecordedFiles) -> None:
    for origin in ("aurora-17", "..", "2", "1.user.css", "Aurora-17"):
        made = {"name": origin, "custom_css": "", "details": {"origin": origin, "description": "A & B"}}
        gallery.themes.create(CreateTheme(**THEME | made))
    gallery.publication.publish(files)
    own = {f"themes/{number}/index.html" for number in range(1, 6)}
    assert {*files.ending_in(PAGES)} == {*own, "themes/aurora-17/index.html", "checks/index.html"}
    assert 'content="0; url=../../themes/1/"' in files.text("themes/aurora-17/index.html")
    assert "refresh" not in files.text("themes/2/index.html")


def test_no_page_name_escapes_its_folder() -> None:
    for folder in ("..", "themes/..", "themes/.a", "themes/1.user.css", "themes/1.User.CSS", "themes/a/b", "authors/a"):
        assert CHANGING_NAME.fullmatch(f"{folder}/index.html") is None, folder
