"""History from before a record had one of its fields, as after an upgrade (contract G4)."""

from typing import Any, Final

import pytest

from logoadmin import Change, Conflict, Kind, LogoAdmin, Revert
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import roles, users
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.kinds import KINDS, AnyKind, ArtworkKind
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import NOW, ask

# A record of a stocked gallery, one of its fields that stands for a newer one, and two values of that.
NEWER: Final = (
    (KINDS[Kind.ROLE], 3, "scope", (), ["a", "b"], roles.AmendRole),
    (KINDS[Kind.USER], 7, "avatar", None, "b.png", users.AmendUser),
    (KINDS[Kind.AUTHOR], 2, "username", "nobody", "Eve", authors.AmendAuthor),
    (KINDS[Kind.THEME], 1, "target", "site", "wiki", artworks.AmendTheme),
    (KINDS[Kind.LOGO], 1, "active", False, True, artworks.AmendLogo),
)


@pytest.mark.rule("contract G2", "contract G4")
@pytest.mark.parametrize(("kind", "id_", "field", "default", "other", "amend"), NEWER)
def test_old_changes_are_undone_with_the_default_of_a_newer_field(
    stocked: LogoAdmin,
    storage: Storage,
    monkeypatch: pytest.MonkeyPatch,
    kind: AnyKind,
    id_: int,
    field: str,
    default: Any,
    other: Any,
    amend: type[Command],
) -> None:
    fields: dict[str, Any] = kind.record.__dataclass_fields__
    monkeypatch.setattr(fields[field], "default", default)
    ask(stocked, amend(**{kind.id_field: id_, field: default}))  # as a migration leaves it

    def stored() -> Any:
        return storage.read(lambda uow: uow.records(kind).get(id_))

    def change(action: str) -> int:
        """Change the record as an earlier version did, which did not know the field; return the id of the change."""

        def work(uow: UnitOfWork) -> int:
            record: Any = uow.records(kind).get(id_)
            after: Any = {**snapshot(kind, record)}
            del after[field]
            if isinstance(kind, ArtworkKind):
                links = uow.links(kind).of_artwork(id_)
                after["authors"] = [{kind.link_id_field: each.link_id, "author_id": each.author_id} for each in links]
            states = {
                "amended": ({**after, "created_at": 5}, after),
                "removed": (after, None),
                "created": (None, after),
            }
            if action == "removed":
                assert uow.records(kind).remove(id_)
            number, what = uow.changes.last_id() + 1, f"{kind.kind}.{action}"
            uow.changes.add([Change(number, NOW, None, what, kind.kind, id_, *states[action], None)])
            return number

        return storage.write(work)

    def undo(change_id: int) -> None:
        stocked.changes.revert(Revert(change_id=change_id))

    before = stored()
    undo(change("removed"))
    assert stored() == before
    number = change("amended")
    ask(stocked, amend(**{kind.id_field: id_, field: other}))
    with pytest.raises(Conflict, match=f"was changed since, by change {number + 1}$"):
        undo(number)
    undo(number + 1)
    assert getattr(stored(), field) == default
    undo(number)
    assert (stored().created_at, getattr(stored(), field)) == (5, default)
    undo(change("created"))
    assert stored() is None
