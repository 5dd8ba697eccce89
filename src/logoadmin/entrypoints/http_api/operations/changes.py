"""The endpoints for the history, bulk changes, submissions, import and export (contract G, I4, J7, R)."""

from typing import Final

from logoadmin.domain.changes import acts, import_export, member_notices
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.changes.proposals import ProposalService
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import Change, ListedKind
from logoadmin.entrypoints.http_api.operation import LEFT_OUT, Operation

# fmt: off
CHANGES_OPERATIONS: Final = (
    Operation("contract G", "GET /api/changes", changes.ListChanges, changes.ChangeService.list, Listing[Change],
              "List changes",
              "Lists every change of a record, the oldest first. To follow the history, request the changes `after` "
              "the last one that you have: you miss none. `changes:read` alone shows the usernames, avatars and roles "
              "of users, and the scopes of roles."),
    Operation("contract G5", "GET /api/acts", acts.ListActs, acts.ActService.list, Listing[acts.Act], "List acts",
              "Lists the changes of each request as one act, the oldest first, with the names of that time. `after` is "
              "the `change_id` of the last act that you have. The filters select acts with a matching change. An act "
              "without a `request_id` is one change, undone by its `change_id`. `fields` depends on the first 200 "
              "changes of an act, and `can_undo` on the first 1,000; undoing it checks all of them."),
    Operation("contract J7", "POST /api/changes", bulk.ApplyChanges, bulk.BulkService.apply, Listing[Change],
              "Make many changes",
              "Creates, changes and removes up to 1,000 records: all or none. Each change requires the scope of its "
              "own operation and follows its rules; `version` is the number in the record's `ETag`. Returns the "
              "changes that were made, which can be undone as one request. For more changes, send further requests "
              "with the `X-Request-Id` of the first in `continues`: they are one act with one undo, unless another "
              "change was made between them. An error names the first change that cannot be made by its index, from 0: "
              "`Change 3: Logo 12 not found`.", also=(400, 404, 409, 412)),
    Operation("contract G2", "POST /api/changes/{change_id}/revert", changes.Revert, changes.ChangeService.revert,
              Change, "Undo a change",
              "Makes and returns a new change: an amended record gets its old values, a created record is removed, a "
              "removed record is restored. 409 if the record has changed since. Requires the scope to change such "
              "records.", also=(400, 409)),
    Operation("contract G4", "POST /api/changes/revert", changes.RevertRequest, changes.ChangeService.revert_request,
              Listing[Change], "Undo a request",
              "Undoes all changes of one request, such as an import, the newest first, and returns the new changes. "
              "All or nothing: 409 names a record that has changed since. A password that the request set stays. "
              "Requires the scopes to change all kinds of record in it.",
              also=(400, 404, 409)),
    Operation("contract R1", "POST /api/proposals", proposals.ProposeChanges, ProposalService.propose,
              proposals.Proposal, "Propose changes",
              "The changes wait until a user with the required scopes applies or declines them, and appear nowhere "
              "else before. With `proposals:write`, you can propose new logos and themes, and changes to your own "
              "works and to your own author, whose `user_id` is yours; a new logo or theme without `author_ids` gets "
              "your own author. `active` is set when they are applied. With write scopes, you can propose whatever "
              "they allow. 409 if 20 of your proposals wait, or 3 MiB of their text. With `dry_run=true`, nothing is "
              "stored.", success=201, also=(400, 404, 409, 412)),
    Operation("contract R1", "GET /api/proposals", proposals.ListProposals, ProposalService.list,
              Listing[proposals.ProposalSummary], "List proposals",
              "Lists your proposals and those that you could apply, by `proposal_id`, without changes and notes."),
    Operation("contract R1", "GET /api/proposals/{proposal_id}", proposals.GetProposal, ProposalService.get,
              proposals.Proposal, "Get a proposal",
              "Includes the verdicts on its CSS. 404 unless it is yours or you could apply it."),
    Operation("contract R3", "PATCH /api/proposals/{proposal_id}", proposals.AmendProposal, ProposalService.amend,
              proposals.Proposal, "Change a proposal",
              f"{LEFT_OUT} Its submitter can change it while it waits, or once it is declined, after which it waits "
              "again; users who could apply it can change it while it waits. 409 otherwise.", also=(400, 409)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/apply", proposals.ApplyProposal, ProposalService.apply,
              proposals.Proposal, "Apply a proposal",
              "Makes all of its changes or none, by the rules of `POST /api/changes`, as one request that can be "
              "undone. Requires the scopes to change all kinds of record in it. 409 names the records that have "
              "changed since it was made. With `dry_run=true`, nothing is stored. With `If-Match`, 412 if the proposal "
              "was changed meanwhile.", also=(400, 409)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/decline", proposals.DeclineProposal,
              ProposalService.decline, proposals.Proposal, "Decline a proposal",
              "Its submitter sees the reason, and can change the proposal so that it waits again. Requires the scopes "
              "to apply it.", also=(409,)),
    Operation("contract R3", "POST /api/proposals/{proposal_id}/withdraw", proposals.WithdrawProposal,
              ProposalService.withdraw, proposals.Proposal, "Withdraw a proposal",
              "Only its submitter can withdraw it, while it waits.", also=(409,)),
    Operation("contract R7", "GET /api/auth/me/notices", member_notices.GetNotices,
              member_notices.MemberNoticeService.get, member_notices.MemberNotices, "Get my notices",
              "Returns the 50 newest decisions about your submissions and blocks of your works, and the number that "
              "you have not marked as seen. Blocks of removed works are left out. Not available to service keys."),
    Operation("contract R7", "POST /api/auth/me/notices/seen", member_notices.MarkNoticesSeen,
              member_notices.MemberNoticeService.mark_seen, member_notices.UnseenNotices, "Mark my notices as seen",
              "Marks all current notices. Not available to service keys."),
    Operation("contract I4", "POST /api/import", import_export.ImportRecords, import_export.ImportExportService.load,
              dict[ListedKind, import_export.ImportedCounts], "Import records",
              "Accepts JSON Lines, one record per line: its `kind` and its fields, for a logo or theme also "
              "`author_ids`, or `authors` with their names; missing authors are created. Each record is created under "
              "its id or amended, or created under a new id if it has none; an author without an id is found by name. "
              "All or none are imported. Returns the number of records of each kind that were created, amended or left "
              "unchanged. The `loc` of a problem is `line`, the number of the line, and the field. Requires the scopes "
              "to change the kinds of record in it.\n\nWith `kind`, accepts CSV (RFC 4180) of authors, themes or "
              "logos, separated by `,`, `;` or tabs: a row with the names of the fields, then one record per row, with "
              "`authors` as names separated by `;`. A `created_at` other than a number leaves the existing one. "
              "`charset` is the encoding, which the media type may also name.", also=(409, 429), takes_jsonl=True),
    Operation("contract I4", "GET /api/export", import_export.ExportRecords, import_export.ImportExportService.dump,
              str, "Export records",
              "Returns a snapshot of all records, or of the requested kinds, as JSON Lines that can be imported; or, "
              "with `format=csv`, authors, themes or logos as CSV. Password hashes are never included. Requires "
              "`users:read` and `roles:read` if users and roles are included.", also=(429,),
              attachment="gallery.jsonl"),
)
# fmt: on
