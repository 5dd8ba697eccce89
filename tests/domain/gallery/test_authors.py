"""Authors (spec §Endpoints 6 and 7, contract A6 to A9, A14, A18, D)."""

import pytest

from logoadmin import Author, CreateAuthor, LogoAdmin, RemoveAuthor, RemovedAuthor
from logoadmin.domain.gallery import artworks
from tests.gallery import ARTWORK, NOW


def create(gallery: LogoAdmin, user_id: int, username: str) -> Author:
    return gallery.authors.create(CreateAuthor(user_id=user_id, username=username))


@pytest.mark.rule("spec §Resources", "spec §Endpoints 6", "contract A10", "contract A14")
def test_a_new_author_gets_the_next_id_and_need_not_exist_as_a_user(gallery: LogoAdmin) -> None:
    assert create(gallery, 0, "Ann") == Author(1, 0, "Ann", NOW)
    assert create(gallery, 2_147_483_647, "Ben") == Author(2, 2_147_483_647, "Ben", NOW)


@pytest.mark.rule("contract D authors")
def test_removing_an_author_removes_the_links_and_leaves_the_artworks(stocked: LogoAdmin) -> None:
    stocked.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=2))
    assert stocked.authors.remove(RemoveAuthor(author_id=1)) == RemovedAuthor(1)
    left = stocked.logos.authors(artworks.ListLogoAuthors(logo_id=1))
    assert [author.author_id for author in left] == [2]
    assert tuple(stocked.themes.authors(artworks.ListThemeAuthors(theme_id=1))) == ()
    assert create(stocked, 101, "Ann").author_id == 3


@pytest.mark.rule("contract D authors", "contract A18")
def test_the_artworks_of_an_author_are_listed_by_id_with_all_their_authors(stocked: LogoAdmin) -> None:
    for logo_id, author_ids in {2: (), 3: (2, 1), 4: (2,)}.items():
        stocked.logos.create(artworks.CreateLogo(**ARTWORK))
        for author_id in author_ids:
            stocked.logos.link(artworks.LinkLogoAuthor(logo_id=logo_id, author_id=author_id))
    made = list(stocked.logos.of_author(artworks.ListAuthorLogos(author_id=1)))
    assert [(logo.logo_id, [author.author_id for author in logo.authors]) for logo in made] == [(1, [1]), (3, [2, 1])]
    assert [theme.theme_id for theme in stocked.themes.of_author(artworks.ListAuthorThemes(author_id=1))] == [1]
    assert list(stocked.themes.of_author(artworks.ListAuthorThemes(author_id=2))) == []
