"""Moving records in and out (contract I)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logoadmin import ANONYMOUS, GetAuthor, GetUser, Kind, ListAuthors, LogoAdmin, Owner, RevertRequest, SignIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import import_source
from logoadmin.domain.changes.import_export import ExportRecords, Imported, ImportedCounts, ImportRecords
from logoadmin.domain.gallery.artworks import AmendLogo, GetLogo, LinkLogoAuthor, ListLogos
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.kinds import KINDS
from tests import strategies
from tests.conftest import STORAGES
from tests.gallery import (
    ANN_PASSWORD,
    ARTWORK,
    CHEAP_PASSWORDS,
    NOW,
    FrozenClock,
    exported,
    failure,
    gallery_on,
    history,
    signed_in,
)
from tests.gallery import imported as load

UNSET = object()
AUTHOR = {"kind": "author", "author_id": 9, "user_id": 109, "username": "Zoe"}
LOGO = {"kind": "logo", "logo_id": 9, **ARTWORK, "author_ids": [2, 1]}
USER = {"kind": "user", "user_id": 9, "username": "zoe", "avatar": None, "role_id": 1}
ROLE = {"kind": "role", "role_id": 9, "name": "guest", "scope": ["a", "b"]}


def lines_of(imported: Imported) -> int:
    return sum(counts.total for counts in imported.counts.values())


def refused(gallery: LogoAdmin, *lines: object) -> list[tuple[int, list[tuple[tuple[str | int, ...], str]]]]:
    """Return the refused lines, and check that nothing was written."""
    before = exported(gallery)
    with pytest.raises(errors.InvalidLines) as caught:
        load(gallery, *lines)
    assert exported(gallery) == before
    return [(line.number, [(p.loc, p.type) for p in line.problems]) for line in caught.value.lines]


@pytest.mark.rule("contract I1", "contract I4")
def test_a_line_is_a_record_starting_with_its_kind(stocked: LogoAdmin) -> None:
    lines: list[str] = []
    counts = stocked.import_export.dump(ExportRecords(), lines.append)
    assert counts == {Kind.ROLE: 3, Kind.USER: 2, Kind.AUTHOR: 2, Kind.THEME: 1, Kind.LOGO: 1}
    assert lines == [
        json.dumps({**expected, "created_at": NOW}) + "\n"
        for expected in (
            {"kind": "role", "role_id": 1, "name": "member", "scope": ["proposals:write"]},
            {"kind": "role", "role_id": 2, "name": "admin", "scope": ["*"]},
            {"kind": "role", "role_id": 3, "name": "painter", "scope": ["logos:write", "themes:write"]},
            {"kind": "user", "user_id": 7, "username": "ann", "avatar": "a.png", "role_id": 1},
            {"kind": "user", "user_id": 2_000_000_000, "username": "admin", "avatar": None, "role_id": 2},
            {"kind": "author", "author_id": 1, "user_id": 101, "username": "Ann"},
            {"kind": "author", "author_id": 2, "user_id": 102, "username": "Ben"},
            {"kind": "theme", "theme_id": 1, **ARTWORK, "author_ids": [1]},
            {"kind": "logo", "logo_id": 1, **ARTWORK, "author_ids": [1]},
        )
    ]


@pytest.mark.rule("contract I3", "contract C4")
def test_password_hashes_are_exported_only_on_request(stocked: LogoAdmin, clock: FrozenClock) -> None:
    without, with_ = gallery_on(MemoryStorage(), clock), gallery_on(MemoryStorage(), clock)
    load(without, *exported(stocked, hashes=False))
    load(with_, *exported(stocked))
    ann = SignIn(username="ann", password=ANN_PASSWORD)
    assert with_.sessions.sign_in(ann)
    assert failure(without.sessions.sign_in, ann) is errors.SignInRefused


@pytest.mark.rule("contract I4")
@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_counts_created_amended_and_unchanged_records_separately(stocked: LogoAdmin, dry_run: bool) -> None:
    theme, logo = {**LOGO, "kind": "theme", "theme_id": 1, "author_ids": [1]}, {**LOGO, "logo_id": 1}
    del theme["logo_id"]
    imported = load(
        stocked,
        *(AUTHOR, {**AUTHOR, "author_id": 10, "user_id": 110, "username": "Yan"}),
        {"kind": "author", "author_id": 1, "user_id": 101, "username": "Ann"},
        *(ROLE, {**ROLE, "role_id": 3, "name": "brush"}),
        {"kind": "user", "user_id": 7, "username": "ann", "avatar": None, "role_id": 1},
        *(theme, LOGO, logo),  # the last one differs only in its authors
        dry_run=dry_run,
    )
    assert imported == Imported(
        {
            **dict.fromkeys(KINDS, ImportedCounts(0, 0, 0)),
            Kind.ROLE: ImportedCounts(1, 1, 0),
            Kind.USER: ImportedCounts(0, 1, 0),
            Kind.AUTHOR: ImportedCounts(2, 0, 1),
            Kind.THEME: ImportedCounts(0, 0, 1),
            Kind.LOGO: ImportedCounts(1, 1, 0),
        },
        dry_run,
        without_password=0,
    )


@pytest.mark.rule("contract I4")
def test_an_import_reports_how_many_users_came_without_a_password(stocked: LogoAdmin) -> None:
    hashed = {"password_hash": CHEAP_PASSWORDS.hash("x").hash}
    first, second, *others = ({**USER, "user_id": number, "username": f"user {number}"} for number in range(10, 14))
    known = {**USER, "user_id": 7, "username": "ann"}
    assert load(stocked, first | hashed, second, *others, second | hashed, known).without_password == 2
    assert load(stocked, first, second, *others).without_password == 0  # nobody came


@pytest.mark.rule("contract I2", "contract A10")
def test_created_at_is_that_of_the_line_or_else_the_current_time(gallery: LogoAdmin, clock: FrozenClock) -> None:
    load(gallery, {**AUTHOR, "created_at": 1_500_000_000})
    assert gallery.authors.get(GetAuthor(author_id=9)).created_at == 1_500_000_000
    clock.pass_by(60)
    load(gallery, {**AUTHOR, "username": "Zoë"}, {**AUTHOR, "author_id": 10, "user_id": 1, "username": "x"})
    assert gallery.authors.get(GetAuthor(author_id=9)).created_at == 1_500_000_000
    assert gallery.authors.get(GetAuthor(author_id=10)).created_at == NOW + 60


@pytest.mark.rule("contract I1", "contract I2", "contract A16", "contract A18")
def test_links_are_made_in_the_order_of_the_line_each_once(stocked: LogoAdmin) -> None:
    load(stocked, {**LOGO, "logo_id": 1, "author_ids": [1], "name": "Boreal"})
    assert stocked.logos.link(LinkLogoAuthor(logo_id=1, author_id=1)).logo_author_id == 1  # the same link as before
    for author_ids, expected in (([2, 1], [2, 1]), ([1, 2], [1, 2]), ([2, 1, 2, 2], [2, 1]), ([], []), ([2], [2])):
        load(stocked, {**LOGO, "logo_id": 1, "author_ids": author_ids})
        assert [author.author_id for author in stocked.logos.get(GetLogo(logo_id=1)).authors] == expected


@pytest.mark.rule("contract I2")
def test_empty_lines_are_skipped_and_counted(gallery: LogoAdmin) -> None:
    assert lines_of(load(gallery, "", AUTHOR, "   \n", "\n", b"\r\n")) == 1
    assert lines_of(load(gallery)) == 0
    assert refused(gallery, "", "x", "\n", "y") == [(2, [((), "json_invalid")]), (4, [((), "json_invalid")])]


COSTLY = f"$argon2id$v=19$m=1048576,t=1,p=1${'A' * 22}${'A' * 43}"
BAD: dict[str, tuple[object, list[tuple[tuple[str | int, ...], str]]]] = {
    "no JSON": ("{", [((), "json_invalid")]),
    "no UTF-8": (b'{"kind": "\xff"}', [((), "json_invalid")]),
    "a lone surrogate": ('{"kind": "\ud800"}', [((), "json_invalid")]),
    "an escaped lone surrogate": ('{"kind": "\\ud800"}', [((), "json_invalid")]),
    "NaN": ('{"kind": NaN}', [((), "json_invalid")]),
    "too deep": ("[" * 17 + "]" * 17, [((), "json_invalid")]),
    "just not too deep": ("[" * 16 + "]" * 16, [((), "dict_type")]),
    "two records": (json.dumps(AUTHOR) * 2, [((), "json_invalid")]),
    "an array": ([AUTHOR], [((), "dict_type")]),
    "null": ("null", [((), "dict_type")]),
    "no kind": ({"author_id": 1}, [(("kind",), "literal_error")]),
    "another kind": ({**AUTHOR, "kind": "artist"}, [(("kind",), "literal_error")]),
    "a kind that is not a text": ({**AUTHOR, "kind": ["author"]}, [(("kind",), "literal_error")]),
    "an unknown field": ({**AUTHOR, "age": 5}, [(("age",), "extra_forbidden")]),
    "a missing field": ({"kind": "author", "author_id": 1, "user_id": 1}, [(("username",), "missing")]),
    "several problems": (
        {**AUTHOR, "author_id": -1, "user_id": "1", "username": "x" * 65},
        [(("author_id",), "greater_than_equal"), (("user_id",), "int_type"), (("username",), "string_too_long")],
    ),
    "an author without a name": ({**AUTHOR, "username": None}, [(("username",), "string_type")]),
    "a user without an id": ({**USER, "user_id": UNSET}, [(("user_id",), "missing")]),
    "a null date": ({**AUTHOR, "created_at": None}, [(("created_at",), "int_type")]),
    "a null hash": ({**USER, "password_hash": None}, [(("password_hash",), "string_type")]),
    "a costly hash": ({**USER, "password_hash": COSTLY}, [(("password_hash",), "value_error")]),
    "no hash": ({**USER, "password_hash": "$hash$x"}, [(("password_hash",), "value_error")]),
    "no hash, and no name either": (
        {**USER, "username": "", "password_hash": "$hash$x"},
        [(("username",), "string_too_short"), (("password_hash",), "value_error")],
    ),
    "a user without a role": ({**USER, "role_id": 77}, [(("role_id",), "value_error")]),
    "a taken name": ({**AUTHOR, "username": "Ann"}, [(("username",), "value_error")]),
    "a taken number": ({**AUTHOR, "user_id": 102}, [(("user_id",), "value_error")]),
    "a taken role name": ({**ROLE, "name": "admin"}, [(("name",), "value_error")]),
    "a taken username": ({**USER, "username": "ann"}, [(("username",), "value_error")]),
    "a missing author": ({**LOGO, "author_ids": [1, 77]}, [(("author_ids",), "value_error")]),
    "an author id out of bounds": ({**LOGO, "author_ids": [1, -1]}, [(("author_ids", 1), "greater_than_equal")]),
    "author ids that are not an array": ({**LOGO, "author_ids": 1}, [(("author_ids",), "list_type")]),
    "no authors, and no truth value": (
        {**LOGO, "author_ids": UNSET, "active": "yes"},
        [(("active",), "bool_type"), (("author_ids",), "missing")],
    ),
    "authors in two ways, and no name": (
        {**LOGO, "authors": ["Ann"], "name": ""},
        [(("name",), "string_too_short"), (("authors",), "value_error")],
    ),
    "an invalid URL": ({**LOGO, "preview_url": "x"}, [(("preview_url",), "url_parsing")]),
    # A line costs no more than a body, and only the first of very many problems is reported.
    "very many authors": ({**LOGO, "author_ids": [1, *["x"] * 100_000]}, [(("author_ids", 1), "int_type")]),
    "very many marks": ('{"kind": "logo", "author_ids": [' + '"",' * 500_000 + '""]}', [((), "json_invalid")]),
    "very many fields": ({"kind": "author", **{str(number): 1 for number in range(100)}}, [((), "too_long")]),
    "a very long line": ('"' + "x" * (7 * 1024 * 1024 - 1) + '"', [((), "too_long")]),
}


@pytest.mark.rule("contract A21", "contract I2")
@pytest.mark.parametrize("why", BAD)
def test_a_bad_line_is_reported_and_nothing_is_written(stocked: LogoAdmin, why: str) -> None:
    line, problems = BAD[why]
    if isinstance(line, dict):
        line = {name: value for name, value in line.items() if value is not UNSET}
    assert refused(stocked, AUTHOR, line, {**AUTHOR, "author_id": 10, "user_id": 1, "username": "y"}) == [(2, problems)]


@pytest.mark.rule("contract I2", "contract A7")
def test_the_problem_of_a_bad_line_is_explained(stocked: LogoAdmin) -> None:
    load(stocked, {**LOGO, "details": {"origin": "a-1"}})
    with pytest.raises(errors.InvalidLines, match=r"^3 lines cannot be imported$") as caught:
        load(
            stocked,
            {**AUTHOR, "username": "Ann"},
            {**LOGO, "author_ids": [77]},
            {**LOGO, "logo_id": 10, "details": {"origin": "a-1"}},
        )
    taken = "Duplicate entry 'Ann' for key 'username': author 1 (Ann) has it; give one of them another name"
    origin = "Duplicate entry 'a-1' for key 'details.origin': logo 9 (Aurora) has it; give one of them another origin"
    assert caught.value.lines == (
        errors.BadLine(1, (errors.Problem(("username",), taken, "value_error"),)),
        errors.BadLine(2, (errors.Problem(("author_ids",), "Author 77 not found", "value_error"),)),
        errors.BadLine(3, (errors.Problem(("details", "origin"), origin, "value_error"),)),
    )
    with pytest.raises(errors.InvalidLines) as caught:
        load(stocked, {**USER, "password_hash": COSTLY})
    ((problem,),) = (line.problems for line in caught.value.lines)
    assert "at most 131072 KiB of memory" in problem.msg
    assert not {value for value in ("1048576", "AAAA") if value in problem.msg}  # nothing of the hash


@pytest.mark.rule("contract I1")
def test_authors_are_named_and_created_by_their_names(stocked: LogoAdmin) -> None:
    named = {name: value for name, value in LOGO.items() if name not in ("author_ids", "logo_id")}
    imported = load(
        stocked,
        {**named, "authors": ["Zoe", "Ann", "Yan"]},
        {"kind": "author", "username": "Yan"},
        {"kind": "author", "username": "Ben", "user_id": 777},
        {**AUTHOR, "username": "Zoe"},
    )
    assert imported.counts[Kind.AUTHOR] == ImportedCounts(2, 1, 0)
    logo = stocked.logos.get(GetLogo(logo_id=2))
    assert [author.username for author in logo.authors] == ["Zoe", "Ann", "Yan"]
    assert logo.authors[2].user_id > 2_000_000_000
    assert stocked.authors.get(GetAuthor(author_id=2)).user_id == 777
    again = load(stocked, {"kind": "author", "username": "Yan"}, {**named, "authors": ["Xia", "Wim", "Xia"]})
    assert again.counts[Kind.AUTHOR] == ImportedCounts(2, 0, 1)


@pytest.mark.rule("contract I1", "contract I2")
def test_a_utf_8_byte_order_mark_is_skipped_at_the_start_of_a_file_only(gallery: LogoAdmin) -> None:
    author, role = json.dumps(AUTHOR), json.dumps(ROLE)
    mark = "\ufeff"
    assert lines_of(load(gallery, (mark + author).encode(), role.encode())) == 2
    assert lines_of(load(gallery, mark + author, role)) == 2
    assert lines_of(load(gallery, mark.encode())) == 0
    assert [number for number, _ in refused(gallery, author, mark + role)] == [2]


IN_UTF_16 = "\n".join(map(json.dumps, (AUTHOR, ROLE, USER)))


@pytest.mark.rule("contract I1", "contract I2")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (IN_UTF_16.encode("utf-16").splitlines(keepends=True), {1: "File is not UTF-8 but UTF-16"}),
        (f"\ufeff{IN_UTF_16}".encode("utf-16-be").splitlines(keepends=True), {1: "File is not UTF-8 but UTF-16"}),
        ([AUTHOR, '{"kind": "gäst"}'.encode("latin-1")], {2: "Line is not UTF-8"}),
        *(
            (
                [AUTHOR, "{} {}" + end, (" {x" + end).encode(), "[" + end],
                {
                    2: "Invalid JSON: trailing characters at column 4",
                    3: "Invalid JSON: key must be a string at column 3",
                    4: "Invalid JSON: EOF while parsing a list at column 1",
                },
            )
            for end in ("", "\n", "\r\n")
        ),
    ],
)
def test_an_unreadable_line_is_reported_with_its_reason_and_position(
    gallery: LogoAdmin, lines: list[Any], expected: dict[int, str]
) -> None:
    with pytest.raises(errors.InvalidLines) as caught:
        load(gallery, *lines)
    assert [(line.number, p.msg) for line in caught.value.lines for p in line.problems] == [*expected.items()]


@pytest.mark.rule("contract I5")
def test_no_line_of_a_file_in_another_encoding_is_skipped_silently(gallery: LogoAdmin) -> None:
    """Its other lines would be neither imported nor named (contract I5)."""
    lines = [b"\xff\xfe{\x00}\x00\n", json.dumps(AUTHOR).encode()]
    skipped: list[errors.BadLine] = []
    with pytest.raises(errors.InvalidLines, match=r"^1 line cannot be imported$"):
        gallery.import_export.load(ImportRecords(), lines, skipped=skipped)
    assert skipped == []


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize("lines", ["{}", b"{}", [{}], [None], [7]])
def test_lines_that_are_not_text_are_a_mistake(gallery: LogoAdmin, lines: Any) -> None:
    with pytest.raises(TypeError, match=r"^(load takes the lines of a file|a line is text)"):
        gallery.import_export.load(ImportRecords(), lines)


@pytest.mark.rule("contract I2")
def test_lines_may_come_in_any_order(gallery: LogoAdmin, clock: FrozenClock) -> None:
    lines = [ROLE, {**USER, "role_id": 9}, AUTHOR, {**LOGO, "author_ids": [9]}]
    other = gallery_on(MemoryStorage(), clock)
    assert load(gallery, *reversed(lines)) == load(other, *lines)
    assert exported(gallery, hashes=False) == exported(other, hashes=False)


@pytest.mark.rule("contract I2")
@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (((3, 101, "Ann"), (1, 102, "Ben"), (2, 103, "Cyd")), ["Ben", "Cyd", "Ann"]),
        # The first name is taken until the last line gives it up, and the later line for a record wins.
        (((9, 109, "Ann"), (9, 109, "Zoe"), (1, 101, "Anna")), ["Anna", "Ben", "Zoe"]),
    ],
)
def test_a_name_released_by_another_line_is_free_in_any_order(stocked: LogoAdmin, lines: Any, names: list[str]) -> None:
    fields = ("author_id", "user_id", "username")
    load(stocked, *({"kind": "author", **dict(zip(fields, line, strict=True))} for line in lines))
    assert [author.username for author in stocked.authors.list(ListAuthors())] == names


@pytest.mark.rule("contract I2")
def test_a_dry_run_counts_and_refuses_like_an_import_but_writes_nothing(stocked: LogoAdmin) -> None:
    before = exported(stocked), history(stocked)
    tried = load(stocked, ROLE, USER, AUTHOR, LOGO, dry_run=True)
    assert (tried.dry_run, lines_of(tried)) == (True, 4)
    assert (exported(stocked), history(stocked)) == before
    assert failure(load, stocked, {**AUTHOR, "username": "Ann"}, dry_run=True) is errors.InvalidLines
    assert load(stocked, ROLE, USER, AUTHOR, LOGO) == replace(tried, dry_run=False)


@pytest.mark.rule("contract I2", "contract B5")
def test_a_new_password_hash_ends_the_sessions_and_the_same_one_does_not(stocked: LogoAdmin) -> None:
    tokens = stocked.sessions.sign_in(SignIn(username="ann", password=ANN_PASSWORD))
    ann = stocked.sessions.caller(tokens.access_token)
    (line,) = [json.loads(line) for line in exported(stocked) if '"ann"' in line]
    load(stocked, line)
    assert stocked.users.get(GetUser(user_id=7), ann)
    load(stocked, {**line, "password_hash": CHEAP_PASSWORDS.hash("another").hash})
    assert failure(stocked.users.get, GetUser(user_id=7), ann) is errors.InvalidToken


@pytest.mark.rule("contract A19", "contract B3")
def test_callers_without_rights_are_refused_before_a_line_is_read(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    reader = signed_in(storage, "users:read", user_id=802)
    for caller, error in ((ANONYMOUS, errors.NotAuthenticated), (reader, errors.NotPermitted)):
        with pytest.raises(error):
            gallery.import_export.load(ImportRecords(), (pytest.fail("a line was read") for _ in range(1)), caller)


@st.composite
def galleries(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The lines of a gallery whose unique values are unique."""
    times, ids = strategies.times(), strategies.ids()

    def some(kind: str, values: Any, key: str, /, **unique: Any) -> list[dict[str, Any]]:
        drawn = draw(st.lists(st.tuples(ids, values, times), max_size=4, unique_by=lambda row: row[0]))
        lines = [{"kind": kind, key: id_, **rest, "created_at": at} for id_, rest, at in drawn]
        for field, strategy in unique.items():
            distinct = draw(st.lists(strategy, min_size=len(lines), max_size=len(lines), unique=True))
            for line, value in zip(lines, distinct, strict=True):
                line[field] = value
        return lines

    scopes = st.fixed_dictionaries({"scope": strategies.scopes().map(lambda scope: list(dict.fromkeys(scope)))})
    roles = some("role", scopes, "role_id", name=strategies.names())
    role_ids = [role["role_id"] for role in roles]
    owners = st.fixed_dictionaries({"avatar": strategies.avatars(), "role_id": st.sampled_from(role_ids or [0])})
    users = some("user", owners, "user_id", username=strategies.names()) if roles else []
    authors = some("author", st.just({}), "author_id", user_id=ids, username=strategies.names())
    author_ids = st.permutations([author["author_id"] for author in authors])
    artworks = st.builds(
        lambda artwork, of, many: {"active": False} | artwork | {"author_ids": of[:many]},
        strategies.artworks(),
        author_ids,
        st.integers(0, 4),
    )
    return [*roles, *users, *authors, *some("theme", artworks, "theme_id"), *some("logo", artworks, "logo_id")]


@pytest.mark.rule("contract I1", "contract I3")
@given(galleries())
def test_imported_lines_can_be_exported_and_imported_again(lines: list[dict[str, Any]]) -> None:
    clock = FrozenClock()
    first, second = (gallery_on(MemoryStorage(), clock, started=False) for _ in range(2))
    load(first, *lines)
    found = exported(first)
    assert len(found) == len(lines)
    load(second, *found)
    assert exported(second) == found
    for line in found:
        assert json.loads(line) in lines


@pytest.mark.rule("contract I2", "contract I3", "contract G4")
@pytest.mark.parametrize("name", STORAGES)
def test_on_every_storage_an_import_is_all_or_nothing_and_can_be_undone(
    request: pytest.FixtureRequest, clock: FrozenClock, name: str
) -> None:
    gallery = gallery_on(request.getfixturevalue(f"{name}_storage"), clock)
    empty = exported(gallery)
    numbers = count()

    # Imports are tested in memory, more often; this tests that a database does the same.
    @settings(max_examples=15 if name == "memory" else 3)
    @given(galleries(), galleries())
    def is_undone(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
        before = [empty]
        requests: list[str] = []
        for lines in first, second:
            request_id = f"request-{next(numbers)}"
            try:
                load(gallery, *lines, caller=Owner(request_id))
            # The other one already has its names, or no administrator would be left (contract B4).
            except (errors.InvalidLines, errors.Conflict):
                assert exported(gallery) == before[-1]
                continue
            now = exported(gallery)
            assert [line for line in lines if line not in map(json.loads, now)] == []
            if now != before[-1]:
                requests.append(request_id)
                before.append(now)
        for request_id in reversed(requests):
            assert exported(gallery) == before.pop()
            gallery.changes.revert_request(RevertRequest(request_id=request_id))
        assert exported(gallery) == empty

    is_undone()


@pytest.mark.rule("contract I2", "contract I4")
def test_bad_lines_beyond_the_limit_are_only_counted(stocked: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_source, "MOST_REPORTED", 10)
    lines = [json.dumps(LOGO | {"logo_id": number, "author_ids": [99]}) for number in range(12)]
    with pytest.raises(errors.InvalidLines, match=r"^12 lines cannot be imported$") as caught:
        load(stocked, *lines)
    *named, last = caught.value.lines
    assert [line.number for line in named] == list(range(1, 11))
    assert last.problems == (errors.Problem((), "And more: 2 other lines cannot be imported", "too_long"),)
    # Nor are they held in memory.
    bad = import_source.BadLines()
    for number in range(12):
        bad.add(number, errors.Problem((), "bad", "value_error"))
    assert (len(bad), bad.others) == (10, 2)
    # Nor are they skipped without being named.
    skipped: list[errors.BadLine] = []
    assert failure(stocked.import_export.load, ImportRecords(), lines[:11], skipped=skipped) is errors.InvalidLines
    assert skipped == []


@pytest.mark.rule("contract I2")
def test_a_line_that_can_be_read_only_once_is_not_lost(gallery: LogoAdmin) -> None:
    class Lost:
        readings = 0

        def __iter__(self) -> Iterator[str | errors.InvalidInput]:
            self.readings += 1
            gone = errors.InvalidInput([errors.Problem((), "gone", "value_error")])
            return iter([json.dumps(AUTHOR) if self.readings < 3 else gone])

    with pytest.raises(errors.InvalidInput, match="gone"):
        gallery.import_export.load(ImportRecords(), Lost())
    assert not list(gallery.authors.list(ListAuthors()))


@pytest.mark.rule("contract I2", "contract I4")
def test_a_file_of_bad_lines_is_not_read_to_its_end(stocked: LogoAdmin) -> None:
    class Endless:
        def __iter__(self) -> Iterator[str]:
            return repeat("x")

    with pytest.raises(errors.InvalidLines, match=r"^10000 or more lines cannot be imported$") as caught:
        stocked.import_export.load(ImportRecords(), Endless())
    *named, last = caught.value.lines
    assert [line.number for line in named] == list(range(1, 10_001))
    text = "Too many problems: lines from here on were not checked"
    assert last == errors.BadLine(10_001, (errors.Problem((), text, "too_long"),))


@pytest.mark.rule("contract I4", "contract F3")
def test_the_hash_of_the_lines_is_part_of_the_idempotent_command(stocked: LogoAdmin) -> None:
    first = load(stocked, AUTHOR, idempotency_key="k", lines_hash="a")
    assert load(stocked, AUTHOR, idempotency_key="k", lines_hash="a") == first
    with pytest.raises(errors.InvalidInput):
        load(stocked, AUTHOR | {"username": "other"}, idempotency_key="k", lines_hash="b")


def without_id(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != f"{line['kind']}_id"}


@pytest.mark.rule("contract J7")
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_line_without_an_id_creates_a_record(stocked: LogoAdmin, dry_run: bool) -> None:
    theme = {**without_id(LOGO), "kind": "theme"}
    lines = [without_id(ROLE), without_id(AUTHOR), theme, without_id(LOGO), without_id(LOGO)]
    counts = load(stocked, *lines, dry_run=dry_run).counts
    created = {Kind.ROLE: 1, Kind.USER: 0, Kind.AUTHOR: 1, Kind.THEME: 1, Kind.LOGO: 2}
    assert counts == {kind: ImportedCounts(number, 0, 0) for kind, number in created.items()}
    logos = [*stocked.logos.list(ListLogos())]
    assert [logo.logo_id for logo in logos] == ([1] if dry_run else [1, 2, 3])
    assert [author.author_id for author in logos[-1].authors] == ([1] if dry_run else [2, 1])


@pytest.mark.rule("contract J7")
@pytest.mark.parametrize("taken", [[2], [2_000_000_000, 2_000_000_001]])
def test_a_new_record_gets_no_id_of_another_line(stocked: LogoAdmin, taken: list[int]) -> None:
    load(stocked, {**without_id(LOGO), "name": "new"}, *({**LOGO, "logo_id": id_} for id_ in taken))
    *others, new = stocked.logos.list(ListLogos(after=1))
    assert [logo.logo_id for logo in others] == taken
    assert (new.logo_id, new.name) == (taken[-1] + 1, "new")


@pytest.mark.rule("contract I3")
def test_an_older_preview_with_a_password_is_imported_unchanged(stocked: LogoAdmin) -> None:
    load(stocked, {**LOGO, "preview_url": "https://ann:secret@example.org/"})
    assert stocked.logos.get(GetLogo(logo_id=9)).preview_url == "https://ann:secret@example.org/"
    assert stocked.logos.amend(AmendLogo(logo_id=9, name="n")).preview_url == "https://ann:secret@example.org/"
