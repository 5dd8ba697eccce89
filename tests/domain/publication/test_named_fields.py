"""Fields are published, and set by submitters, only if the row of their kind names them (contract L1, R2)."""

from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.bulk_changes import ApplyChanges
from logoadmin.domain.changes.proposal_commands import ProposeChanges
from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, CreateLogo, CreateTheme
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.domain.kernel.kinds import KINDS, LOGOS
from logoadmin.domain.kernel.records import Kind, Logo
from logoadmin.domain.publication.files.index import IndexBuilder
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in

# Written by hand, so that naming a field needs two changes.
DETAILS: Final = tuple(
    f"details.{name}"
    for name in (
        *("description", "text", "homepage", "source", "support", "licence", "version", "tags", "screenshots"),
    )
)
PUBLISHED: Final = ("name", "preview_url", "target", "custom_css", "active", "created_at", *DETAILS, "details.origin")
SETTABLE: Final = ("name", "preview_url", "target", "custom_css", "author_ids", *DETAILS)
COMMANDS: Final[dict[Kind, tuple[type[Command], type[Command]]]] = {
    Kind.LOGO: (CreateLogo, AmendLogo),
    Kind.THEME: (CreateTheme, AmendTheme),
    Kind.AUTHOR: (CreateAuthor, AmendAuthor),
}
VALUES: Final[dict[str, Any]] = {**ARTWORK, "active": False, "unblock": True, "user_id": 102, "username": "Eve"}


def test_the_named_fields_are_these() -> None:
    assert {kind: (row.published, row.settable) for kind, row in KINDS.items()} == {
        Kind.ROLE: ((), ()),
        Kind.USER: ((), ()),
        Kind.AUTHOR: (("author_id", "user_id", "username", "created_at"), ("username",)),
        Kind.THEME: (("theme_id", *PUBLISHED), SETTABLE),
        Kind.LOGO: (("logo_id", *PUBLISHED), SETTABLE),
    }


@dataclass(frozen=True, slots=True)
class LogoWithNote(Logo):
    """A logo with a new field."""

    note: str = field(default="for reviewers", kw_only=True)


@pytest.mark.rule("contract L1")
def test_a_new_field_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(LOGOS, record=LogoWithNote)
    assert "note" in row.stored_fields
    monkeypatch.setitem(cast("dict[Kind, Any]", KINDS), Kind.LOGO, row)
    builder = IndexBuilder()
    logo = LogoWithNote(1, "Aurora", "", "forum", "", True, (), 1)
    builder.add(Kind.LOGO, logo, "", {}, {})
    body = builder.index(1).body
    assert b"Aurora" in body
    assert b"for reviewers" not in body


@pytest.mark.rule("contract R2")
@pytest.mark.parametrize("kind", COMMANDS)
def test_a_new_field_is_not_set_by_submitters(kind: Kind) -> None:
    """Whatever fields the commands have: those that are not named are refused."""
    storage = MemoryStorage()
    gallery = gallery_on(storage, FrozenClock())
    gallery.authors.create(CreateAuthor(user_id=101, username="Ann"))
    made = tuple({"kind": each, "create": {**ARTWORK, "author_ids": [1]}} for each in ("logo", "theme"))
    tuple(gallery.bulk.apply(ApplyChanges.model_validate({"changes": made})))
    member = signed_in(storage, "proposals:write", user_id=101)
    row = KINDS[kind]
    create, amend = ({*each.model_fields} - {*Command.model_fields, row.id_field} for each in COMMANDS[kind])
    for name in (create | amend) - {*row.settable} - {"details"}:  # of which each member is named
        change = {"kind": kind, "id": 1, "version": 99, "set": {name: VALUES[name]}}
        with pytest.raises(InvalidInput) as refused:
            gallery.proposals.propose(ProposeChanges.model_validate({"title": "x", "changes": (change,)}), member)
        assert [problem.loc[-1] for problem in refused.value.problems] == [name]
