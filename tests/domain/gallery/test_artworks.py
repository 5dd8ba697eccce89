"""Logos and themes, which are alike (spec §Endpoints 8 to 12, contract A9, A15 to A18, D)."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import pytest

from logoadmin import ANONYMOUS, AmendAuthor, GetAuthor, LogoAdmin, NotAuthenticated, NotFound, NotPermitted
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery import artworks
from logoadmin.domain.gallery.picture_mirror import NameCopies, PictureMirror
from logoadmin.domain.kernel.records import (
    Author,
    Logo,
    LogoAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Theme,
    ThemeAuthor,
)
from tests.gallery import ARTWORK, NOW, failure, signed_in


@dataclass(frozen=True)
class Kind:
    """One of the two kinds: its names, commands and results."""

    name: str
    service: Callable[[LogoAdmin], Any]
    record: Any
    link: Any
    removed: Any
    removed_link: Any

    def asked(self, pattern: str, **values: Any) -> Any:
        """Make the command whose name matches a pattern, such as ``Get{}``."""
        return getattr(artworks, pattern.format(self.name))(**values)

    def of(self, artwork_id: int, **values: Any) -> dict[str, Any]:
        return {f"{self.name.lower()}_id": artwork_id, **values}


KINDS = [
    Kind("Logo", lambda gallery: gallery.logos, Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor),
    Kind("Theme", lambda gallery: gallery.themes, Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor),
]
BOTH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
RECORDS = pytest.mark.rule("contract D logos", "contract D themes")

ANN, BEN = Author(1, 101, "Ann", NOW), Author(2, 102, "Ben", NOW)


@pytest.mark.rule("spec §Resources", "contract D themes")
@BOTH
def test_an_artwork_has_the_fields_of_the_specification_and_its_details(kind: Kind) -> None:
    expected = ["name", "preview_url", "target", "custom_css", "details", "active", "authors", "created_at"]
    assert [field.name for field in fields(kind.record)] == [f"{kind.name.lower()}_id", *expected, "version"]


@RECORDS
@pytest.mark.rule("contract A10")
@BOTH
def test_a_new_artwork_gets_the_next_id_and_has_no_authors(gallery: LogoAdmin, kind: Kind) -> None:
    service = kind.service(gallery)
    for id_ in (1, 2):
        made = service.create(kind.asked("Create{}", **ARTWORK))
        assert made == kind.record(id_, *ARTWORK.values(), (), NOW)
        assert service.get(kind.asked("Get{}", **kind.of(id_))) == made


@pytest.mark.rule("spec §Endpoints 10", "contract A15", "contract D logos", "contract D themes")
@BOTH
def test_removing_an_artwork_removes_its_links_and_leaves_the_authors(stocked: LogoAdmin, kind: Kind) -> None:
    service = kind.service(stocked)
    assert service.remove(kind.asked("Remove{}", **kind.of(1))) == kind.removed(1)
    assert failure(service.get, kind.asked("Get{}", **kind.of(1))) is NotFound
    assert stocked.authors.get(GetAuthor(author_id=1)) == ANN
    made = service.create(kind.asked("Create{}", **ARTWORK))
    assert made == kind.record(2, *ARTWORK.values(), (), NOW)  # neither its id nor its links come back


@pytest.mark.rule("spec §Endpoints 12", "spec §Rules 5", "contract A16", "contract D themes")
@BOTH
def test_linking_twice_returns_the_existing_link(stocked: LogoAdmin, kind: Kind) -> None:
    service = kind.service(stocked)
    ask = kind.asked("Link{}Author", **kind.of(1, author_id=2))
    assert service.link(ask) == kind.link(2, 1, 2)
    assert service.link(ask) == kind.link(2, 1, 2)
    assert tuple(service.authors(kind.asked("List{}Authors", **kind.of(1)))) == (ANN, BEN)


@pytest.mark.rule("spec §Endpoints 8", "contract A17", "contract D logos")
@pytest.mark.parametrize(("call", "pattern"), [("unlink", "Unlink{}Author"), ("remove_author", "Remove{}Author")])
@BOTH
def test_unlinking_an_author_returns_both_ids(stocked: LogoAdmin, kind: Kind, call: str, pattern: str) -> None:
    service = kind.service(stocked)
    ask = kind.asked(pattern, **kind.of(1, author_id=1))
    assert getattr(service, call)(ask) == kind.removed_link(1, 1)
    assert tuple(service.authors(kind.asked("List{}Authors", **kind.of(1)))) == ()
    with pytest.raises(NotFound, match=f"^Author 1 not found on {kind.name.lower()} 1$"):
        getattr(service, call)(ask)


@pytest.mark.rule("spec §Endpoints 11", "spec §Rules 6", "contract A18")
@BOTH
def test_authors_are_in_the_order_they_were_linked(stocked: LogoAdmin, kind: Kind) -> None:
    service = kind.service(stocked)
    service.link(kind.asked("Link{}Author", **kind.of(1, author_id=2)))
    service.unlink(kind.asked("Unlink{}Author", **kind.of(1, author_id=1)))
    assert service.link(kind.asked("Link{}Author", **kind.of(1, author_id=1))) == kind.link(3, 1, 1)
    assert tuple(service.authors(kind.asked("List{}Authors", **kind.of(1)))) == (BEN, ANN)
    stocked.authors.amend(AmendAuthor(author_id=1, username="Anna"))
    ben, anna = service.get(kind.asked("Get{}", **kind.of(1))).authors
    assert (ben, anna.author_id, anna.username) == (BEN, 1, "Anna")  # with their current values


@RECORDS
def test_logos_and_themes_do_not_share_links(stocked: LogoAdmin) -> None:
    stocked.logos.unlink(artworks.UnlinkLogoAuthor(logo_id=1, author_id=1))
    assert tuple(stocked.themes.authors(artworks.ListThemeAuthors(theme_id=1))) == (ANN,)


@pytest.mark.rule("contract B6", "contract P3")
def test_only_the_program_replaces_pictures_by_copies(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """The copies are not user input: nothing checks their addresses."""
    mirror = PictureMirror(stocked.pictures)
    for caller, refusal in ((ANONYMOUS, NotAuthenticated), (signed_in(storage, "*"), NotPermitted)):
        with pytest.raises(refusal):
            mirror.name(NameCopies(copies=()), caller)
    assert mirror.name(NameCopies(copies=())) == 0
