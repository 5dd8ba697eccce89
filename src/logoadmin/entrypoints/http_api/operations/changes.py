"""The endpoints for the history, bulk changes, submissions, import and export (contract G, I4, J7, R)."""

from typing import Final

from logoadmin.domain.changes import acts, import_export, member_notices
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.changes.acts import Act
from logoadmin.domain.changes.bulk_changes import BulkService
from logoadmin.domain.changes.import_export import ImportedCounts
from logoadmin.domain.changes.proposal_commands import Proposal, ProposalSummary
from logoadmin.domain.changes.proposals import ProposalService
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import Change, ListedKind
from logoadmin.entrypoints.http_api.operation import LEFT_OUT, Operation

# fmt: off
CHANGES_OPERATIONS: Final = (
    Operation("contract G", "GET /api/changes", changes.ListChanges, changes.ChangeService.list, Listing[Change],
              "List changes",
              "Every change of a user, role, author, theme or logo, the oldest first. To follow them, request those "
              "`after` the last one that you have: none is ever missed. `changes:read` alone shows the "
              "usernames, avatars and roles of users, and the scopes of roles."),
    Operation("contract G5", "GET /api/acts", acts.ListActs, acts.ActService.list, Listing[Act], "List acts",
              "What each request did, the oldest first: its changes together, with names as they were then. `after` is "
              "the `change_id` of the last act that you have. The filters find acts with a change that matches. An act "
              "without a `request_id` is one change, undone by its `change_id`. The first 200 changes of an act decide "
              "`fields`, and the first 1,000 `can_undo`; undoing it judges all of them."),
    Operation("contract J7", "POST /api/changes", bulk.ApplyChanges, BulkService.apply, Listing[Change],
              "Make many changes",
              "Creates, changes and removes up to 1,000 records: all of them, or none. Each change requires the scope "
              "of its own operation and follows its rules; `version` is the number in the record's `ETag`. Returns the "
              "changes that were made, which can be undone as one request. With more changes, each further request has "
              "in `continues` the `X-Request-Id` of the first: they are one act with one undo, unless something was "
              "changed between them. An error names the first change that cannot be made by its place, counted from 0: "
              "`Change 3: Logo 12 not found`.", also=(400, 404, 409, 412)),
    Operation("contract G2", "POST /api/changes/{change_id}/revert", changes.Revert, changes.ChangeService.revert,
              Change, "Undo a change",
              "Returns a new change: an amended record gets its old values, a created record is "
              "removed, a removed record is restored. 409 if the record has changed since. Requires the scope "
              "to change such records.", also=(400, 409)),
    Operation("contract G4", "POST /api/changes/revert", changes.RevertRequest, changes.ChangeService.revert_request,
              Listing[Change], "Undo a request",
              "Undoes all changes of one request, such as an import, the newest first, and returns the new changes. "
              "All or nothing: 409 names a record that has changed since. A password "
              "that the request set stays. Requires the scopes to change all kinds of record concerned.",
              also=(400, 404, 409)),
    Operation("contract R1", "POST /api/proposals", proposals.ProposeChanges, ProposalService.propose, Proposal,
              "Propose changes",
              "They wait until somebody with the right applies or declines them, and appear nowhere else before. "
              "`proposals:write` is enough for new logos and themes, for changes to those of which you are an author, "
              "and for your own author record; a new logo or theme without `author_ids` gets your own author. Your "
              "author is the one whose `user_id` is yours. `active` is set when they are applied. With write scopes, "
              "you may propose whatever they allow. 409 if 20 of your proposals wait, or 3 MiB of their text. With "
              "`dry_run=true`, nothing is stored.", success=201, also=(400, 404, 409, 412)),
    Operation("contract R1", "GET /api/proposals", proposals.ListProposals, ProposalService.list,
              Listing[ProposalSummary], "List proposals",
              "Your own, and those that you could apply, by `proposal_id`; without their changes and notes."),
    Operation("contract R1", "GET /api/proposals/{proposal_id}", proposals.GetProposal, ProposalService.get, Proposal,
              "Get a proposal", "With the verdicts on its CSS. 404 unless it is yours or you could apply it."),
    Operation("contract R3", "PATCH /api/proposals/{proposal_id}", proposals.AmendProposal, ProposalService.amend,
              Proposal, "Change a proposal",
              f"{LEFT_OUT} Its submitter can do so while it waits, and after it was declined, so that it waits again; "
              "those who could apply it, while it waits. 409 otherwise.", also=(400, 409)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/apply", proposals.ApplyProposal, ProposalService.apply,
              Proposal, "Apply a proposal",
              "Makes all of its changes, or none, by the rules of `POST /api/changes`, as one request that can be "
              "undone. Requires the scopes to change all kinds of record in it. 409 names the records that have "
              "changed since it was made. With `dry_run=true`, nothing is stored. `If-Match` makes sure that nobody "
              "changed it meanwhile.", also=(400, 409)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/decline", proposals.DeclineProposal,
              ProposalService.decline, Proposal, "Decline a proposal",
              "Its submitter sees the reason, and can change it so that it waits again. Requires the scopes to apply "
              "it.", also=(409,)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/withdraw", proposals.WithdrawProposal,
              ProposalService.withdraw, Proposal, "Withdraw a proposal",
              "Only its submitter can do so, while it waits.", also=(409,)),
    Operation("contract R7", "GET /api/auth/me/notices", member_notices.GetNotices,
              member_notices.MemberNoticeService.get, member_notices.MemberNotices, "Get my notices",
              "Decisions about your submissions, and blocks of your works: the newest 50, and how many of these you "
              "have not marked as seen. Blocks of removed works are left out. Not with a service key."),
    Operation("contract R7", "POST /api/auth/me/notices/seen", member_notices.MarkNoticesSeen,
              member_notices.MemberNoticeService.mark_seen, member_notices.UnseenNotices, "Mark my notices as seen",
              "All that exist now. Not with a service key."),
    Operation("contract I4", "POST /api/import", import_export.ImportRecords, import_export.ImportExportService.load,
              dict[ListedKind, ImportedCounts], "Import records",
              "Accepts JSON Lines, one record a line: its `kind` and its fields, for a logo or theme `author_ids`, or "
              "`authors` with their names; authors whom nobody has created yet are created. Each record is created "
              "under its id or amended, and without an id created under a new one; an author without an id is the one "
              "with the name. All of them, or none. Returns how many of each kind were created, amended, and found "
              "unchanged. `loc` of a problem is `line`, the number of the line, and the field. Requires the scopes to "
              "change the kinds of record in it.\n\n"
              "With `kind`, it accepts CSV (RFC 4180) of authors, themes or logos, separated by `,`, `;` or tabs: the "
              "names of the fields, then one record a line, its `authors` as names separated by `;`. A `created_at` "
              "other than a number leaves the existing one. `charset` is the encoding, which the media type may "
              "also name.", also=(409, 429), takes_jsonl=True),
    Operation("contract I4", "GET /api/export", import_export.ExportRecords, import_export.ImportExportService.dump,
              str, "Export records",
              "Returns JSON Lines that can be imported: a snapshot of all records, or of the requested kinds; or with "
              "`format=csv`, authors, themes or logos as CSV. Password hashes are never included. Requires "
              "`users:read` and `roles:read` if users and roles are included.", also=(429,),
              attachment="gallery.jsonl"),
)
# fmt: on
