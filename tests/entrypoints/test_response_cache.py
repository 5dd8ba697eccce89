"""Answers that are remembered: of which version they are good, and how many there may be (contract E1, F1, F2)."""

from typing import Final

import pytest
from starlette.requests import Request
from starlette.responses import Response

from logoadmin.entrypoints.http_api import response_cache as module
from logoadmin.entrypoints.http_api.response_cache import ResponseCache

pytestmark = pytest.mark.rule("contract E1", "contract F1")

ANSWER: Final = b'[{"author_id":1}]'


def request(path: str = "/api/authors", query: bytes = b"", root_path: str = "", **headers: str) -> Request:
    """Return a request for something."""
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "root_path": root_path}
    return Request({**scope, "headers": fields})


def answer(body: bytes = ANSWER, version: int = 5, status: int = 200) -> Response:
    """Return an answer that has a version."""
    return Response(body, status, {"etag": f'"{version}"', "link": "</next>"}, "application/json")


def test_an_answer_is_given_again_while_the_version_of_everything_is_the_same() -> None:
    remembered = ResponseCache()
    assert not remembered.knows(request())
    remembered.remember(request(), answer(), 7)
    assert remembered.knows(request())
    again = remembered.response(request(), 7)
    assert again is not None
    assert (again.status_code, again.body, again.raw_headers) == (200, ANSWER, answer().raw_headers)
    assert remembered.response(request(), 8) is None


@pytest.mark.parametrize("other", [6, 8])
def test_what_was_remembered_is_forgotten_once_another_version_is_seen(other: int) -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    assert remembered.response(request(), other) is None
    assert not remembered.knows(request())
    assert remembered.response(request(), 7) is None


@pytest.mark.parametrize("had", ['"5"', 'W/"5"', '"1", "5"', "*"])
def test_who_has_the_version_of_the_answer_gets_no_body(had: str) -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    again = remembered.response(request(if_none_match=had), 7)
    assert again is not None
    assert (again.status_code, again.body, again.raw_headers) == (304, b"", [(b"etag", b'"5"')])


@pytest.mark.parametrize("had", ['"7"', '"50"', "5", ""])
def test_who_has_another_version_gets_the_body(had: str) -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    again = remembered.response(request(if_none_match=had), 7)
    assert again is not None
    assert (again.status_code, again.body) == (200, ANSWER)


def test_what_is_added_to_one_answer_is_not_in_the_next() -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    first = remembered.response(request(), 7)
    assert first is not None
    first.headers["x-request-id"] = "1"
    second = remembered.response(request(), 7)
    assert second is not None
    assert "x-request-id" not in second.headers


def test_requests_for_something_else_are_not_answered_alike() -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    for other in (request("/api/logos"), request(query=b"limit=1"), request(root_path="/gallery")):
        assert not remembered.knows(other)
        assert remembered.response(other, 7) is None
        assert remembered.knows(request())


def test_a_new_version_takes_the_place_of_all_that_was_remembered() -> None:
    remembered = ResponseCache()
    remembered.remember(request(), answer(), 7)
    remembered.remember(request("/api/logos"), answer(version=8), 8)
    assert not remembered.knows(request())
    # Also when the database was set back, and counts to the same version again with other records.
    remembered.remember(request("/api/logos"), answer(version=3), 3)
    assert remembered.response(request("/api/logos"), 8) is None


@pytest.mark.parametrize(
    "response",
    [
        answer(status=404),
        answer(status=304),
        answer(bytes(module._LARGEST)),
    ],
    ids=["an error", "no body", "a long one"],
)
def test_only_short_whole_answers_are_remembered(response: Response) -> None:
    remembered = ResponseCache()
    remembered.remember(request(), response, 7)
    assert not remembered.knows(request())


@pytest.mark.rule("contract H4")
def test_requests_that_are_long_for_no_reason_fill_no_memory() -> None:
    remembered = ResponseCache()
    for long in (request(query=b"&" * 20_000), request(f"/api/authors/{'0' * 20_000}1"), request(query=b"&" * 501)):
        remembered.remember(long, answer(), 7)
        assert not remembered.knows(long)
    remembered.remember(request(query=b"&" * 500), answer(), 7)
    assert remembered.knows(request(query=b"&" * 500))


def test_what_is_asked_for_again_is_forgotten_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 3 * (len(ANSWER) + module._BESIDE))
    remembered = ResponseCache()
    for number in range(9):
        remembered.remember(request(f"/api/authors/{number}"), answer(), 7)
        assert remembered.response(request("/api/authors/0"), 7) is not None
    assert [number for number in range(9) if remembered.knows(request(f"/api/authors/{number}"))] == [0, 7, 8]


def test_no_more_bytes_are_remembered_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 10 * (len(ANSWER) + module._BESIDE))
    remembered = ResponseCache()

    def known() -> list[int]:
        return [number for number in range(40) if remembered.knows(request(f"/api/authors/{number}"))]

    for number in range(40):
        remembered.remember(request(f"/api/authors/{number}"), answer(), 7)
        remembered.remember(request(f"/api/authors/{number}"), answer(), 7)  # counts once
        assert known() == [*range(max(0, number - 9), number + 1)]
    remembered.clear()
    assert known() == []
    for number in range(40):
        remembered.remember(request(f"/api/authors/{number}"), answer(), 7)
    assert len(known()) == 10
