"""The schemas with a description and an example for each field."""

import re
from typing import Any, Final

from logoadmin.entrypoints.http_api.openapi.texts import SCHEMAS

# The keywords of a schema that describe it.
_WORDS: Final = ("description", "examples")
_SOURCES: Final = re.compile(r" \((?:spec|contract) [^)]*\)")


def with_examples(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a description and an example for each field, and an example of the whole."""
    description = SCHEMAS.get(title) or without_sources(schema.get("description", ""))
    described = {**schema, "description": description} if description else schema
    if "properties" not in schema:
        return described
    properties = {name: _field_with_example(field) for name, field in schema["properties"].items()}
    whole = {name: field["examples"][0] for name, field in properties.items()}
    return {**described, "properties": properties, "examples": [whole]}


def describe_field(schema: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Return the description of a field, its example, and the rest of its schema."""
    bare, own = dict(schema), schema
    if "anyOf" in schema:  # nullable: the description may belong to the other type
        own = next((part for part in (schema, *schema["anyOf"]) if "description" in part), schema)
        bare["anyOf"] = [{name: said for name, said in part.items() if name not in _WORDS} for part in schema["anyOf"]]
    for word in _WORDS:
        bare.pop(word, None)
    return own["description"], schema["const"] if "const" in schema else own["examples"][0], bare


def without_sources(docstring: str | None) -> str:
    """Return the first paragraph of a record's docstring in Markdown, for people who do not know the specification."""
    return _SOURCES.sub("", (docstring or "").split("\n\n")[0]).replace("``", "`").replace("\n", " ")


def _field_with_example(field: dict[str, Any]) -> dict[str, Any]:
    description, example, schema = describe_field(field)
    return {**schema, "description": description, "examples": [example]}
