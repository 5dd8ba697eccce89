"""The commands about proposals, and their answers (contract R1 to R3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from logoadmin.domain.changes.bulk_changes import BulkChange, WithSteps
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import Problem
from logoadmin.domain.kernel.limits import (
    CreatedAt,
    DeclineReason,
    Flag,
    Id,
    Origin,
    ProposalId,
    ProposalNote,
    ProposalTitle,
    RequestId,
    Username,
    described,
)
from logoadmin.domain.kernel.lists import ListCommand
from logoadmin.domain.kernel.records import Kind, ListedKind, Version
from logoadmin.domain.publication.css.verdict import RiskName, Verdict
from logoadmin.ports.proposal_storage import ProposalState

MOST_PROPOSED: Final = 20
_PROPOSED: Final = (
    Field(min_length=1, max_length=MOST_PROPOSED),
    described(
        "The changes, as for a bulk change; at most 20, none of which creates a user.",
        [{"kind": "logo", "id": 12, "version": 57, "set": {"name": "Aurora"}}],
    ),
)
_DRY_RUN: Final = described("Whether to return the proposal without storing anything.", True)


class _WithChanges(WithSteps):
    """A command with changes to propose."""

    judges = True

    def _problems_of(self, change: BulkChange) -> Iterator[Problem]:
        """Yield the problems of a change that can be made, but not proposed."""
        if change.kind is Kind.USER and change.create is not None:
            # The password would be stored.
            yield Problem(("create",), "A proposal should create no user", "value_error")
        css = (change.set or change.create or {}).get("custom_css")
        if change.kind is Kind.LOGO and isinstance(css, str) and not css.strip():
            field = "create" if change.set is None else "set"
            yield Problem((field, "custom_css"), "A logo needs CSS", "value_error")


class ProposeChanges(_WithChanges):
    """Changes that somebody with the right is to apply."""

    title: ProposalTitle
    note: ProposalNote = ""
    changes: Annotated[tuple[BulkChange, ...], *_PROPOSED]
    dry_run: Annotated[Flag, _DRY_RUN] = False


class ListProposals(ListCommand):
    """The proposals that the caller sees, or those that match the filters."""

    state: Annotated[ProposalState, described("Proposals in this state.", "waiting")] | None = None
    user_id: Annotated[Id, described("Proposals of this submitter.", 1042)] | None = None


class OneProposal(Command):
    """A command about one proposal."""

    judges = True

    proposal_id: ProposalId


class GetProposal(OneProposal):
    """A proposal by its id."""


class AmendProposal(_WithChanges):
    """New contents of a proposal; fields that are left out stay as they are."""

    proposal_id: ProposalId
    title: ProposalTitle = UNSET
    note: ProposalNote = UNSET
    changes: Annotated[tuple[BulkChange, ...], *_PROPOSED] = UNSET


class ApplyProposal(OneProposal):
    """The changes of a proposal, which requires the write scopes of all their kinds."""

    origin = Origin.PROPOSAL

    dry_run: Annotated[Flag, _DRY_RUN] = False


class DeclineProposal(OneProposal):
    """The decision against a proposal, which requires the same."""

    reason: DeclineReason


class WithdrawProposal(OneProposal):
    """The end of a proposal by its submitter."""


_VALUES = Mapping[str, Any]
_LOGO: Final = {
    "logo_id": 12,
    "name": "Aurora",
    "preview_url": "https://example.org/aurora.png",
    "target": "forum",
    "custom_css": "color: #123",
    "active": True,
    "created_at": 1_800_000_000,
    "author_ids": [7],
}


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A proposed change, with the record before and after it."""

    kind: Annotated[ListedKind, described("The kind of record.", "logo")]
    id: Annotated[Id | None, described("The id of an existing record; `null` for a new one.", 12)]
    version: Annotated[Id | None, described("The version of the existing record, as submitted.", 57)]
    set: Annotated[_VALUES | None, described("The new values, as submitted.", {"name": "Aurora"})]
    block: Annotated[_VALUES | None, described("The reason for a block.", {"reason": "It covers the sign-in form"})]
    remove: Annotated[bool, described("Whether the record is removed.", False)]
    create: Annotated[_VALUES | None, described("The values of a new record.", {"user_id": 1042, "username": "Ann"})]
    before: Annotated[
        _VALUES | None,
        described(
            "The record at the time of the proposal, a theme or logo with its `author_ids`; `null` for a new one.",
            {**_LOGO, "name": "Borealis"},
        ),
    ]
    after: Annotated[
        _VALUES | None,
        described(
            "The record after the change; `null` if it is removed. A new theme or logo without `author_ids` gets the "
            "submitter's own author.",
            _LOGO,
        ),
    ]
    verdict: Annotated[
        Verdict | None,
        described(
            "The verdict on the new CSS of a theme or logo; `null` for other records.",
            {"form": "declarations", "hosts": [], "imports": [], "size": 11, "risks": [], "reason": ""},
        ),
    ] = None
    submitted: Annotated[
        _VALUES | None,
        described("If a reviewer edited the change, the record as its submitter proposed it; `null` otherwise.", None),
    ] = None


@dataclass(frozen=True, slots=True)
class AppliedArtwork:
    """A logo or theme that a proposal created or changed."""

    kind: Annotated[Literal["logo", "theme"], described("The kind of artwork.", "logo")]
    id: Annotated[Id, described("The id of the artwork.", 12)]


@dataclass(frozen=True, slots=True)
class ProposalSummary:
    """A proposal in a list, without its texts."""

    proposal_id: ProposalId
    title: ProposalTitle
    state: Annotated[ProposalState, described("Whether it waits, or how it was decided.", "waiting")]
    user_id: Annotated[int | None, described("The submitter; `null` for the program itself.", 1042)]
    user_name: Annotated[
        Username | None, described("The current username of that user; `null` for a removed user.", "Ann")
    ]
    first_work: Annotated[
        bool, described("Whether it waits, and no proposal of its submitter has been applied yet.", False)
    ]
    counts: Annotated[Mapping[str, int], described("The number of changes by kind of record.", {"logo": 1})]
    names: Annotated[tuple[str, ...], described("The names of the first three logos and themes in it.", ["Aurora"])]
    pictures: Annotated[
        tuple[str, ...],
        described("The preview URLs of the first three logos and themes in it.", ["https://example.org/aurora.png"]),
    ]
    new_hosts: Annotated[
        tuple[str, ...],
        described("The hosts that its CSS contacts and the previous CSS did not; at most 100.", ["fonts.example"]),
    ]
    risks: Annotated[
        tuple[RiskName, ...], described("The risks of its CSS that the previous CSS did not have.", ["overlay"])
    ]
    artworks: Annotated[
        tuple[AppliedArtwork, ...],
        described("The logos and themes that it created or changed when it was applied.", [{"kind": "logo", "id": 12}]),
    ]
    reason: Annotated[
        DeclineReason | None, described("Why it was declined; `null` otherwise.", "The text is hard to read")
    ]
    created_at: CreatedAt
    decided_at: Annotated[
        int | None, described("When it was applied, declined or withdrawn, as Unix time in seconds.", 1_800_000_600)
    ]
    decided_by: Annotated[int | None, described("The user who applied, declined or withdrew it.", 1043)]
    request_id: Annotated[
        RequestId | None, described("The id of the request that applied it, which can be undone.", "8e03978e40d5")
    ]
    undone: Annotated[
        bool, described("Whether it waits again because its changes were undone after it was applied.", False)
    ]
    undone_at: Annotated[int | None, described("When it was undone, as Unix time in seconds.", 1_800_001_200)]
    undone_by: Annotated[RequestId | None, described("The id of the request that undid it.", "91b2c0a4d7e3")]
    undone_user_id: Annotated[int | None, described("The user who undid it.", 1043)]
    undone_user_name: Annotated[
        Username | None, described("The current username of that user; `null` for a removed user.", "Ben")
    ]
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Proposal(ProposalSummary):
    """Proposed changes, and the decision about them."""

    note: ProposalNote
    changes: Annotated[
        tuple[ProposedChange, ...],
        described(
            "The changes, in the order in which they are made; empty once their texts are no longer kept.",
            [
                {
                    "kind": "logo",
                    "id": 12,
                    "version": 57,
                    "set": {"name": "Aurora"},
                    "block": None,
                    "remove": False,
                    "create": None,
                    "before": {**_LOGO, "name": "Borealis"},
                    "after": _LOGO,
                    "verdict": None,
                    "submitted": None,
                }
            ],
        ),
    ]
