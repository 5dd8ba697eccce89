"""Applying a proposal is the same bulk change (contract R3)."""

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.bulk_changes import ApplyChanges
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.changes.import_export import ExportRecords
from logoadmin.domain.changes.proposal_commands import ApplyProposal, ProposeChanges
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in, stock

ARTWORKS: Final = st.sampled_from(["logo", "theme"])
# Of authors that exist, and one that none of the changes creates: proposals name none of those that they create.
AUTHOR_IDS: Final = st.lists(st.sampled_from([1, 2, 9]), unique=True, max_size=3)
NAMES: Final = st.sampled_from(["Ann", "Ben", "Cyd"])


def existing(kinds: st.SearchStrategy[str], **what: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return changes of an existing record, or of one that does not exist and that none of the others creates."""
    ids = st.sampled_from([1, 7, 9])
    return st.fixed_dictionaries({"kind": kinds, "id": ids, "version": st.just(99), **what})


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def created(kinds: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": kinds, "create": values})


def changed_once(changes: list[Any]) -> bool:
    """Return whether no record is changed twice, which proposals refuse."""
    existing_ones = [(change["kind"], change["id"]) for change in changes if "id" in change]
    return len(existing_ones) == len({*existing_ones})


CHANGES: Final = st.lists(
    created(ARTWORKS, some(author_ids=AUTHOR_IDS).map(lambda given: {**ARTWORK, **given}))
    | created(st.just("author"), st.fixed_dictionaries({"user_id": st.integers(101, 104), "username": NAMES}))
    | existing(ARTWORKS, set=some(name=NAMES, active=st.booleans(), author_ids=AUTHOR_IDS))
    | existing(ARTWORKS, block=st.just({"reason": "Ugly"}))
    | existing(st.just("author"), set=some(username=NAMES))
    | existing(st.just("role"), set=some(scope=st.sampled_from([[], ["*"], ["logos:write"]])))
    | existing(st.sampled_from(["logo", "theme", "author", "user", "role"]), remove=st.just(True)),
    min_size=1,
    max_size=5,
).filter(changed_once)


@pytest.mark.rule("contract R3")
@given(changes=CHANGES)
def test_applying_is_what_the_same_bulk_change_is(changes: list[Any]) -> None:
    assert outcome(changes, is_proposed=True) == outcome(changes, is_proposed=False)


def outcome(changes: list[Any], *, is_proposed: bool) -> object:
    """Return whether changes are refused in a stocked gallery, the history apart from origins, and all records."""
    storage = MemoryStorage()
    gallery = gallery_on(storage, FrozenClock())
    stock(gallery)
    caller = replace(signed_in(storage, "*", user_id=600), request_id="one")
    known = gallery.changes.version()
    is_refused = False
    try:
        if is_proposed:
            proposal = gallery.proposals.propose(ProposeChanges(title="A proposal", changes=tuple(changes)), caller)
            gallery.proposals.apply(ApplyProposal(proposal_id=proposal.proposal_id), caller)
        else:
            tuple(gallery.bulk.apply(ApplyChanges(changes=tuple(changes)), caller))
    except LogoAdminError:  # of several reasons, each may name another one
        is_refused = True
    lines: list[str] = []
    gallery.import_export.dump(ExportRecords(), lines.append)
    return is_refused, made_since(gallery, known), lines


def made_since(gallery: LogoAdmin, known: int) -> list[Any]:
    made = gallery.changes.list(ListChanges(after=known))
    return [replace(change, origin=None, submitter_id=None, submitter_name=None) for change in made]
