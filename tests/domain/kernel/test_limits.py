"""The limits of every field, with numbers written by hand so that code and test cannot be wrong together."""

import json
from typing import Any

import pytest
from hypothesis import assume, given

from logoadmin import InvalidInput, Problem, SignIn
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes.import_source import read_line
from logoadmin.domain.gallery import artworks, authors, picture_commands
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity import sign_in_events as events
from logoadmin.domain.kernel.command import Command
from tests.gallery import ASKED, problems
from tests.strategies import texts

# fmt: off
LISTS = [
    users.ListUsers, roles.ListRoles, authors.ListAuthors, artworks.ListAuthorLogos, artworks.ListAuthorThemes,
    artworks.ListThemes, artworks.ListLogos, changes.ListChanges,
    events.ListEvents,
]
IDS = [
    (kind, name)
    for kind in ASKED
    for name in kind.model_fields
    if (name == "after" and kind is not picture_commands.ListPictures)
    or (name.endswith("_id") and name not in ("request_id", "session_id"))
]
OPTIONAL = [(kind, name) for kind, name in IDS if kind.model_fields[name].default is None]

TEXTS = [
    (users.CreateUser, "username", 1, 64), (users.CreateUser, "avatar", 0, 4096),
    (users.CreateUser, "password", 1, 256), (users.AmendUser, "username", 1, 64),
    (users.AmendUser, "avatar", 0, 4096), (users.SetPassword, "password", 1, 256),
    (users.SetPassword, "current_password", 1, 256),
    (SignIn, "username", 1, 64), (SignIn, "password", 1, 256),
    (roles.CreateRole, "name", 1, 64), (roles.AmendRole, "name", 1, 64),
    (authors.CreateAuthor, "username", 1, 64), (authors.AmendAuthor, "username", 1, 64),
    (artworks.CreateTheme, "name", 1, 128), (artworks.AmendTheme, "name", 1, 128),
    (artworks.CreateTheme, "target", 1, 64), (artworks.AmendTheme, "target", 1, 64),
    (artworks.BlockTheme, "reason", 1, 200),
    (artworks.CreateTheme, "custom_css", 0, 524_288), (artworks.AmendTheme, "custom_css", 0, 524_288),
    (artworks.CreateLogo, "name", 1, 128), (artworks.AmendLogo, "name", 1, 128),
    (artworks.CreateLogo, "target", 1, 64), (artworks.AmendLogo, "target", 1, 64),
    (artworks.BlockLogo, "reason", 1, 200),
    (artworks.CreateLogo, "custom_css", 0, 524_288), (artworks.AmendLogo, "custom_css", 0, 524_288),
    (sessions.RemoveSession, "session_id", 1, 128),
    (keys.CreateKey, "name", 1, 64), (changes.RevertRequest, "request_id", 1, 128),
    (artworks.ListThemes, "target", 1, 64), (artworks.ListLogos, "target", 1, 64),
    (artworks.ListAuthorLogos, "target", 1, 64), (artworks.ListAuthorThemes, "target", 1, 64),
    (users.ListUsers, "q", 1, 128), (roles.ListRoles, "q", 1, 128), (authors.ListAuthors, "q", 1, 128),
    (artworks.ListThemes, "q", 1, 128), (artworks.ListLogos, "q", 1, 128),
    (artworks.ListAuthorLogos, "q", 1, 128), (artworks.ListAuthorThemes, "q", 1, 128),
]
# fmt: on
# The names that people see; a sign-in finds users whose names are from before names had to be visible.
NAMES = [(kind, field) for kind, field, *_ in TEXTS if field in ("name", "username", "reason") and kind is not SignIn]

ARTWORKS: list[type[Command]] = [artworks.CreateTheme, artworks.AmendTheme, artworks.CreateLogo, artworks.AmendLogo]
ROLES = [roles.CreateRole, roles.AmendRole, keys.CreateKey]
LIMITS = pytest.mark.rule("spec §Limits", "contract A3")


def made(kind: type[Command], **values: Any) -> Any:
    return kind(**(ASKED[kind][1] | values))


def problems_with(kind: type[Command], **values: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return [*problems(made, kind, **values).items()]


@pytest.mark.rule("contract E2")
@pytest.mark.parametrize("kind", LISTS)
def test_a_page_has_1_to_1000_records(kind: type[Command]) -> None:
    for limit in (1, 1000, None):
        assert made(kind, limit=limit).limit == limit
    assert problems_with(kind, limit=0) == [(("limit",), "greater_than_equal")]
    assert problems_with(kind, limit=1001) == [(("limit",), "less_than_equal")]
    for wrong in (True, "5", 5.0):
        assert problems_with(kind, limit=wrong) == [(("limit",), "int_type")]


@pytest.mark.rule("contract C5")
def test_a_key_is_valid_for_a_second_to_a_century() -> None:
    for seconds in (1, 100 * 366 * 86_400, None):
        assert made(keys.CreateKey, expires_in=seconds).expires_in == seconds
    for seconds in (0, -1, 100 * 366 * 86_400 + 1):
        assert problems_with(keys.CreateKey, expires_in=seconds)
    for wrong in (True, "60"):
        assert problems_with(keys.CreateKey, expires_in=wrong) == [(("expires_in",), "int_type")]


@pytest.mark.rule("spec §Limits", "spec §Rules 1", "spec §Rules 3", "contract A1", "contract A2")
@pytest.mark.parametrize(("kind", "field"), IDS)
def test_an_id_is_an_integer_from_0_to_2147483647(kind: type[Command], field: str) -> None:
    for id_ in (0, 1, 2_147_483_646, 2_147_483_647):
        assert getattr(made(kind, **{field: id_}), field) == id_
    for id_ in (-1, -2_147_483_648, -(10**40)):
        assert problems_with(kind, **{field: id_}) == [((field,), "greater_than_equal")]
    for id_ in (2_147_483_648, 2**63, 10**40):
        assert problems_with(kind, **{field: id_}) == [((field,), "less_than_equal")]
    others: tuple[object, ...] = (True, False, "5", "", 5.0, 5.5, 1e3, float("nan"), b"5", [5], {})
    for other in (*others, *([] if (kind, field) in OPTIONAL else [None])):
        assert problems_with(kind, **{field: other}) == [((field,), "int_type")]


@LIMITS
@pytest.mark.parametrize(("kind", "field", "least", "most"), TEXTS)
def test_a_text_is_counted_in_code_points(kind: type[Command], field: str, least: int, most: int) -> None:
    for character in ("a", " ", "é", "中", "\U0001f600", "\u0301", "\n", "\x7f", "\ufffe"):
        for length in (least, least + 1, most - 1, most):
            text = character * length
            if (kind, field) in NAMES and length:
                text = f"{text[1:]}x"
            assert getattr(made(kind, **{field: text}), field) == text
        assert problems_with(kind, **{field: character * (most + 1)}) == [((field,), "string_too_long")]
    if least == 0:
        assert getattr(made(kind, **{field: ""}), field) == ""
    else:
        assert problems_with(kind, **{field: ""}) == [((field,), "string_too_short")]


@pytest.mark.rule("contract A3", "contract A4", "contract A5")
@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, field, *_ in TEXTS])
def test_a_text_is_text_without_nul_and_lone_surrogates(kind: type[Command], field: str) -> None:
    for value in (5, True, b"text", ["a"], {"a": "b"}, 1.5):
        assert problems_with(kind, **{field: value}) == [((field,), "string_type")]
    for text in ("\0", "a\0", "\0a", "a\0b", "a\n\0", "line\nline\0"):
        assert problems_with(kind, **{field: text}) == [((field,), "string_pattern_mismatch")]
    for text in ("\ud800", "a\udfff", "\udc80b", "\ude00\ud83d"):
        assert problems_with(kind, **{field: text}) == [((field,), "string_unicode")]


# White space and controls; format characters: soft hyphen, zero-width, directional, tags; letters and marks without a
# shape: Hangul fillers, Khmer inherent vowels, joiners and variation selectors; the blank Braille pattern.
INVISIBLE = (
    " \t\n\r\x0b\x0c\x1c\x1f\x7f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
    "\xad\u061c\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufeff\U000e0001\U000e0041"
    "\u3164\u115f\u1160\uffa0\u17b4\u034f\u180b\ufe0f\U000e0100\u2800"
)


@pytest.mark.rule("contract A3")
@pytest.mark.parametrize(("kind", "field"), NAMES)
def test_a_name_has_a_visible_character(kind: type[Command], field: str) -> None:
    for text in (*INVISIBLE, INVISIBLE, " " * 64):
        assert problems_with(kind, **{field: text}) == [((field,), "string_pattern_mismatch")], ascii(text)
    # Marks without a letter are drawn, on a dotted circle, and so is what a font does not have.
    for text in (" x ", "\u3164x", "\u200eя", "\u0301", "\u2801", "\ue000", "\ufffe", "\U0001f600\ufe0f"):
        assert getattr(made(kind, **{field: text}), field) == text


@pytest.mark.rule("contract A3", "contract I2")
@pytest.mark.parametrize("kind", ["role", "user", "author", "theme", "logo"])
def test_a_name_in_a_line_has_a_visible_character(kind: str) -> None:
    field = "username" if kind in ("user", "author") else "name"
    given_line = json.dumps({"kind": kind, field: "\u3164 ", "author_ids": []})
    assert problems(read_line, 1, given_line, lambda _: None)[(field,)] == "string_pattern_mismatch"


# No font draws them, and no letter needs them, unlike joiners.
UNSEEN = frozenset("\u200b\xad\u2060\ufeff")


@pytest.mark.rule("contract A3")
@pytest.mark.parametrize(("kind", "field"), [name for name in NAMES if name[1] != "reason"])
def test_a_name_has_no_useless_invisible_character(kind: type[Command], field: str) -> None:
    for unseen in UNSEEN:
        with pytest.raises(InvalidInput, match=rf"String should not contain U\+{ord(unseen):04X}$"):
            made(kind, **{field: f"ad{unseen}min"})
    joined = "\u0646\u0627\u0645\u200c\u0647\u0627 \U0001f469\u200d\U0001f680"
    assert getattr(made(kind, **{field: joined}), field) == joined


@pytest.mark.rule("contract A3")
@given(texts(1, 63))
def test_a_name_is_stored_unchanged(given_name: str) -> None:
    name = f"{given_name}x"
    assume(not UNSEEN & {*name})
    assert users.CreateUser(user_id=1, username=name, password=name).username == name


@pytest.mark.rule("contract A11")
@pytest.mark.parametrize("kind", ROLES)
def test_a_scope_token_is_made_of_the_characters_of_rfc_6749(kind: type[Command]) -> None:
    allowed = "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    for code in range(0x180):
        character = chr(code)
        if character in allowed:
            assert made(kind, scope=[character]).scope == (character,)
        else:
            assert problems_with(kind, scope=[f"a{character}"]) == [(("scope", 0), "string_pattern_mismatch")]


TOKENS = [f"scope:{number}" for number in range(65)]


@pytest.mark.rule("contract A4", "contract A11")
@pytest.mark.parametrize("kind", ROLES)
def test_a_scope_is_an_array_of_up_to_64_unique_texts_of_1_to_64_characters(kind: type[Command]) -> None:
    for given_ in ([], ["x", "y" * 64], TOKENS[:64]):
        assert made(kind, scope=given_).scope == tuple(given_)
    assert made(kind, scope=["b", "a", "b", "*", "a"]).scope == ("b", "a", "*")
    for value in ("users:read", None, 5, {"a": 1}):
        assert problems_with(kind, scope=value) == [(("scope",), "list_type")]
    for token in (None, 5, ["a"]):
        assert problems_with(kind, scope=[token]) == [(("scope", 0), "string_type")]
    lengths = [(("scope", 1), "string_too_short"), (("scope", 2), "string_too_long")]
    assert problems_with(kind, scope=["x", "", "y" * 65]) == lengths
    assert problems_with(kind, scope=["ok\n"]) == [(("scope", 0), "string_pattern_mismatch")]
    assert problems_with(kind, scope=TOKENS) == [(("scope",), "too_long")]


@pytest.mark.rule("contract D logos", "contract D themes")
@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org", "https://example.org/", "HTTPS://EXAMPLE.ORG/A.PNG"),
        *("https://example.org:8443/a/b.png?size=1&x=%20#top", "https://user@example.org/"),
        *("http://[2001:db8::1]/a.png", "http://127.0.0.1?x", "https://münchen.example/bild-ü.png"),
        # A colon behind the host is no password.
        *("https://example.org/ann:secret@x", "https://e.org?a:b@c", "https://ann@e.org:8443/#:@"),
    ],
)
def test_a_preview_is_an_absolute_http_url(url: str) -> None:
    assert {kind: made(kind, preview_url=url).preview_url for kind in ARTWORKS} == dict.fromkeys(ARTWORKS, url)


@pytest.mark.rule("contract D logos", "contract D themes", "contract A3")
@pytest.mark.parametrize(
    "url",
    [
        *("", " ", "example.org/a.png", "/a.png", "//example.org/a.png", "ftp://example.org/a.png"),
        *("javascript:alert(1)", "data:image/png;base64,AAAA", "file:///etc/passwd", "http:/example.org", "http://"),
        *("http:///a.png", "http://?a", "http://#a", " https://example.org/", "https://example.org/\n"),
        *("https://example.org/ a", "https://exa mple.org/", "https://example.org/\0", "https://example.org/\x7f"),
        *("https://example.org/\\a", "java\nscript:https://example.org/"),
        # Browsers refuse these hosts and ports.
        *("http://f:b/c", "http://f:999999/c", "http://256.256.256.256", "http://[::1.]", "http://a<b", "http://a^b"),
        *("http://ho%00st/", "http://a%b", "http://0x100000000", "http://[1::2::3]", "https://%EF%BF%BD/"),
        *("https://\u00ad/", "http://:80/", "http://a:65536", "http://[", "http://1.2.3.4.5", "http://a%2Fb"),
        "https://xn--/",
        # With a password.
        *("https://ann:secret@example.org/", "http://:@[2001:db8::1]:80/", "http://a@b:c@d?x"),
    ],
)
def test_a_preview_must_be_an_absolute_http_url(url: str) -> None:
    problems = [(("preview_url",), "url_parsing")]
    assert {kind: problems_with(kind, preview_url=url) for kind in ARTWORKS} == dict.fromkeys(ARTWORKS, problems)


@pytest.mark.rule("contract D logos", "contract D themes")
@pytest.mark.parametrize("kind", ARTWORKS)
def test_a_preview_is_text_of_at_most_2048_characters(kind: type[Command]) -> None:
    longest = "https://example.org/" + "a" * 2028
    assert made(kind, preview_url=longest).preview_url == longest
    assert problems_with(kind, preview_url=longest + "a") == [(("preview_url",), "string_too_long")]
    assert problems_with(kind, preview_url="https://example.org/\ud800") == [(("preview_url",), "string_unicode")]


@pytest.mark.rule("contract D logos", "contract D themes", "contract A4")
@pytest.mark.parametrize("kind", ARTWORKS)
@pytest.mark.parametrize("value", [0, 1, "true", "", None, []])
def test_active_is_strictly_a_boolean(kind: type[Command], value: object) -> None:
    assert problems_with(kind, active=value) == [(("active",), "bool_type")]


@pytest.mark.rule("contract D logos", "contract D themes")
@pytest.mark.parametrize("kind", [artworks.CreateTheme, artworks.CreateLogo])
def test_an_artwork_is_inactive_by_default(kind: type[Command]) -> None:
    values = {name: value for name, value in ASKED[kind][1].items() if name != "active"}
    created: Any = kind(**values)
    assert created.active is False


@pytest.mark.rule("contract I1", "contract A10")
@pytest.mark.parametrize(
    ("created_at", "type_"),
    [(-1, "greater_than_equal"), (2**53, "less_than_equal"), (1.5, "int_type"), ("1", "int_type"), (True, "int_type")],
)
def test_created_at_of_a_line_is_whole_seconds_since_1970(created_at: object, type_: str) -> None:
    values: dict[str, Any] = {"kind": "author", "author_id": 1, "user_id": 1, "username": "Ann"}
    for good in (0, 2**53 - 1):
        line = read_line(1, json.dumps({**values, "created_at": good}), lambda _: None)
        assert line is not None
        assert line.created_at == good
    assert problems(read_line, 1, json.dumps({**values, "created_at": created_at}), lambda _: None) == {
        ("created_at",): type_
    }


@pytest.mark.rule("contract A5")
def test_a_problem_has_a_location_a_message_and_a_type() -> None:
    with pytest.raises(InvalidInput) as caught:
        roles.GetRole(role_id=-1)
    problem = Problem(("role_id",), "Input should be greater than or equal to 0", "greater_than_equal")
    assert [*caught.value.problems] == [problem]
