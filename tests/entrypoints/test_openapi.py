"""The OpenAPI document is right: it describes the operations, and they do what it describes."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import jsonschema_rs
import pytest
import schemathesis
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.engine import events, from_schema
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.specs.openapi.definitions import OPENAPI_31
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.kernel.access import Policy
from logoadmin.entrypoints.http_api.operation import CSV, FORM
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, FrozenClock, gallery_on, stock
from tests.options import LONG
from tests.sample_requests import SAMPLES, SAMPLES_IN_TURN, Sample

pytestmark = pytest.mark.rule("contract D users", "contract D roles", "contract D authors", "contract D themes")

BOTH = pytest.mark.parametrize("access", list(Policy))


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
    """Return what judges by a schema of the document, whose references lead into it."""
    return Draft202012Validator({"components": document["components"], **schema})


@BOTH
@pytest.mark.rule("contract D logos")
def test_the_document_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    # With the validator of schemathesis: the other one needs seconds for the schema of OpenAPI.
    jsonschema_rs.Draft202012Validator(OPENAPI_31).validate(document)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_no_schema_has_a_property_of_its_own_name(document: dict[str, Any]) -> None:
    # Generated clients name a variable after each.
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
def test_every_example_is_one(document: dict[str, Any]) -> None:
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


# Secrets and pictures cannot be made up: with those of the examples, these requests are refused.
MADE_UP = {"/api/auth/token": {401, 403}, "/api/auth/factors/passkeys": {422}, "/api/settings": {422}}


@pytest.mark.parametrize("access", [Policy.GUARDED])
@pytest.mark.rule("contract F1", "contract J7", "contract O2", "contract I4")
def test_the_service_accepts_every_example_of_a_request(
    client: AppClient, document: dict[str, Any], admin: Headers, subtests: pytest.Subtests
) -> None:
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
            with subtests.test(f"{operation.name} {media_type} {body}"):
                sent = urlencode(body) if media_type == FORM else body if isinstance(body, str) else json.dumps(body)
                path = operation.path.format(**given["path"])
                answer = client.request(
                    operation.method, path, params=query, headers=headers, content=sent if media_type else None
                )
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


@pytest.mark.rule("contract I4", "contract A21")
def test_generated_clients_import_octets_and_export_text(
    client: AppClient, document: dict[str, Any], admin: Headers
) -> None:
    paths = document["paths"]
    assert "application/octet-stream" in paths["/api/import"]["post"]["requestBody"]["content"]
    assert "text/plain" in paths["/api/export"]["get"]["responses"]["200"]["content"]
    exported = client.get("/api/export", headers={**admin, "accept": "text/plain"})
    assert exported.headers["content-type"] == "text/plain"
    assert exported.content == client.get("/api/export", headers=admin).content
    for media_type, status in (("application/octet-stream", 200), ("text/plain", 415)):
        sent = {**admin, "content-type": media_type}
        assert client.post("/api/import", content=exported.content, headers=sent).status_code == status


@BOTH
@pytest.mark.rule("spec §Resources", "contract D logos")
def test_answers_are_as_documented(
    client: AppClient, document: dict[str, Any], admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in SAMPLES_IN_TURN:
        with subtests.test(str(row)):
            response = row.send(client, admin)
            documented = described(document, row)["responses"][str(response.status_code)]
            media = next(iter(documented["content"].items()))
            assert media[0] == response.headers["content-type"]
            validator(document, media[1]["schema"]).validate(response.text if row.is_file else response.json())
            refused = row.send(client, admin, row.path + "?x=1")
            (schema,) = described(document, row)["responses"]["422"]["content"].values()
            validator(document, schema["schema"]).validate(refused.json())
            assert not validator(document, schema["schema"]).is_valid({"detail": "text"})


@pytest.mark.rule("spec §Limits", "contract A2", "contract A4")
def test_requests_are_documented_with_their_limits(document: dict[str, Any]) -> None:
    for row in SAMPLES:
        operation = described(document, row)
        parameters = operation.get("parameters", [])
        in_path = [parameter for parameter in parameters if parameter["in"] == "path"]
        assert [parameter["name"] for parameter in in_path] == [
            part.split("}")[0] for part in row.template.split("{")[1:]
        ]
        for parameter in parameters:
            assert parameter["required"] == (parameter["in"] == "path")
            assert "example" in parameter or parameter["schema"]["examples"]
        for parameter in in_path:
            limits = {"type": "integer", "minimum": 0, "maximum": 2_147_483_647}
            if parameter["name"] == "session_id":
                limits = {"type": "string", "minLength": 1, "maxLength": 128}
            if parameter["name"] == "picture":
                limits = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
            assert parameter["schema"].items() >= limits.items()
        assert ("requestBody" in operation) == (row.body is not None)
        if row.takes_body:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            judge = validator(document, schema)
            judge.validate(row.body)
            takes_any = row.template == "/api/auth/me/preferences"
            assert judge.is_valid({**row.body, "surplus": 1}) is takes_any
            assert not judge.is_valid([])


# Schemathesis, with every check it has.

schemathesis.serializer.alias(["application/jsonl", "application/x-ndjson", "text/csv"], "text/plain")

# A 400 for a name that is taken is what spec §Errors wants of a request that is well-formed: schemathesis counts it
# as well-formed input refused, and so it does a 412 for a missing version. Of the values that are given here
# for it to accept, only these two are not its default.
TAKEN = {"expected-statuses": ["2xx", "3xx", 401, 403, 404, 409, 429, "5xx", 400, 412]}
# Growing strings of up to 524,288 characters to the edge of their limit takes it minutes, and so long as to be felt
# without the edge: themes get good ones only, logos, which have the same body, none. test_limits goes to the edge.
LONG_TEXTS = [
    {
        "include-operation-id": ["create_theme", "amend_theme"],
        "phases": {"coverage": {"enabled": False}},
        "generation": {"mode": "positive", "max-examples": 1},
    },
    {"include-operation-id": ["create_logo", "amend_logo"], "enabled": False},
]
# All that follows would be refused.
SIGNING_OUT = {"include-operation-id": ["revoke"], "enabled": False}
DUPLICATES = {"include-method": ["PATCH", "PUT", "DELETE"], "checks": {"positive_data_acceptance": TAKEN}}


def has_whole_float(body: object) -> bool:
    """Return whether a body has a 5.0, which JSON Schema calls an integer and contract A1 does not."""
    if isinstance(body, dict | list):
        return any(map(has_whole_float, body.values() if isinstance(body, dict) else body))
    return isinstance(body, float) and body.is_integer()


# What no schema of the document states.
UNSTATED = {
    "Challenge was used or has expired",  # it cannot be made up (contract O1)
    "Body should be empty if from is given",  # a body and a query exclude each other (contract P1)
    "CSV has records of one kind: author, theme or logo",  # one parameter needs another (contract I4)
    "Input should be given together with kind",  # the same (contract G3)
    "Input should be an encoding, such as utf-8 or cp1251",  # as Python's codecs name them (contract I4)
    "Input should be a URL that browsers accept",
    # A target has documents or its own, and conditions and selectors are CSS, which patterns do not read (contract Q3).
    'Input should have either documents or "own": true',
    "The CSS of a logo names no pages: give documents instead of own",
    'Input should be url(), url-prefix(), domain() or regexp() with a string, such as domain("forum.example")',
    "Input should be a selector, such as .site-logo",
    "Input should be a picture of this service; upload it first",  # it has to exist (contract J8)
    "Tag should have at most 32 characters in lower case",  # some letters become two there (contract S1)
    "String should have at least one visible character",  # patterns know no categories of Unicode (contract A3)
}
# The fields of a change depend on its kind (contract J7): which there may be, must be, and how they must be together.
OF_CHANGES = {"missing", "extra_forbidden", "value_error", "no_change", "int_type", "string_type", "bool_type"}
WITH_CHANGES = ("/api/changes", "/api/proposals", "/api/proposals/{proposal_id}")


def breaks_unstated_rule(case: Any, response: Any) -> bool:
    """Return whether a request is refused for what no schema of the document states."""
    if has_whole_float(case.body) or lacks_current_password(case):
        return True
    if response.status_code == 415:  # whether there is a body, and its type, depend on the query (contract I4, P1)
        return (case.path, "kind" in case.query) == ("/api/import", True) or (
            case.path == "/api/pictures" and not isinstance(case.body, bytes) and "from" not in case.query
        )
    if response.status_code != 422:
        return False
    if case.path == "/api/pictures":  # what another server has, or has not, is no picture (contract P1)
        return "from" in case.query
    problems = json.loads(response.content)["detail"]
    of_changes = OF_CHANGES if case.path in WITH_CHANGES else ()
    return all(
        problem["msg"] in UNSTATED or (problem["type"] in of_changes and "changes" in problem["loc"])
        for problem in problems
    )


def lacks_current_password(case: Any) -> bool:
    """Return whether somebody sets their own password without the current one, which others need not give."""
    is_own = case.path.endswith("/password") and case.path_parameters["user_id"] == ADMIN_ID
    return is_own and isinstance(case.body, dict) and "current_password" not in case.body


def fits(case: Any) -> bool:
    """Return whether the document allows a body, such as an empty link, to which schemathesis adds rules of its own."""
    schema = case.operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
    return bool(validator(case.operation.schema.raw_schema, schema).is_valid(case.body))


def is_explained(case: Any, response: Any, failure: Exception) -> bool:
    """Return whether a request fails a check for no fault of the service."""
    if isinstance(failure, AcceptedNegativeData) and "Invalid component: in body" in failure.message and fits(case):
        return True
    # A name is required without a number, and only then (contract R5): a 422 says so, and schemathesis learns from it.
    if case.path == "/api/auth/links" and isinstance(case.body, dict) and "username" not in case.body:
        return isinstance(failure, RejectedPositiveData | AcceptedNegativeData)
    return isinstance(failure, RejectedPositiveData) and breaks_unstated_rule(case, response)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """Let no request be the repetition of another one, which would be refused or answered without being tried."""
    if case.headers:
        case.headers.pop("Idempotency-Key", None)


def found(app: ASGIApp, headers: Headers, *, examples: int, mode: str) -> list[str]:
    """Let schemathesis try everything it can think of, good, bad or all, and return what it complains of."""
    config = SchemathesisConfig.from_dict(
        {
            "seed": 1,
            "workers": 1,
            "headers": {name.title(): value for name, value in headers.items()},  # as schemathesis looks for them
            "generation": {"max-examples": max(examples, 1), "mode": mode, "deterministic": True, "database": "none"},
            "phases": {"stateful": {"enabled": examples > 0}, "fuzzing": {"enabled": examples > 0}},
            "operations": [DUPLICATES, *LONG_TEXTS, *([SIGNING_OUT] if headers else [])],
        }
    )
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
    complaints, checks = [], 0
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            for case_id, results in event.recorder.checks.items():
                checks += len(results)
                case = event.recorder.cases[case_id].value
                complaints += [
                    f"{case.method} {case.path} {case.path_parameters} {str(case.body)[:200]}: "
                    f"{result.failure_info.failure.title}: {result.failure_info.failure.message}"
                    for result in results
                    if result.failure_info is not None
                    and not is_explained(
                        case, event.recorder.interactions[case_id].response, result.failure_info.failure
                    )
                ]
        elif isinstance(event, events.NonFatalError | events.FatalError):
            complaints.append(str(event))
    assert checks > 1000
    return complaints


# Input that the document refuses never reaches a database.
BAD_TOO = "all" if LONG else "positive"


@pytest.mark.slow("a long random walk")
@pytest.mark.rule("contract A21", "spec §Errors 422", "contract D logos")
@pytest.mark.parametrize(
    ("storage_name", "signed_in", "access", "examples", "mode"),
    [
        ("memory", False, Policy.OPEN, 0, "all"),
        ("memory", True, Policy.GUARDED, 15 if LONG else 2, "all"),
        pytest.param("sqlite", True, Policy.GUARDED, 1, BAD_TOO, marks=pytest.mark.release),
        ("mariadb", True, Policy.GUARDED, 1, BAD_TOO),
    ],
)
def test_schemathesis_finds_nothing(
    request: pytest.FixtureRequest, storage_name: str, signed_in: bool, access: Policy, examples: int, mode: str
) -> None:
    gallery = gallery_on(request.getfixturevalue(f"{storage_name}_storage"), FrozenClock(), access)
    stock(gallery)
    headers = bearer(gallery, "admin", ADMIN_PASSWORD) if signed_in else {}
    assert found(logoadmin.asgi(gallery), headers, examples=examples, mode=mode) == []
