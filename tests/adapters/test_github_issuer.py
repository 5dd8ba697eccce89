"""The GitHub adapter against a GitHub that behaves as documented or forges any field (contract O7)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin.adapters.oauth_issuer.github import GitHubIssuer
from logoadmin.ports.issuer import Authorization, IssuedIdentity
from tests.github import ANN_ID, CLIENT_ID, CLIENT_SECRET, OTHER_ID, TOKEN, USER, FakeGitHub, account, fake_github
from tests.issuer import VERIFIER, redeem, refusal, unavailable

pytestmark = pytest.mark.rule("contract O7")

ANN: Final = IssuedIdentity("583231", None, ("ann",), avatar="https://avatars.githubusercontent.com/u/583231?v=4")
SECRETS: Final = (CLIENT_SECRET, VERIFIER, "gho_")
Refused = Callable[..., str]


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with fake_github() as running:
        yield running


@pytest.fixture
def issuer(fake: FakeGitHub) -> GitHubIssuer:
    return fake.issuer()


@pytest.fixture
def refused(issuer: GitHubIssuer, fake: FakeGitHub, caplog: pytest.LogCaptureFixture) -> Refused:
    """Requires that a sign-in is refused, and returns the logged reason."""
    return lambda code=None, **instead: refusal(issuer, code or fake.code(), caplog, SECRETS, **instead)


def test_a_code_is_exchanged_for_a_person(issuer: GitHubIssuer, fake: FakeGitHub) -> None:
    assert redeem(issuer, fake.code()) == ANN
    exchange, user = fake.asked
    assert (exchange.path, user.path) == (TOKEN, USER)
    assert exchange.form.keys() == {
        *("grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret")
    }
    assert exchange.headers["accept"] == "application/json"
    assert user.headers["accept"] == "application/vnd.github+json"
    assert user.headers["x-github-api-version"] == "2022-11-28"
    assert user.headers["user-agent"] == "logoadmin"


def test_browsers_ask_for_no_scope(issuer: GitHubIssuer, fake: FakeGitHub) -> None:
    """ASVS 10.2.3. The identifier in responses differs from the setting."""
    oauth = f"{fake.url}/login/oauth"
    assert issuer.authorization() == Authorization(f"{oauth}/authorize", "", oauth, iss_in_response=False)
    assert (issuer.name, issuer.url, issuer.client_id) == ("GitHub", fake.url, CLIENT_ID)
    assert fake.asked == []


def test_a_renamed_login_is_the_same_person(issuer: GitHubIssuer, fake: FakeGitHub) -> None:
    fake.person = account(ANN_ID, "ann-renamed")
    assert redeem(issuer, fake.code()) == replace(ANN, names=("ann-renamed",))
    fake.person = account(ANN_ID + 1, "ann")  # the login is free again, and another user takes it
    assert redeem(issuer, fake.code()).subject != ANN.subject


def test_scopes_granted_earlier_are_ignored(issuer: GitHubIssuer, fake: FakeGitHub) -> None:
    fake.granted = "repo,user"
    assert redeem(issuer, fake.code()) == ANN


def test_a_code_is_bound_to_one_client_one_browser_and_one_sign_in(
    issuer: GitHubIssuer, fake: FakeGitHub, refused: Refused
) -> None:
    """ASVS 10.2.1. GitHub refuses with status 200."""
    bad = "its token endpoint refuses the code: bad_verification_code"
    assert refused(fake.code(OTHER_ID)) == bad
    assert refused(code_verifier="w" * 43) == bad
    used = fake.code()
    redeem(issuer, used)
    assert refused(used) == bad
    assert fake.paths().count(USER) == 1


def test_a_wrong_secret_and_a_wrong_callback_are_logged(fake: FakeGitHub, caplog: pytest.LogCaptureFixture) -> None:
    wrong_secret = refusal(fake.issuer("wrong"), fake.code(), caplog, SECRETS)
    assert wrong_secret.endswith(": incorrect_client_credentials")
    fake.apps[CLIENT_ID] = "https://gallery.example/console/"
    assert refusal(fake.issuer(), fake.code(), caplog, SECRETS).endswith(": redirect_uri_mismatch")


OF_BEARER = {"token_type": "bearer", "access_token": "gho_s3cret"}
TOKEN_RESPONSES: list[tuple[int, Any]] = [
    *((200, b""), (200, b"[]"), (200, b"null"), (200, b"\xff"), (200, b"[" * 100_000), (200, b'{"a": NaN}')),
    (200, "access_token=gho_s3cret&scope=&token_type=bearer"),  # as if it ignored the Accept header
    *((200, {}), (200, {"access_token": "gho_s3cret"}), (200, {"token_type": "bearer"})),
    *((200, {**OF_BEARER, "access_token": lie}) for lie in (5, "", "a b", "a\r\nX: y", "\N{SNOWMAN}")),
    *((200, {**OF_BEARER, "error": error}) for error in ("bad_verification_code", "S3cret!", None)),
    (200, {**OF_BEARER, "token_type": "mac"}),
    *((302, "https://evil.example/"), (404, {"error": "Not Found"}), (403, b"<html>s3cret"), (201, {})),
]
USER_RESPONSES: list[tuple[int, Any]] = [
    *((200, b"[]"), (200, b"583231"), (200, b"\xff"), (302, "https://evil.example/"), (304, b""), (404, {})),
]
NO_IDS = ("583231", "", None, True, False, 0, -1, 583231.0, 2**63, [583231], {"id": 583231})


@pytest.mark.parametrize(
    ("what", "value", "reason"),
    [
        *(("answers", {TOKEN: response}, "its token .*") for response in TOKEN_RESPONSES),
        *(("answers", {USER: response}, "its (user|API) .*") for response in USER_RESPONSES),
        *(("person", account(lie, "ann"), "the id of the user is missing or unusable") for lie in NO_IDS),
        ("person", {"login": "ann"}, "the id of the user is missing or unusable"),
        *(("person", account(ANN_ID, lie), "the login of the user is missing") for lie in (None, 5, ["ann"])),
        ("revoked", True, "its API responds with status 401"),
    ],
)
def test_a_bad_response_is_refused(fake: FakeGitHub, refused: Refused, what: str, value: object, reason: str) -> None:
    setattr(fake, what, value)
    assert re.fullmatch(reason, refused())
    assert fake.paths() == ([TOKEN] if "token" in reason else [TOKEN, USER])


@pytest.mark.parametrize(
    "lie", [None, 5, "", "javascript:alert(1)", "http://a.example/", "https://a.example/\n", "https://" + "a" * 4096]
)
def test_an_unusable_avatar_is_left_out(issuer: GitHubIssuer, fake: FakeGitHub, lie: object) -> None:
    fake.person |= {"avatar_url": lie}
    assert redeem(issuer, fake.code()) == replace(ANN, avatar=None)


@pytest.mark.parametrize(
    ("path", "status"), [(TOKEN, 429), (TOKEN, 502), (USER, 403), (USER, 429), (USER, 500), (USER, 503)]
)
def test_a_rate_limit_or_fault_is_not_a_refusal(issuer: GitHubIssuer, fake: FakeGitHub, path: str, status: int) -> None:
    fake.answers[path] = status, {"message": "API rate limit exceeded for user ID 583231."}
    assert unavailable(issuer, fake.code()).reason == f"responds with status {status}"


def test_a_huge_response_is_not_read(issuer: GitHubIssuer, fake: FakeGitHub) -> None:
    for path in (USER, TOKEN):
        fake.answers[path] = 200, b" " * 300_000
        assert "sends more than 262,144 bytes" in unavailable(issuer, fake.code()).reason
