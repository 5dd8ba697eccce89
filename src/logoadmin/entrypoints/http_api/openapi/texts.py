"""What the document says in words, for people who know neither the program nor its specification."""

from typing import Any, Final

from logoadmin.domain.model.kinds import ARTWORK_KINDS, KINDS

ABOUT: Final = """\
Administration of the gallery of a community site: its logos, its themes, and the authors who made them; and the users
and roles of the people who look after it.

Send bodies as `application/json`. Every error is a JSON object whose `detail` says what is wrong: a sentence, or, for
422, an array with one entry for each problem. Lists are whole unless `limit` is given; then `Link` says where the next
page is. Where a token is needed, send `Authorization: Bearer` and an access token or a service key.
"""

# What operations are listed under that is no kind of record.
TAGS: Final = {
    "sessions": "Signing in and out, and who one is.",
    "keys": "Service keys, for scripts: like access tokens, but they last, and have a scope of their own.",
    "changes": "The history: every change of a record, in order, and undoing it.",
    "import": "Many records at once, from a file.",
    "export": "Many records at once, into a file.",
}

# A description for each field, in a path, a query, a body or an answer, by its name, where its type in
# domain/model/limits.py does not say it.
FIELDS: Final = {
    **{kind.id_field: f"The number of the {kind.kind}." for kind in KINDS.values()},
    **{kind.link_id_field: "The number of the link between the two." for kind in ARTWORK_KINDS},
    "scope": "What is allowed, as a list of words such as `logos:write`; `*` is everything.",
    "active": "Whether it is in use.",
    "authors": "Who made it, in the order they were linked.",
    "created_at": "When it was created, as Unix time in seconds.",
    "grant_type": "How one signs in: by `password`, or by `refresh_token`.",
    "access_token": "To be sent with each request that needs a token, until it expires.",
    "token_type": "How it is sent: `Authorization: Bearer` and the token.",
    "expires_in": "Seconds until the access token expires.",
    "refresh_token": "Good once, for the next access token.",
    "key": "The service key, shown this once.",
    "key_id": "The number of a service key.",
    "expires_at": "When it ends, as Unix time in seconds; `null` for never.",
    "refreshed_at": "When it was refreshed last, as Unix time in seconds; `null` for not yet.",
    "address": "The address that one signed in from; `null` if it is not known.",
    "user_agent": "The `User-Agent` of the sign-in, at most 256 characters of it; `null` if it is not known.",
    "current": "Whether it is the session of the access token that is sent.",
    "last_used_at": "When it was used last, to the minute, as Unix time in seconds; `null` for never.",
    "ended": "Whether there was a session to end.",
    "change_id": "The number of a change. They rise in the order in which changes were made.",
    "at": "When, as Unix time in seconds.",
    "action": "What was done: the kind of record, a dot, and `created`, `amended`, `removed`, `restored` and so on.",
    "kind": "The kind of record.",
    "id": "The number of the record.",
    "before": "The record as it was; `null` if it was not there.",
    "after": "The record as it is since; `null` if it is gone.",
    "request_id": "The `X-Request-Id` of the request that did it; `null` if there was none.",
    "order": "By rising number, `asc`, or by falling number, `desc`.",
    "since": "Those at this time or later, as Unix time in seconds.",
    "until": "Those at this time or earlier, as Unix time in seconds.",
    "dry_run": "Whether only to find out what would be done, and to change nothing.",
    "created": "How many were created.",
    "amended": "How many were there already and were changed.",
    "unchanged": "How many were so already.",
    "detail": "What is wrong.",
    "loc": "Where: `path`, `query`, `header` or `body`, and the field; in a file `line`, its number, and the field.",
    "msg": "What is wrong there, in words.",
    "type": "The same as a fixed word, for programs.",
}
# Where a name means something else: by the schema, the command or the place it is in.
ELSEWHERE: Final = {
    ("query", "after"): "Those that follow the record with this number, in the order that is asked for.",
    ("query", "role_id"): "Those with this role.",
    ("query", "author_id"): "Those by this author.",
    ("query", "user_id"): "The one with this number at the community site.",
    ("query", "active"): "Those that are in use, or those that are not.",
    ("query", "target"): "Those for this part of the site.",
    ("ExportRecords", "kind"): "Those of this kind; given again, those of that kind, too. All, if there is none.",
    ("ListChanges", "kind"): "Those of records of this kind.",
    ("ListChanges", "id"): "Those of the record with this number, of the `kind` that is given.",
    ("ListChanges", "user_id"): "What this user did.",
    ("ListChanges", "action"): "Those by which this was done: the kind of record, a dot, and `created` and so on.",
    ("ListChanges", "request_id"): "What one request did: its `X-Request-Id`.",
    **{
        (title, "user_id"): "The author's number at the community site, unique. It need not be a user of this service."
        for title in ("Author", "CreateAuthor", "AmendAuthor")
    },
    ("ListedSession", "created_at"): "When one signed in, as Unix time in seconds.",
    ("ListedSession", "expires_at"): "When it ends if it is not refreshed again, as Unix time in seconds.",
    ("RemovedUserSessions", "ended"): "How many sessions there were.",
    ("Change", "user_id"): "Who did it; `null` if that is not known.",
    ("Tokens", "scope"): "What is allowed at this moment, as words with spaces between them; `*` is everything.",
    ("CreateKey", "expires_in"): "Seconds until the key ends; `null` or nothing for never.",
    ("RemovedAvatar", "avatar"): "The avatar that was removed; empty if there was none.",
}

# Of the schemas that are no record's.
SCHEMAS: Final = {
    "Problem": "One thing that is wrong with a request.",
    "Error": "What is wrong, in words.",
    "InvalidInput": "All that is wrong with a request.",
}

# What each status means, and what its `detail` may be.
STATUSES: Final[dict[int, tuple[str, Any]]] = {
    200: ("Done.", None),
    201: ("Created.", None),
    304: ("It is still what `If-None-Match` names.", None),
    400: ("Another record has a value that must be unique.", "Duplicate entry 'Ann' for key 'username'"),
    401: ("The token is no good, or the username and password are not.", "Couldn't validate credentials"),
    403: ("No token where one is needed, or one without the right.", "Not enough permissions"),
    404: ("There is no such record, or no such link.", "Logo 12 not found"),
    409: (
        "Another record has a value that must be unique, or the records are in a state that forbids it.",
        "Duplicate entry 'Ann' for key 'username'",
    ),
    412: ("It is not the version that `If-Match` names.", "Logo 12 was changed since"),
    413: ("The body is too large.", "Body should have at most 65536 bytes"),
    415: ("The body is not of a type that is taken here, or is compressed.", "Body should be application/json"),
    422: (
        "Something is wrong with the path, the query, a header or the body.",
        [{"loc": ["body", "username"], "msg": "Field required", "type": "missing"}],
    ),
    429: (
        "Too many failures to sign in, or imports or exports of one user at once; `Retry-After` says how long to wait.",
        "Too many failed sign-ins",
    ),
    503: (
        "The database is out of reach. Whether a write was kept is not known: send it again, a POST under the same "
        "`Idempotency-Key`.",
        "Cannot connect to the database server at db.example:3306",
    ),
}
