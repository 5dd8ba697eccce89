"""The examples in the document, and the schemas with an example and a description for each field."""

from typing import Any, Final

from logoadmin.entrypoints.http_api.openapi.words import ELSEWHERE, FIELDS, SCHEMAS, STATUSES

# One value for each field, wherever it is.
EXAMPLES: Final[dict[str, Any]] = {
    "user_id": 1042,
    "username": "Ann",
    "avatar": "https://example.org/ann.png",
    "password": "correct horse battery staple",
    "role_id": 1,
    "name": "Aurora",
    "scope": ["logos:write", "themes:write"],
    "author_id": 7,
    "theme_id": 3,
    "logo_id": 12,
    "theme_author_id": 4,
    "logo_author_id": 19,
    "preview_url": "https://example.org/aurora.png",
    "target": "forum",
    "custom_css": "body { color: #123 }",
    "active": True,
    "authors": [{"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1_800_000_000}],
    "created_at": 1_800_000_000,
    "grant_type": "password",
    "access_token": "eyJhbGciOi...",
    "token_type": "bearer",
    "expires_in": 900,
    "refresh_token": "Zk3v...",
    "key": "lga_7Hq2...",
    "key_id": 2,
    "expires_at": 1_830_000_000,
    "last_used_at": None,
    "ended": True,
    "change_id": 57,
    "at": 1_800_000_000,
    "action": "author.amended",
    "kind": "author",
    "id": 7,
    "before": {"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1_800_000_000},
    "after": {"author_id": 7, "user_id": 1042, "username": "Anna", "created_at": 1_800_000_000},
    "request_id": "8e03978e40d5",
    "limit": 100,
    "q": "aur",
    "detail": STATUSES[404][1],
    "loc": ["path", "logo_id"],
    "msg": "Input should be greater than or equal to 0",
    "type": "greater_than_equal",
}


# Where a name means something else: by the schema, the command or the place it is in.
_ELSEWHERE: Final[dict[tuple[str, str], Any]] = {
    ("query", "after"): 57,
    ("Tokens", "scope"): "logos:write themes:write",
    ("InvalidInput", "detail"): STATUSES[422][1],
}


def explained(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a description and an example for each field, and an example of the whole."""
    described = {**schema, "description": SCHEMAS[title]} if title in SCHEMAS else schema
    if "properties" not in schema:
        return described
    properties = {name: _explained_field(title, name, field) for name, field in schema["properties"].items()}
    whole = {name: field["examples"][0] for name, field in properties.items()}
    return {**described, "properties": properties, "examples": [whole]}


def description_of(place: str, name: str) -> str:
    """Return the description of a field in a schema, or of a parameter in the query."""
    return ELSEWHERE.get((place, name)) or FIELDS[name]


def example_of(place: str, name: str) -> Any:
    """Return the example of a field in a schema, or of a parameter in the query."""
    return _ELSEWHERE.get((place, name), EXAMPLES[name])


def _explained_field(title: str, name: str, field: dict[str, Any]) -> dict[str, Any]:
    example = field["const"] if "const" in field else example_of(title, name)
    return {**field, "description": description_of(title, name), "examples": [example]}
