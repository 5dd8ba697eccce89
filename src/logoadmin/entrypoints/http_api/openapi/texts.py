"""The words of the document that belong to no field, for people who know neither the program nor its specification."""

from typing import Any, Final

from logoadmin.domain.model.kinds import KINDS

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

# Of the schemas that are no record's.
SCHEMAS: Final = {
    "SignIn": "Signing in with a username and a password.",
    "Refresh": "Exchanging a refresh token for new tokens.",
    **{f"{kind.name}Snapshot": f"A {kind.kind}, as the history has it." for kind in KINDS.values()},
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
