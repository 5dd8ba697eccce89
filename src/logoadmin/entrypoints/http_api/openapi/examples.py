"""The schemas with a description and an example for each field: of its type, or else of its name."""

import re
from typing import Any, Final

from logoadmin.domain.model.kinds import ARTWORK_KINDS, KINDS
from logoadmin.entrypoints.http_api.openapi.texts import ELSEWHERE, FIELDS, SCHEMAS, STATUSES

# One value for each field, wherever it is, if its type in domain/model/limits.py has none.
EXAMPLES: Final[dict[str, Any]] = {
    **{kind.id_field: 7 for kind in KINDS.values()},
    **{kind.link_id_field: 19 for kind in ARTWORK_KINDS},
    "user_id": 1042,
    "role_id": 1,
    "scope": ["logos:write", "themes:write"],
    "logo_id": 12,
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
    "refreshed_at": 1_800_003_600,
    "address": "203.0.113.7",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "current": True,
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
    "order": "desc",
    "since": 1_800_000_000,
    "until": 1_800_086_400,
    "dry_run": True,
    "created": 2,
    "amended": 0,
    "unchanged": 1,
    "detail": STATUSES[404][1],
    "loc": ["path", "logo_id"],
    "msg": "Input should be greater than or equal to 0",
    "type": "greater_than_equal",
}

# Where a name means something else: by the schema, the command or the place it is in.
_ELSEWHERE: Final[dict[tuple[str, str], Any]] = {
    ("query", "after"): 57,
    ("ExportRecords", "kind"): ["author", "logo"],
    ("RemovedUserSessions", "ended"): 3,
    ("Tokens", "scope"): "logos:write themes:write",
    ("InvalidInput", "detail"): STATUSES[422][1],
}

# What a schema says in words.
_WORDS: Final = ("description", "examples")
_SOURCES: Final = re.compile(r" \((?:spec|contract) [^)]*\)")


def with_examples(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a description and an example for each field, and an example of the whole."""
    description = SCHEMAS.get(title) or without_sources(schema.get("description", ""))
    described = {**schema, "description": description} if description else schema
    if "properties" not in schema:
        return described
    properties = {name: _field_with_example(title, name, field) for name, field in schema["properties"].items()}
    whole = {name: field["examples"][0] for name, field in properties.items()}
    return {**described, "properties": properties, "examples": [whole]}


def describe_field(place: str, name: str, schema: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Return the description of a field, its example, and the rest of its schema.

    Args:
        place: the schema or the command that it is in; ``path`` or ``query`` of a parameter.
        name: its name.
        schema: its schema, with what its type says.
    """
    bare, own = dict(schema), schema
    if "anyOf" in schema:  # what may be null: the other type says what it is
        own = next((part for part in schema["anyOf"] if "description" in part), schema)
        bare["anyOf"] = [{name: said for name, said in part.items() if name not in _WORDS} for part in schema["anyOf"]]
    for word in _WORDS:
        bare.pop(word, None)
    description = ELSEWHERE.get((place, name)) or own.get("description") or FIELDS[name]
    if "const" in schema:
        return description, schema["const"], bare
    if (place, name) in _ELSEWHERE:
        return description, _ELSEWHERE[place, name], bare
    return description, own["examples"][0] if "examples" in own else EXAMPLES[name], bare


def without_sources(docstring: str | None) -> str:
    """Return the first paragraph of a record's docstring in Markdown, for people who do not know the specification."""
    return _SOURCES.sub("", (docstring or "").split("\n\n")[0]).replace("``", "`").replace("\n", " ")


def _field_with_example(title: str, name: str, field: dict[str, Any]) -> dict[str, Any]:
    description, example, schema = describe_field(title, name, field)
    return {**schema, "description": description, "examples": [example]}
