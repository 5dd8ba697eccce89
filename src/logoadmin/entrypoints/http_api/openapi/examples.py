"""The examples in the document."""

from typing import Any, Final

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
    "detail": "Logo 12 not found",
    "loc": ["path", "logo_id"],
    "msg": "Input should be greater than or equal to 0",
    "type": "greater_than_equal",
}


def with_examples(schemas: Any) -> Any:
    """Return schemas whose fields have an example each."""
    if isinstance(schemas, list):
        return [with_examples(part) for part in schemas]
    if not isinstance(schemas, dict):
        return schemas
    made = {name: with_examples(part) for name, part in schemas.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made["properties"] = {
            name: {**field, "examples": [EXAMPLES[name]]} if name in EXAMPLES and "$ref" not in field else field
            for name, field in made["properties"].items()
        }
    return made
