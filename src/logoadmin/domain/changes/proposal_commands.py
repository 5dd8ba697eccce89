"""The commands about proposals (contract R1 to R3)."""

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, PrivateAttr

from logoadmin.domain.changes.bulk_changes import BulkChange, Step, steps_of
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.kinds import LOGOS, USERS
from logoadmin.domain.kernel.limits import (
    DeclineReason,
    Flag,
    Id,
    Origin,
    ProposalId,
    ProposalNote,
    ProposalTitle,
    described,
)
from logoadmin.domain.kernel.lists import ListCommand
from logoadmin.ports.proposal_storage import ProposalState

MOST_PROPOSED: Final = 20
_PROPOSED: Final = (
    Field(min_length=1, max_length=MOST_PROPOSED),
    described(
        "The changes, as in bulk; at most 20, and none creates a user.",
        [{"kind": "logo", "id": 12, "version": 57, "set": {"name": "Aurora"}}],
    ),
)
_DRY_RUN: Final = described("Whether to return the proposal without storing anything.", True)


class _WithChanges(Command):
    """A command with changes to propose."""

    judges = True

    _steps: tuple[Step, ...] = PrivateAttr(())

    def model_post_init(self, _context: object, /) -> None:
        """Make the commands of the changes.

        Raises:
            InvalidInput: some of them are not valid; it has all problems.
        """
        changes = getattr(self, "changes", UNSET)
        self._steps = () if changes is UNSET else _steps_of(changes)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The commands of the changes."""
        return self._steps


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


def _steps_of(changes: Sequence[BulkChange]) -> tuple[Step, ...]:
    steps = steps_of(changes)
    problems: list[Problem] = []
    for place, (change, step) in enumerate(zip(changes, steps, strict=True)):
        if step.kind is USERS and step.verb == "create":
            # The password would be stored.
            problems.append(Problem(("changes", place, "create"), "A proposal should create no user", "value_error"))
        css = (change.set or change.create or {}).get("custom_css")
        if step.kind is LOGOS and css is not None and not css.strip():
            field = "create" if change.set is None else "set"
            problems.append(Problem(("changes", place, field, "custom_css"), "A logo needs CSS", "value_error"))
    if problems:
        raise InvalidInput(problems)
    return steps
