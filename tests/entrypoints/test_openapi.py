"""The OpenAPI document is right: it describes the operations, and they do what it describes."""

import json
import re
import runpy
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.kernel.access import Policy
from logoadmin.entrypoints.http_api.operation import CSV, FORM
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient
from tests.entrypoints.conftest import BOTH, Headers
from tests.sample_requests import SAMPLES, SAMPLES_IN_TURN, Sample

pytestmark = pytest.mark.rule("contract D users", "contract D roles", "contract D authors", "contract D themes")


@pytest.fixture
def document(client: AppClient) -> dict[str, Any]:
    response = client.get("/openapi.json")
    assert response.headers["content-type"] == "application/json"
    found: dict[str, Any] = response.json()
    return found


def described(document: dict[str, Any], row: Sample) -> dict[str, Any]:
    operation: dict[str, Any] = document["paths"][row.template][row.method.lower()]
    return operation


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    """Return a validator for a schema of the document, with its references resolved."""
    return Draft202012Validator({"components": document["components"], **schema})


@pytest.mark.rule("contract D logos")
def test_the_document_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    # Importing schemathesis itself takes seconds, and so would the other validator.
    (package,) = find_spec("schemathesis").submodule_search_locations  # type: ignore[union-attr, misc]  # it is one
    schema = runpy.run_path(f"{package}/specs/openapi/definitions.py")["OPENAPI_31"]
    jsonschema_rs.Draft202012Validator(schema).validate(document)
    for each in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(each)


def test_no_schema_has_a_property_with_its_own_name(document: dict[str, Any]) -> None:
    # Generated clients name a variable after each one.
    for name, schema in document["components"]["schemas"].items():
        assert not {each for each in schema.get("properties", ()) if each.replace("_", "") == name.lower()}, name


def parts(part: Any, *where: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield every object of the document, with where it is."""
    if isinstance(part, dict):
        yield where, part
        for name, value in part.items():
            # Examples and constants are values, whatever they look like.
            if name not in ("example", "examples", "const", "default"):
                yield from parts(value, *where, name)
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from parts(value, *where, str(number))


@pytest.mark.rule("contract D logos", "spec §Errors 422")
def test_every_example_matches_its_schema(document: dict[str, Any]) -> None:
    count = 0
    for where, part in parts(document):
        examples = [*part.get("examples", ()), *([part["example"]] if "example" in part else [])]
        for example in examples:
            # An example stands in a schema, or beside one.
            judge = validator(document, part.get("schema", part))
            problems = [error.message for error in judge.iter_errors(example)]
            assert problems == [], where
            count += 1
    assert count > 500


def examples_of(document: dict[str, Any], content: dict[str, Any]) -> list[Any]:
    """Return the examples of a body: that beside its schema, or those of each schema that it may have."""
    if "example" in content:
        return [content["example"]]
    schemas = content["schema"].get("anyOf", [content["schema"]])
    refs = (schema.get("$ref", "").rpartition("/")[2] for schema in schemas)
    named = [document["components"]["schemas"].get(ref, schema) for ref, schema in zip(refs, schemas, strict=True)]
    return [example for schema in named for example in schema.get("examples", ())]


# Secrets and pictures cannot be invented: these requests are refused with those of the examples.
MADE_UP = {"/api/auth/token": {401, 403}, "/api/auth/factors/passkeys": {422}, "/api/settings": {422}}


@pytest.mark.parametrize("access", [Policy.GUARDED])
@pytest.mark.rule("contract F1", "contract J7", "contract O2", "contract I4")
def test_the_service_accepts_every_example(client: AppClient, document: dict[str, Any], admin: Headers) -> None:
    for operation in OPERATIONS:
        described = document["paths"][operation.path][operation.method.lower()]
        given: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for each in described.get("parameters", ()):
            example = each["example"] if "example" in each else each["schema"]["examples"][0]
            given[each["in"]][each["name"]] = str(example).lower() if isinstance(example, bool) else example
        contents = described.get("requestBody", {}).get("content", {"": {"example": None}})
        for media_type, body in ((name, body) for name in contents for body in examples_of(document, contents[name])):
            # A key may be used once, and lines name their kinds themselves.
            headers = {**admin, **given["header"], "Idempotency-Key": uuid4().hex, "content-type": media_type}
            query = {} if operation.takes_jsonl and media_type != CSV else given["query"]
            sent = urlencode(body) if media_type == FORM else body if isinstance(body, str) else json.dumps(body)
            path = operation.path.format(**given["path"])
            content = sent if media_type else None
            answer = client.request(operation.method, path, params=query, headers=headers, content=content)
            # Records of the examples may be missing here, and names taken.
            expected = {operation.success, operation.existing, 400, 404, 409} | MADE_UP.get(operation.path, set())
            assert answer.status_code in expected, answer.text
    for change in document["components"]["schemas"]["BulkChange"]["examples"]:
        BulkChange.model_validate(change).step()


@BOTH
@pytest.mark.rule("spec §Versioning", "contract C1", "contract D logos")
def test_the_document_has_exactly_the_operations(document: dict[str, Any]) -> None:
    there = [(method.upper(), path) for path, item in document["paths"].items() for method in item]
    assert sorted(there) == sorted((row.method, row.template) for row in SAMPLES)
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert sorted(names) == sorted({operation.name for operation in OPERATIONS})


@BOTH
@pytest.mark.rule("spec §Errors 422", "spec §Errors 503", "contract A21", "contract B1")
def test_the_documented_statuses_are_those_of_the_operations(document: dict[str, Any], access: Policy) -> None:
    for row in SAMPLES:
        responses = document["paths"][row.template][row.method.lower()]["responses"]
        assert [int(status) for status in responses] == sorted(row.statuses(access)), str(row)


@BOTH
@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 4", "contract B1")
def test_the_document_names_the_operations_that_need_a_token(document: dict[str, Any], access: Policy) -> None:
    for row in SAMPLES:
        ways: list[dict[str, list[str]]] = [{"password": []}, {"bearer": []}]
        optional = [] if row.token == "never" else [{}, *ways]
        assert described(document, row)["security"] == (ways if row.needs_token(access) else optional), row


@pytest.mark.rule("contract C1")
def test_a_client_finds_where_to_sign_in(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["password"]["type"] == "oauth2"
    assert schemes["password"]["flows"]["password"]["tokenUrl"].endswith("api/auth/token")
    assert (schemes["bearer"]["type"], schemes["bearer"]["scheme"]) == ("http", "bearer")  # for a service key
    (row,) = [row for row in SAMPLES if row.template == "/api/auth/token"]
    contents = described(document, row)["requestBody"]["content"]
    assert set(contents) == {"application/json", "application/x-www-form-urlencoded"}


@BOTH
@pytest.mark.rule("spec §Resources", "contract D logos")
def test_responses_match_the_document(client: AppClient, document: dict[str, Any], admin: Headers) -> None:
    for row in SAMPLES_IN_TURN:
        response = row.send(client, admin)
        documented = described(document, row)["responses"][str(response.status_code)]
        media = next(iter(documented["content"].items()))
        assert media[0] == response.headers["content-type"]
        validator(document, media[1]["schema"]).validate(response.text if row.is_file else response.json())
        refused = row.send(client, admin, row.path + "?x=1")
        (schema,) = described(document, row)["responses"]["422"]["content"].values()
        validator(document, schema["schema"]).validate(refused.json())
        assert not validator(document, schema["schema"]).is_valid({"detail": "text"})


OF_IDS: Final = {"type": "integer", "minimum": 0, "maximum": 2_147_483_647}
LIMITS: Final[dict[str, dict[str, Any]]] = {
    "session_id": {"type": "string", "minLength": 1, "maxLength": 128},
    "picture": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


@pytest.mark.rule("spec §Limits", "contract A2", "contract A4")
def test_the_limits_of_requests_are_documented(document: dict[str, Any]) -> None:
    for row in SAMPLES:
        operation = described(document, row)
        parameters = operation.get("parameters", [])
        in_path = [parameter for parameter in parameters if parameter["in"] == "path"]
        assert [parameter["name"] for parameter in in_path] == re.findall(r"{(\w+)}", row.template)
        for parameter in parameters:
            assert parameter["required"] == (parameter["in"] == "path")
            assert "example" in parameter or parameter["schema"]["examples"]
        for parameter in in_path:
            assert parameter["schema"].items() >= LIMITS.get(parameter["name"], OF_IDS).items()
        assert ("requestBody" in operation) == (row.body is not None)
        if row.takes_body:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            judge = validator(document, schema)
            judge.validate(row.body)
            takes_any = row.template == "/api/auth/me/preferences"
            assert judge.is_valid({**row.body, "surplus": 1}) is takes_any
            assert not judge.is_valid([])
