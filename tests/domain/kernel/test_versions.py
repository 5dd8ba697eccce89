"""Versions of records and of lists, and conditions on them (contract F1)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin import ListChanges, LogoAdmin, Outdated, RemoveFactor, RemoveUserFactors
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.gallery import artworks, authors, picture_commands
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.publication import shared_settings as settings
from tests.gallery import ASKED, FrozenClock, ask, exported, failure, if_match, sample

pytestmark = pytest.mark.rule("contract F1")

# What may be asked of a record in one version only, and what reads it.
CONDITIONAL: Final[dict[type[Command], Command]] = {
    **dict.fromkeys(
        (users.AmendUser, users.RemoveUser, users.RemoveAvatar, users.SetPassword), users.GetUser(user_id=7)
    ),
    **dict.fromkeys((roles.AmendRole, roles.RemoveRole), roles.GetRole(role_id=3)),
    **dict.fromkeys((authors.AmendAuthor, authors.RemoveAuthor), authors.GetAuthor(author_id=1)),
    **dict.fromkeys((artworks.AmendLogo, artworks.BlockLogo, artworks.RemoveLogo), artworks.GetLogo(logo_id=1)),
    **dict.fromkeys((artworks.UnlinkLogoAuthor, artworks.RemoveLogoAuthor), artworks.GetLogo(logo_id=1)),
    **dict.fromkeys((artworks.AmendTheme, artworks.BlockTheme, artworks.RemoveTheme), artworks.GetTheme(theme_id=1)),
    **dict.fromkeys((artworks.UnlinkThemeAuthor, artworks.RemoveThemeAuthor), artworks.GetTheme(theme_id=1)),
}

OF_ARTWORKS: Final[list[tuple[str, Any]]] = [
    *(("name", "Boreal"), ("preview_url", "http://example.org/b"), ("target", "shop")),
    *(("custom_css", ""), ("active", False)),
]
# New values of each field that can be amended, one after the other.
AMENDED: Final[dict[type[Command], list[tuple[str, Any]]]] = {
    users.AmendUser: [("username", "Anna"), ("avatar", None), ("avatar", ""), ("role_id", 2)],
    roles.AmendRole: [("name", "brush"), ("scope", ()), ("scope", ("*",))],
    authors.AmendAuthor: [("user_id", 8), ("username", "Anna")],
    artworks.AmendLogo: OF_ARTWORKS,
    artworks.AmendTheme: OF_ARTWORKS,
}


@pytest.mark.rule("spec §Endpoints 5", "spec §Endpoints 7", "spec §Rules 2", "contract A4", "contract D users")
@pytest.mark.rule("contract D roles", "contract D logos", "contract D themes")
@pytest.mark.parametrize("kind", AMENDED)
def test_amending_sets_one_value_and_keeps_others(stocked: LogoAdmin, clock: FrozenClock, kind: type[Command]) -> None:
    look = CONDITIONAL[kind]
    record = ask(stocked, look)
    clock.pass_by(60)
    assert ask(stocked, kind(**look.model_dump())) == record
    for name, value in AMENDED[kind]:
        record = replace(record, **{name: value})
        assert ask(stocked, kind(**look.model_dump(), **{name: value})) == record
        assert ask(stocked, look) == record


def last(gallery: LogoAdmin) -> int:
    return gallery.changes.list(ListChanges()).version


# Without a version: a key, session, factor or picture exists or does not, and preferences are replaced as a whole.
# The settings have their first version from their first change on, see tests/domain/gallery/test_shared_settings.py.
UNVERSIONED: Final = {
    *(keys.RemoveKey, RemoveFactor, RemoveUserFactors),
    *(sessions.RemoveSession, sessions.RemoveUserSession, sessions.RemoveUserSessions),
    *(users.SetPreferences, settings.AmendSettings, picture_commands.RemovePicture),
    # Its versions are its own; see tests/domain/changes/test_proposals.py.
    proposals.AmendProposal,
}


def test_every_amendment_and_removal_can_be_conditional() -> None:
    amending = ("Amend", "Block", "Remove", "Unlink", "Set")
    assert set(CONDITIONAL) == {
        kind for kind in ASKED if kind.__name__.startswith(amending) and kind not in UNVERSIONED
    }


@pytest.mark.parametrize("kind", CONDITIONAL)
def test_a_record_is_changed_only_in_the_expected_version(stocked: LogoAdmin, kind: type[Command]) -> None:
    seen = version_of(ask(stocked, CONDITIONAL[kind]))
    assert seen > 0
    before = exported(stocked), last(stocked)
    for versions in ((), (0,), (seen - 1, seen + 1), (-seen,)):
        with pytest.raises(Outdated) as caught:
            ask(stocked, if_match(sample(kind), *versions))
        assert str(caught.value) == f"{caught.value.what} {caught.value.id} was changed since"
        assert caught.value.what in ("User", "Role", "Author", "Logo", "Theme")
    assert (exported(stocked), last(stocked)) == before
    ask(stocked, if_match(sample(kind), 999, seen))
    assert last(stocked) == before[1] + 1


def test_a_version_never_comes_back(stocked: LogoAdmin) -> None:
    """Removing the author whose link raised the version must not lower it again."""
    seen: set[int] = set()
    does: list[Callable[[], object]] = [
        lambda: stocked.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=2)),
        lambda: stocked.authors.amend(authors.AmendAuthor(author_id=2, username="renamed")),
        lambda: stocked.logos.unlink(artworks.UnlinkLogoAuthor(logo_id=1, author_id=2)),
        lambda: stocked.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=2)),
        lambda: stocked.authors.remove(authors.RemoveAuthor(author_id=2)),
    ]
    for do in does:
        do()
        version = version_of(stocked.logos.get(artworks.GetLogo(logo_id=1)))
        assert version > max(seen, default=0)
        seen.add(version)


def test_a_reused_id_does_not_bring_its_versions_back(stocked: LogoAdmin) -> None:
    seen = version_of(stocked.users.get(users.GetUser(user_id=7)))
    stocked.users.remove(users.RemoveUser(user_id=7))
    stocked.users.create(users.CreateUser(user_id=7, username="ann", avatar="a.png", password="pw"))
    assert version_of(stocked.users.get(users.GetUser(user_id=7))) > seen
    assert failure(stocked.users.remove, if_match(users.RemoveUser(user_id=7), seen)) is Outdated


@pytest.mark.rule("contract E3", "contract E2")
def test_a_partial_list_has_the_version_of_the_whole_list(stocked: LogoAdmin) -> None:
    stocked.logos.amend(artworks.AmendLogo(logo_id=1, name="other"))
    parts: list[dict[str, Any]] = [{}, {"limit": 1}, {"after": 1}, {"q": "nobody is called so"}]
    for part in parts:
        assert stocked.logos.list(artworks.ListLogos(**part)).version == last(stocked)
    author = artworks.ListAuthorLogos(author_id=1)
    assert stocked.logos.of_author(author).version == last(stocked)
    assert stocked.themes.of_author(artworks.ListAuthorThemes(author_id=1)).version == 11
