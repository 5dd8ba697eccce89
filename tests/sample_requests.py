"""One valid request for each operation, written by hand after spec §Endpoints and contract C, D and G."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from httpx2 import Client, Response

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.records import Kind
from tests.gallery import (
    ANN_PASSWORD,
    ARTWORK,
    IMPORTED_LINE,
    PIXEL,
    PROPOSED,
    SPARE_CHALLENGE,
    SPARE_CODE,
    SPARE_PASSKEY,
    STOCKED_PICTURE,
)


@dataclass(frozen=True)
class Sample:
    """A request that is valid in a stocked gallery, and its expected response.

    Attributes:
        method: the HTTP method.
        template: the path as in the specification.
        status: the expected status.
        token: whether a token is required: never; never, but checked; not under ``open``; or always (contract B1).
        body: the JSON body, or the only line of a JSON Lines body; None without a body.
        fields: the fields of the response, or of each record in it.
        is_list: whether the response is an array.
        is_file: whether it is a file of JSON Lines.
        errors: the possible statuses besides 401, 403, 413, 415, 422 and 503.
        media_type: the media type of the body.
    """

    method: str
    template: str
    status: int
    token: Literal["never", "optional", "guarded", "always"]
    fields: tuple[str, ...]
    body: Any = None
    is_list: bool = False
    is_file: bool = False
    errors: tuple[int, ...] = ()
    media_type: str = "application/json"

    def needs_token(self, access: Policy) -> bool:
        """Whether it is rejected without a token (contract B1)."""
        return self.token == "always" or (self.token == "guarded" and access is Policy.GUARDED)

    def answers(self, access: Policy) -> set[int]:
        """Return the possible statuses without conditions, for callers with all rights and an available database."""
        found = {self.status, 422, *self.errors}
        found |= {413, 415} if self.body is not None else set()
        found |= {413} if self.is_paged else set()
        found |= {401} if self.token != "never" or self.template == "/api/auth/token" else set()
        return found | ({403} if self.needs_token(access) else set())

    def statuses(self, access: Policy) -> set[int]:
        """Return all possible statuses (contract A5, A20, B1, F1)."""
        found = self.answers(access) | {503}
        found |= {403} if self.token != "never" and self.method != "GET" else set()
        found |= {304} if self.method == "GET" and self.is_versioned else set()
        decides = self.method == "POST" and self.template.startswith("/api/proposals/")
        return found | ({412} if decides or self.method in ("PATCH", "PUT", "DELETE") else set())

    @property
    def is_paged(self) -> bool:
        """Whether the response is a list that has pages, and may be too long without them."""
        others = ("/api/auth/events", "/api/pictures", "/api/proposals")
        of_artwork = "_id}/authors" in self.template
        is_list = self.method == "GET" and self.is_list and not of_artwork
        return is_list and (self.is_versioned or self.template in others)

    @property
    def is_versioned(self) -> bool:
        """Whether the response has a version; only records and their lists do."""
        of_records = {"created_at", "picture_hosts", "hosts"}
        is_record = str(self) in ("GET /api/changes", "GET /api/acts") or not of_records.isdisjoint(self.fields)
        return (
            is_record
            and "factor_id" not in self.fields
            and not self.template.startswith(("/api/auth/", "/api/css/"))
            and "/sessions" not in self.template
            and not self.is_file
        )

    @property
    def is_public(self) -> bool:
        """Whether anyone may read and cache the response under any policy."""
        return self.method == "GET" and self.token == "never" and self.template != "/api/auth/ways"

    @property
    def takes_body(self) -> bool:
        """Whether it has a JSON body."""
        return self.body is not None and self.media_type == "application/json"

    def send(self, client: Client, headers: Any = (), path: str = "", body: object = ...) -> Response:
        """Send it, if given with another path or body than its own."""
        body = self.body if body is ... else body
        others = [*headers.items()] if isinstance(headers, Mapping) else [*headers]
        own_type = [] if body is None or "content-type" in dict(others) else [("content-type", self.media_type)]
        sent: Any = {"content": body} if isinstance(body, bytes) else {"json": body}
        return client.request(self.method, path or self.path, headers=[*own_type, *others], **sent)

    @property
    def content(self) -> bytes:
        """The bytes of its body."""
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else json.dumps(self.body).encode()

    @property
    def path(self) -> str:
        """The path in the stocked gallery: user 7, role 3, change 7, and otherwise the first of each kind."""
        ids = dict.fromkeys((f"{kind}_id" for kind in (*Kind, "key", "factor", "proposal")), 1)
        ids |= {"user_id": 7, "role_id": 3, "change_id": 7}
        session_id = "theirs" if self.template.startswith("/api/users/") else "spare"
        return self.template.format(**ids, session_id=session_id, picture=STOCKED_PICTURE)

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


# Paths that are not operations, which everyone may read and nobody may change.
READ_ONLY: Final = (
    *("/openapi.json", "/docs", "/docs/", "/docs/initializer.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"),
    *("/", "/console", "/console/", "/console/logos", "/.well-known/jwks.json", "/livez", "/readyz"),
)

_TOKENS: Final = ("access_token", "token_type", "expires_in", "refresh_token", "scope")
_USER: Final = ("user_id", "username", "avatar", "role_id", "created_at")
_ROLE: Final = ("role_id", "name", "scope", "created_at")
_AUTHOR: Final = ("author_id", "user_id", "username", "created_at")
_ARTWORK: Final = ("name", "preview_url", "target", "custom_css", "active", "authors", "created_at")
_THEME: Final = ("theme_id", *_ARTWORK)
_LOGO: Final = ("logo_id", *_ARTWORK)
_VERDICT: Final = ("form", "hosts", "imports", "size", "risks", "reason", "documents")
_KEY: Final = ("key_id", "name", "scope", "created_at", "expires_at", "last_used_at")
_FACTOR: Final = ("factor_id", "kind", "name", "created_at", "last_used_at")
_SETTINGS: Final = (
    *("picture_hosts", "gallery_title", "gallery_home", "gallery_mark", "gallery_accent", "gallery_targets"),
    "submission_rules",
)
_SESSION: Final = (
    *("session_id", "created_at", "refreshed_at", "expires_at", "address", "user_agent", "factor", "current"),
)
_EVENT: Final = (
    *("event_id", "at", "event", "user_id", "user_name", "address", "user_agent", "factor", "count"),
    *("by_user_id", "by_user_name"),
)
_CHANGE: Final = (
    *("change_id", "at", "user_id", "action", "kind", "id", "before", "after", "request_id"),
    *("origin", "undoes", "submitter_id", "source", "note", "user_name", "submitter_name"),
)
_ACT: Final = (
    *("change_id", "request_id", "at", "user_id", "user_name", "origin", "source", "count", "actions", "fields"),
    *("names", "authors", "active", "reason", "undid", "submitter_id", "submitter_name", "note", "undone_by"),
    *("can_undo", "why_not"),
)
_PROPOSAL_SUMMARY: Final = (
    *("proposal_id", "title", "state", "user_id", "user_name", "first_work", "counts", "names", "pictures"),
    *("new_hosts", "risks", "artworks", "reason", "created_at", "decided_at", "decided_by", "request_id", "undone"),
    *("undone_at", "undone_by", "undone_user_id", "undone_user_name"),
)
_PROPOSAL: Final = (*_PROPOSAL_SUMMARY, "note", "changes")
_PICTURE: Final = ("picture", "url", "thumbnail_url", "width", "height", "frames", "size", "ground")
_KEPT_PICTURE: Final = (
    *("picture", "url", "thumbnail_url", "width", "height", "size", "sent_at", "user_id", "user_name"),
    *("named_by", "in_history"),
)
_LOGO_LINK: Final = ("logo_author_id", "logo_id", "author_id")
_THEME_LINK: Final = ("theme_author_id", "theme_id", "author_id")

# fmt: off
SAMPLES: Final = (
    Sample("POST", "/api/auth/token", 200, "never", _TOKENS, {"username": "ann", "password": ANN_PASSWORD},
        errors=(403, 409, 429)),
    Sample("POST", "/api/auth/passkey/options", 200, "never", ("challenge", "options"), errors=(409,)),
    Sample("GET", "/api/auth/ways", 200, "never", ("password", "passkey", "public_url", "issuer")),
    Sample("POST", "/api/auth/links", 201, "always", ("url", "expires_at"), {"user_id": 1042, "username": "Mia"},
        errors=(404, 409)),
    Sample("POST", "/api/auth/revoke", 200, "optional", ("ended",), {"refresh_token": "unknown"}, errors=(403,)),
    Sample("GET", "/api/auth/me", 200, "always",
        (*_USER, "user_since", "scope", "must_enrol", "must_change_password", "by_link", "can_step_up")),
    Sample("GET", "/api/auth/me/preferences", 200, "always", ()),
    Sample("PUT", "/api/auth/me/preferences", 200, "always", ("theme",), {"theme": "dark"}),
    Sample("GET", "/api/auth/me/notices", 200, "always", ("notices", "unseen")),
    Sample("POST", "/api/auth/me/notices/seen", 200, "always", ("unseen",)),
    Sample("GET", "/api/auth/sessions", 200, "always", _SESSION, is_list=True),
    Sample("DELETE", "/api/auth/sessions/{session_id}", 200, "always", ("session_id",), errors=(404,)),
    Sample("GET", "/api/auth/factors", 200, "always", _FACTOR, is_list=True),
    Sample("POST", "/api/auth/factors/totp", 200, "always", ("factor_id", "secret", "uri", "qr_svg"), {"name": "Phone"},
        errors=(409,)),
    Sample("POST", "/api/auth/factors/totp/confirm", 201, "always", (*_FACTOR, "recovery_codes"),
        {"factor_id": 1, "code": SPARE_CODE}, errors=(404, 409, 429)),
    Sample("POST", "/api/auth/factors/passkeys/options", 200, "always", ("challenge", "options"), errors=(409,)),
    Sample("POST", "/api/auth/factors/passkeys", 201, "always", (*_FACTOR, "recovery_codes"),
        {"challenge": SPARE_CHALLENGE, "name": "Laptop", "credential": SPARE_PASSKEY}, errors=(409, 429)),
    Sample("DELETE", "/api/auth/factors/{factor_id}", 200, "always", ("factor_id",), errors=(404, 409)),
    Sample("GET", "/api/auth/recovery-codes", 200, "always", ("left",)),
    Sample("POST", "/api/auth/recovery-codes", 409, "always", ("detail",), errors=(200, 429)),
    Sample("GET", "/api/auth/events", 200, "always", _EVENT, is_list=True),
    Sample("GET", "/api/auth/keys", 200, "always", _KEY, is_list=True),
    Sample("POST", "/api/auth/keys", 201, "always", (*_KEY, "key"),
        {"name": "nightly", "scope": ["logos:write"], "expires_in": 3600}, errors=(409, 429)),
    Sample("DELETE", "/api/auth/keys/{key_id}", 200, "always", ("key_id",), errors=(404,)),
    Sample("GET", "/api/publication", 200, "always",
        ("version", "logos", "themes", "left_out", "risky", "blocked")),
    Sample("POST", "/api/css/verdict", 200, "always", _VERDICT, {"kind": "theme", "custom_css": "a { color: red }"}),
    Sample("POST", "/api/css/user-style", 200, "always",
        ("name", "authors", "details", "documents", "target", "custom_css", "lost"),
        {"text": "/* ==UserStyle==\n@name Aurora\n@license MIT\n@var\n==/UserStyle== */\n"
            '@-moz-document domain("a.example") { a { top: 0 } }'}),
    Sample("POST", "/api/css/inline", 409, "always", ("detail",), {"kind": "theme", "custom_css": "a { color: red }"},
        errors=(200,)),
    Sample("POST", "/api/text/render", 200, "always", ("html",), {"text": "*a*"}),
    Sample("GET", "/api/settings", 200, "always", _SETTINGS),
    Sample("PATCH", "/api/settings", 200, "always", _SETTINGS, {"picture_hosts": ["i.example"]}),
    Sample("GET", "/api/changes", 200, "always", _CHANGE, is_list=True),
    Sample("GET", "/api/acts", 200, "always", _ACT, is_list=True),
    Sample("POST", "/api/changes", 200, "always", _CHANGE,
        {"changes": [{"kind": "author", "id": 1, "version": 6, "set": {"username": "Cyd"}}]},
        is_list=True, errors=(400, 404, 409, 412)),
    Sample("POST", "/api/changes/{change_id}/revert", 200, "always", _CHANGE, errors=(400, 404, 409)),
    Sample("POST", "/api/changes/revert", 200, "always", _CHANGE, {"request_id": "second"}, is_list=True,
        errors=(400, 404, 409)),
    Sample("POST", "/api/proposals", 201, "always", _PROPOSAL, {"title": "For the wiki", "changes": [PROPOSED]},
        errors=(400, 404, 409, 412)),
    Sample("GET", "/api/proposals", 200, "always", _PROPOSAL_SUMMARY, is_list=True),
    Sample("GET", "/api/proposals/{proposal_id}", 200, "always", _PROPOSAL, errors=(404,)),
    Sample("PATCH", "/api/proposals/{proposal_id}", 200, "always", _PROPOSAL, {"title": "For the forum"},
        errors=(400, 404, 409)),
    Sample("POST", "/api/proposals/{proposal_id}/apply", 200, "always", _PROPOSAL, errors=(400, 404, 409)),
    Sample("POST", "/api/proposals/{proposal_id}/decline", 200, "always", _PROPOSAL, {"reason": "It is used"},
        errors=(404, 409)),
    Sample("POST", "/api/proposals/{proposal_id}/withdraw", 200, "always", _PROPOSAL, errors=(404, 409)),
    Sample("POST", "/api/import", 200, "always", ("role", "user", "author", "theme", "logo"), json.loads(IMPORTED_LINE),
        errors=(409, 429), media_type="application/jsonl"),
    Sample("GET", "/api/export", 200, "always", ("kind", *_ROLE), errors=(429,), is_file=True),
    Sample("GET", "/api/users", 200, "guarded", _USER, is_list=True, errors=(404,)),
    Sample("POST", "/api/users", 201, "always", _USER,
        {"user_id": 8, "username": "ben", "avatar": "b.png", "password": "pw"}, errors=(404, 409)),
    Sample("GET", "/api/users/{user_id}", 200, "guarded", _USER, errors=(404,)),
    Sample("PATCH", "/api/users/{user_id}", 200, "always", _USER,
        {"username": "anna", "avatar": None, "role_id": 3}, errors=(400, 404, 409)),
    Sample("DELETE", "/api/users/{user_id}", 200, "always", ("user_id",), errors=(404, 409)),
    Sample("DELETE", "/api/users/{user_id}/avatar", 200, "always", ("avatar",), errors=(404,)),
    Sample("PUT", "/api/users/{user_id}/password", 200, "always", _USER,
        {"password": "new", "current_password": ANN_PASSWORD}, errors=(404, 429)),
    Sample("GET", "/api/users/{user_id}/sessions", 200, "always", _SESSION, is_list=True, errors=(404,)),
    Sample("DELETE", "/api/users/{user_id}/sessions/{session_id}", 200, "always", ("session_id",), errors=(404,)),
    Sample("DELETE", "/api/users/{user_id}/sessions", 200, "always", ("user_id", "ended"), errors=(404,)),
    Sample("GET", "/api/users/{user_id}/factors", 200, "always", _FACTOR, is_list=True, errors=(404,)),
    Sample("DELETE", "/api/users/{user_id}/factors", 200, "always", ("user_id", "removed"), errors=(404, 409)),
    Sample("GET", "/api/roles", 200, "always", _ROLE, is_list=True, errors=(404,)),
    Sample("POST", "/api/roles", 201, "always", _ROLE, {"name": "editor", "scope": ["logos:write"]}, errors=(409,)),
    Sample("GET", "/api/roles/{role_id}", 200, "always", _ROLE, errors=(404,)),
    Sample("PATCH", "/api/roles/{role_id}", 200, "guarded", _ROLE, {"name": "brush", "scope": []},
        errors=(400, 404, 409)),
    Sample("DELETE", "/api/roles/{role_id}", 200, "always", ("role_id",), errors=(404, 409)),
    Sample("GET", "/api/authors", 200, "never", _AUTHOR, is_list=True, errors=(404,)),
    Sample("POST", "/api/authors", 201, "guarded", _AUTHOR, {"user_id": 103, "username": "Cyd"}, errors=(409,)),
    Sample("GET", "/api/authors/{author_id}", 200, "never", _AUTHOR, errors=(404,)),
    Sample("PATCH", "/api/authors/{author_id}", 200, "guarded", _AUTHOR, {"user_id": 104, "username": "Dan"},
        errors=(400, 404)),
    Sample("DELETE", "/api/authors/{author_id}", 200, "always", ("author_id",), errors=(404,)),
    Sample("GET", "/api/authors/{author_id}/logos", 200, "never", _LOGO, is_list=True, errors=(404,)),
    Sample("GET", "/api/authors/{author_id}/themes", 200, "never", _THEME, is_list=True, errors=(404,)),
    Sample("GET", "/api/themes", 200, "never", _THEME, is_list=True, errors=(404,)),
    Sample("POST", "/api/themes", 201, "always", _THEME, ARTWORK, errors=(409,)),
    Sample("GET", "/api/themes/{theme_id}", 200, "never", _THEME, errors=(404,)),
    Sample("PATCH", "/api/themes/{theme_id}", 200, "always", _THEME, {"name": "Boreal"}, errors=(400, 404, 409)),
    Sample("POST", "/api/themes/{theme_id}/block", 200, "always", _THEME, {"reason": "It flickers"}, errors=(404,)),
    Sample("DELETE", "/api/themes/{theme_id}", 200, "always", ("theme_id",), errors=(404,)),
    Sample("GET", "/api/themes/{theme_id}/authors", 200, "never", _AUTHOR, is_list=True, errors=(404,)),
    Sample("GET", "/api/themes/{theme_id}/css", 200, "never", _VERDICT, errors=(404,)),
    Sample("POST", "/api/themes/{theme_id}/authors", 200, "always", _THEME_LINK, {"author_id": 2}, errors=(404, 409)),
    Sample("DELETE", "/api/themes/{theme_id}/authors", 200, "guarded", ("theme_id", "author_id"), {"author_id": 1},
        errors=(404,)),
    Sample("DELETE", "/api/themes/{theme_id}/authors/{author_id}", 200, "always", ("theme_id", "author_id"),
        errors=(404,)),
    Sample("GET", "/api/logos", 200, "never", _LOGO, is_list=True, errors=(404,)),
    Sample("POST", "/api/logos", 201, "always", _LOGO, ARTWORK, errors=(409,)),
    Sample("GET", "/api/logos/{logo_id}", 200, "never", _LOGO, errors=(404,)),
    Sample("PATCH", "/api/logos/{logo_id}", 200, "always", _LOGO, {"name": "Boreal"}, errors=(400, 404, 409)),
    Sample("POST", "/api/logos/{logo_id}/block", 200, "always", _LOGO, {"reason": "It flickers"}, errors=(404,)),
    Sample("DELETE", "/api/logos/{logo_id}", 200, "guarded", ("logo_id",), errors=(404,)),
    Sample("GET", "/api/logos/{logo_id}/authors", 200, "never", _AUTHOR, is_list=True, errors=(404,)),
    Sample("GET", "/api/logos/{logo_id}/css", 200, "never", _VERDICT, errors=(404,)),
    Sample("POST", "/api/logos/{logo_id}/authors", 200, "guarded", _LOGO_LINK, {"author_id": 2}, errors=(404, 409)),
    Sample("DELETE", "/api/logos/{logo_id}/authors", 200, "always", ("logo_id", "author_id"), {"author_id": 1},
        errors=(404,)),
    Sample("DELETE", "/api/logos/{logo_id}/authors/{author_id}", 200, "always", ("logo_id", "author_id"),
        errors=(404,)),
    Sample("GET", "/api/pictures", 200, "always", _KEPT_PICTURE, is_list=True),
    Sample("POST", "/api/pictures", 200, "always", _PICTURE, PIXEL, errors=(201, 409, 429), media_type="image/png"),
    Sample("DELETE", "/api/pictures/{picture}", 200, "always", ("picture",), errors=(404,)),
)
# fmt: on
# Valid one after another in one gallery: removals come last, and links are removed before the linked records.
SAMPLES_IN_TURN: Final = sorted(SAMPLES, key=lambda row: (row.method == "DELETE", -len(row.template)))
