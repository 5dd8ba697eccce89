"""Schemathesis with all of its checks."""

import json
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.engine import events, from_schema
from schemathesis.openapi.checks import RejectedPositiveData
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.kernel.access import Policy
from tests.entrypoints.conftest import Headers, bearer
from tests.entrypoints.test_openapi import validator
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, FrozenClock, gallery_on, stock
from tests.options import LONG

pytestmark = pytest.mark.slow("a long random walk")

schemathesis.serializer.alias(["application/jsonl", "application/x-ndjson", "text/csv"], "text/plain")

# A 400 for a name that is taken is what spec §Errors wants of a request that is well-formed: schemathesis counts it
# as well-formed input refused, and so it does a 412 for a missing version. Of the values that are given here
# for it to accept, only these two are not its default.
TAKEN = {"expected-statuses": ["2xx", "3xx", 401, 403, 404, 409, 429, "5xx", 400, 412]}
# Growing strings of up to 524,288 characters to the edge of their limit takes it minutes, and so long as to be felt
# without the edge: themes get good ones only, logos, which have the same body, none. test_limits goes to the edge.
LONG_TEXTS: list[dict[str, Any]] = [
    {"include-operation-id": ["create_theme", "amend_theme"], "phases": {"coverage": {"enabled": False}}}
    | {"generation": {"mode": "positive", "max-examples": 1}},
    {"include-operation-id": ["create_logo", "amend_logo"], "enabled": False},
]
# All later requests would be refused.
SIGNING_OUT = {"include-operation-id": ["revoke"], "enabled": False}
DUPLICATES = {"include-method": ["PATCH", "PUT", "DELETE"], "checks": {"positive_data_acceptance": TAKEN}}


def has_whole_float(body: object) -> bool:
    """Return whether a body has a 5.0, which JSON Schema calls an integer and contract A1 does not."""
    if isinstance(body, dict | list):
        return any(map(has_whole_float, body.values() if isinstance(body, dict) else body))
    return isinstance(body, float) and body.is_integer()


# Rules that no schema of the document states.
UNSTATED = {
    "Challenge was used or has expired",  # it cannot be invented (contract O1)
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
    stated = [each for each in problems if each["msg"] not in UNSTATED]
    return all("changes" in each["loc"] and each["type"] in of_changes for each in stated)


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
                failures = [result.failure_info.failure for result in results if result.failure_info is not None]
                asked = f"{case.method} {case.path} {case.path_parameters} {str(case.body)[:200]}"
                complaints += [
                    f"{asked}: {failure.title}: {failure.message}"
                    for failure in failures
                    if not is_explained(case, event.recorder.interactions[case_id].response, failure)
                ]
        elif isinstance(event, events.NonFatalError | events.FatalError):
            complaints.append(str(event))
    assert checks > 1000
    return complaints


# Input that the document refuses never reaches a database.
BAD_TOO = "all" if LONG else "positive"


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
