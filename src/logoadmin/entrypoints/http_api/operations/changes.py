"""The endpoints about the history, bulk changes, import and export (contract G, I4, J7)."""

from typing import Final

from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import import_export
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import (
    Change,
    ImportedCounts,
    ListedKind,
)
from logoadmin.entrypoints.http_api.operation import Operation

# fmt: off
CHANGES_OPERATIONS: Final = (
    Operation("contract G", "GET /api/changes", changes.ListChanges, "changes.list", Listing[Change],
              "List changes",
              "Every change of a user, role, author, theme or logo, the oldest first. To follow them, request those "
              "`after` the last one that you have: none is ever missed. `changes:read` alone shows the "
              "usernames, avatars and roles of users, and the scopes of roles."),
    Operation("contract J7", "POST /api/changes", bulk.ApplyChanges, "bulk.apply", Listing[Change],
              "Make many changes",
              "Creates, changes and removes up to 1,000 records: all of them, or none. Each change requires the scope "
              "of its own operation and follows its rules; `version` is the number in the record's `ETag`. Returns the "
              "changes that were made, which can be undone as one request. An error names the first change that cannot "
              "be made by its place, counted from 0: `Change 3: Logo 12 not found`.", also=(400, 404, 409, 412)),
    Operation("contract G2", "POST /api/changes/{change_id}/revert", changes.Revert, "changes.revert", Change,
              "Undo a change",
              "Returns a new change: an amended record gets its old values, a created record is "
              "removed, a removed record is restored. 409 if the record has changed since. Requires the scope "
              "to change such records.", also=(400, 409)),
    Operation("contract G4", "POST /api/changes/revert", changes.RevertRequest, "changes.revert_request",
              Listing[Change], "Undo a request",
              "Undoes all changes of one request, such as an import, the newest first, and returns the new changes. "
              "All or nothing: 409 names a record that has changed since. A password "
              "that the request set stays. Requires the scopes to change all kinds of record concerned.",
              also=(400, 404, 409)),
    Operation("contract I4", "POST /api/import", import_export.ImportRecords, "import_export.load",
              dict[ListedKind, ImportedCounts], "Import records",
              "Accepts JSON Lines, one record a line: its `kind` and its fields, for a logo or theme `author_ids` in "
              "place of `authors`. Each is created under its id or amended, and without an id created under a new one; "
              "all of them, or none. Returns how many of each kind were created, amended, and found unchanged. `loc` "
              "of a problem is `line`, the number of the line, and the field. Requires the scopes to change the kinds "
              "of record in it.",
              also=(409, 429), takes_jsonl=True),
    Operation("contract I4", "GET /api/export", import_export.ExportRecords, "import_export.dump", str,
              "Export records",
              "Returns JSON Lines that can be imported: a snapshot of all records, or of the requested "
              "kinds. Password hashes are never included. Requires `users:read` and `roles:read` if users and roles "
              "are included.", also=(429,), attachment="gallery.jsonl"),
)
# fmt: on
