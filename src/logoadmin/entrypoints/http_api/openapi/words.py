"""What the document says in words, for people who know neither the program nor its specification."""

from typing import Any, Final

ABOUT: Final = """\
Administration of the gallery of a community site: its logos, its themes, and the authors who made them; and the users
and roles of the people who look after it.

Send bodies as `application/json`. Every error is a JSON object whose `detail` says what is wrong: a sentence, or, for
422, an array with one entry for each problem. Lists are whole unless `limit` is given; then `Link` says where the next
page is. Where a token is needed, send `Authorization: Bearer` and an access token or a service key.
"""

TAGS: Final = {
    "sessions": "Signing in and out, and who one is.",
    "keys": "Service keys, for scripts: like access tokens, but they last, and have a scope of their own.",
    "changes": "The history: every change of a record, in order, and undoing it.",
    "users": "The people who sign in and look after the gallery.",
    "roles": "What users may do: each user has one role, and each role a scope.",
    "authors": "The people who made logos and themes. They need not be users.",
    "themes": "The themes of the gallery, and who made them.",
    "logos": "The logos of the gallery, and who made them.",
}

# A summary and a description for each operation, by its name.
OPERATIONS: dict[str, tuple[str, str]] = {
    "sign_in": (
        "Sign in, or refresh",
        "Takes a username and a password, as JSON or as the password form of OAuth 2, and answers an access token with "
        "the refresh token for the next one. With `grant_type` `refresh_token`, takes that: it is good once, and using "
        "it a second time ends the session. After many failures the answer is 429 for a while.",
    ),
    "revoke": (
        "Sign out",
        "Ends the session of the refresh token in the body, or without one that of the access token.",
    ),
    "who_am_i": ("Say who I am", "Answers the user whose token it is, with what they may do at this moment."),
    "list_keys": ("List my service keys", "The keys themselves are not shown again. Not with a service key."),
    "create_key": (
        "Make a service key",
        "The answer has the key, shown this once. It may do what is in its scope, as far as its maker may at that "
        "moment. Not with a service key.",
    ),
    "remove_key": ("End a service key", "It is refused from now on. Not with a service key."),
    "list_changes": (
        "List changes",
        "Every change of a user, role, author, theme or logo, the oldest first. To follow them, ask for what comes "
        "`after` the last one that you know: none is ever missed.",
    ),
    "revert": (
        "Undo a change",
        "As a new change, which is the answer: a record that was amended gets its old values, one that was created "
        "goes, one that was removed comes back. 409 where the record was changed since. Takes the scope that changes "
        "such a record.",
    ),
    "list_users": ("List users", "All users, in ascending `user_id`, or those that are asked for."),
    "create_user": ("Create a user", "You choose the `user_id`. The user gets role 1 and can sign in at once."),
    "get_user": ("Get a user", "Everybody may read their own."),
    "amend_user": ("Change a user", "Fields that are left out stay as they are."),
    "remove_user": ("Remove a user", "Their sessions and service keys end at once."),
    "remove_avatar": (
        "Remove a user's avatar",
        "Answers the avatar that was removed, an empty text if there was none.",
    ),
    "set_password": ("Set a user's password", "The user's other sessions end. Everybody may set their own."),
    "list_roles": ("List roles", "All roles, in ascending `role_id`, or those that are asked for."),
    "create_role": ("Create a role", "You can hand out no scope that you do not hold."),
    "get_role": ("Get a role", "With its scope, which is what its users may do."),
    "amend_role": (
        "Change a role",
        "What its users may do changes at once. Fields that are left out stay as they are.",
    ),
    "remove_role": ("Remove a role", "409 while a user has it, and for role 1, which new users get."),
    "list_authors": ("List authors", "All authors, in ascending `author_id`, or those that are asked for."),
    "create_author": ("Create an author", "With their number and their name at the community site."),
    "get_author": ("Get an author", "What they made is at `/logos` and `/themes` below it."),
    "amend_author": ("Change an author", "Fields that are left out stay as they are."),
    "remove_author": ("Remove an author", "Their logos and themes stay, without the author."),
    "list_author_logos": ("List an author's logos", "In ascending `logo_id`, or those that are asked for."),
    "list_author_themes": ("List an author's themes", "In ascending `theme_id`, or those that are asked for."),
}
# The same for logos and themes, which have the same operations.
_PIECES: Final = {
    "list_{0}s": ("List {0}s", "All {0}s, in ascending `{0}_id`, or those that are asked for."),
    "create_{0}": ("Create a {0}", "It has no authors yet, and is not active unless `active` says so."),
    "get_{0}": ("Get a {0}", "With its authors, in the order they were linked."),
    "amend_{0}": ("Change a {0}", "Fields that are left out stay as they are."),
    "remove_{0}": ("Remove a {0}", "The links to its authors go with it; the authors stay."),
    "list_{0}_authors": ("List a {0}'s authors", "In the order they were linked."),
    "link_{0}_author": (
        "Add an author to a {0}",
        "As the last one. If they are there already, the link that exists is answered.",
    ),
    "unlink_{0}_author": ("Take an author off a {0}", "The author is named in the body. 404 if they are not on it."),
    "remove_{0}_author": ("Take an author off a {0}, by path", "The author is named in the path. 404 if not on it."),
}
for _kind in ("theme", "logo"):
    OPERATIONS |= {name.format(_kind): (a.format(_kind), b.format(_kind)) for name, (a, b) in _PIECES.items()}

# A description for each field, in a path, a query, a body or an answer, by its name.
FIELDS: Final = {
    "user_id": "The number of a user.",
    "username": "The name, unique and compared exactly: `Ann` and `ann` are two.",
    "avatar": "The picture of a user, as whatever text the site knows it by; `null` for none.",
    "password": "The password. It is kept as a hash, and never answered.",
    "role_id": "The number of a role.",
    "name": "The name.",
    "scope": "What is allowed, as a list of words such as `logos:write`; `*` is everything.",
    "author_id": "The number of an author.",
    "theme_id": "The number of a theme.",
    "logo_id": "The number of a logo.",
    "theme_author_id": "The number of the link between the two.",
    "logo_author_id": "The number of the link between the two.",
    "preview_url": "Where a picture of it is: an absolute http or https URL.",
    "target": "The part of the site that it is for.",
    "custom_css": "The style sheet that puts it on the site.",
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
    "limit": "At most so many records; without it, all of them.",
    "q": "Those whose name has this part, in capitals or not.",
    "detail": "What is wrong.",
    "loc": "Where: `path`, `query`, `header` or `body`, and the field.",
    "msg": "What is wrong there, in words.",
    "type": "The same as a fixed word, for programs.",
}
# Where a name means something else: by the schema, the command or the place it is in.
ELSEWHERE: Final = {
    ("query", "after"): "Those that follow the record with this number.",
    ("query", "role_id"): "Those with this role.",
    ("query", "author_id"): "Those by this author.",
    ("query", "user_id"): "The one with this number at the community site.",
    ("query", "active"): "Those that are in use, or those that are not.",
    ("query", "target"): "Those for this part of the site.",
    **{
        (title, "user_id"): "The author's number at the community site, unique. It need not be a user of this service."
        for title in ("Author", "CreateAuthor", "AmendAuthor")
    },
    ("Change", "user_id"): "Who did it; `null` if that is not known.",
    ("Tokens", "scope"): "What is allowed at this moment, as words with spaces between them; `*` is everything.",
    ("CreateKey", "expires_in"): "Seconds until the key ends; `null` or nothing for never.",
    ("RemovedAvatar", "avatar"): "The avatar that was removed; empty if there was none.",
}

SCHEMAS: Final = {
    "User": "Somebody who may sign in.",
    "Role": "What its users may do.",
    "Author": "Somebody who made logos or themes.",
    "Theme": "A theme of the gallery.",
    "Logo": "A logo of the gallery.",
    "LogoAuthor": "The link between a logo and somebody who made it.",
    "ThemeAuthor": "The link between a theme and somebody who made it.",
    "RemovedUser": "The number of the user who was removed.",
    "RemovedAvatar": "The avatar that was removed.",
    "RemovedRole": "The number of the role that was removed.",
    "RemovedAuthor": "The number of the author who was removed.",
    "RemovedTheme": "The number of the theme that was removed.",
    "RemovedLogo": "The number of the logo that was removed.",
    "RemovedThemeAuthor": "The theme, and the author who was taken off it.",
    "RemovedLogoAuthor": "The logo, and the author who was taken off it.",
    "RemovedServiceKey": "The number of the service key that was ended.",
    "Tokens": "An access token, and the refresh token for the next one.",
    "Me": "The user whose token it is, with what they may do at this moment.",
    "EndedSession": "Whether a session was ended.",
    "ServiceKey": "A key for scripts, without the key itself.",
    "NewServiceKey": "A key for scripts, with the key itself.",
    "Change": "What became of a record.",
    "Kind": "A kind of record.",
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
    415: ("The body is not JSON, or is compressed.", "Body should be application/json"),
    422: (
        "Something is wrong with the path, the query, a header or the body.",
        [{"loc": ["body", "username"], "msg": "Field required", "type": "missing"}],
    ),
    429: ("Too many failures to sign in; `Retry-After` says how long to wait.", "Too many failed sign-ins"),
    503: (
        "The database is out of reach. Whether a write was kept is not known: send it again, a POST under the same "
        "`Idempotency-Key`.",
        "Cannot connect to the database server at db.example:3306",
    ),
}
