"""Any input over HTTP gets a status that the contract allows for the operation, and JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.kernel.access import Policy
from tests.asgi import AppResponse, ask
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on, stock
from tests.sample_requests import SAMPLES, Sample
from tests.strategies import json_values

pytestmark = pytest.mark.rule("contract A21", "contract A5", "spec §Errors 422")

JSON_VALUES = json_values()
POLICIES = st.sampled_from(list(Policy))


Behind = dict[Policy, tuple[ASGIApp, str]]


@pytest.fixture(scope="module")
def behind() -> Behind:
    """An application under each policy, and a token with every right; requests may change the gallery."""
    made: Behind = {}
    for policy in Policy:
        gallery = gallery_on(MemoryStorage(), FrozenClock(), policy)
        stock(gallery)
        tokens = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
        made[policy] = logoadmin.asgi(gallery), tokens.access_token
    return made


def proved(answered: AppResponse, allowed: set[int], is_file: bool = False) -> None:
    """Check that a response is allowed, and JSON; an error has only its detail."""
    assert answered.error is None
    assert answered.complete
    assert answered.status_code in allowed, (answered.status_code, answered.body)
    if is_file and answered.status_code == 200:
        assert answered.header("content-type") == "application/jsonl"
        assert all(isinstance(json.loads(line), dict) for line in answered.body.splitlines())
        return
    assert answered.header("content-type") == "application/json"
    body = answered.json()
    if answered.status_code >= 400:
        assert list(body) == ["detail"]
    if answered.status_code == 422:
        assert body["detail"]
        for entry in body["detail"]:
            assert set(entry) == {"loc", "msg", "type"}
            assert entry["loc"][0] in ("path", "query", "body", "line")
    elif answered.status_code >= 400:
        assert isinstance(body["detail"], str)
    else:
        assert not isinstance(body, dict) or not isinstance(body.get("password"), str)


@st.composite
def json_bodies(draw: st.DrawFn, row: Sample) -> Any:
    """Draw a body that is often nearly valid."""
    good = row.body if isinstance(row.body, dict) else {}
    names = st.sampled_from([*good, "x"])
    near = st.dictionaries(names, JSON_VALUES, max_size=3).map(lambda changes: {**good, **changes})
    return draw(near | JSON_VALUES)


ids = st.sampled_from(["0", "1", "2", "3", "7", "12", "2147483647", "2147483648", "-1", "x", "1.0", "%00"])
segments = ids | st.binary(min_size=1, max_size=6).map(lambda raw: "".join(f"%{byte:02x}" for byte in raw))


@st.composite
def paths(draw: st.DrawFn, row: Sample) -> str:
    """Draw a path of a row with any ids, without a slash in them."""
    names = [part.split("}")[0] for part in row.template.split("{")[1:]]
    fields = {name: draw(segments).replace("%2f", "%2e") for name in names}
    return row.template.format(**fields)


MEDIA_TYPES = sorted({row.media_type for row in SAMPLES})


@given(policy=POLICIES, row=st.sampled_from(SAMPLES), signed_in=st.booleans(), data=st.data())
def test_any_json_on_any_operation(
    behind: Behind, policy: Policy, row: Sample, signed_in: bool, data: st.DataObject
) -> None:
    app, token = behind[policy]
    headers = [("content-type", row.media_type)]
    if signed_in:
        headers.append(("authorization", f"Bearer {token}"))
    body = json.dumps(data.draw(json_bodies(row))).encode()
    answered = ask(app, row.method, data.draw(paths(row)), headers=headers, body=body)
    needs_token = row.needs_token(policy) and not signed_in
    proved(answered, {403} if needs_token else row.answers(policy), row.is_file)


@given(
    policy=POLICIES,
    row=st.sampled_from([row for row in SAMPLES if row.body is not None]),
    body=st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    type_=st.sampled_from([*MEDIA_TYPES, "application/x-www-form-urlencoded", "", "text/plain"]),
)
def test_any_bytes_on_any_operation(behind: Behind, policy: Policy, row: Sample, body: bytes, type_: str) -> None:
    app, token = behind[policy]
    headers = [("content-type", type_), ("authorization", f"Bearer {token}")]
    proved(ask(app, row.method, row.path, headers=headers, body=body), row.answers(policy))
