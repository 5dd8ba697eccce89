"""Hypothesis strategies: arbitrary input and every kind of record."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from logoadmin.domain.kernel.details import Details

MAX_ID = 2_147_483_647


def ids() -> SearchStrategy[int]:
    """Ids, often at their limits."""
    return st.sampled_from((0, 1, MAX_ID)) | st.integers(0, MAX_ID)


def texts(least: int, most: int) -> SearchStrategy[str]:
    """Accepted text: without U+0000 and lone surrogates."""
    return st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=least, max_size=most)


def names() -> SearchStrategy[str]:
    """User names and role names, often similar to each other."""
    return st.sampled_from(("ann", "Ann", "ánn", "ann ", " ann", "a" * 64, "😀", "😁", "ß", "ss")) | visible(1, 64)


def visible(least: int, most: int) -> SearchStrategy[str]:
    """Text that is accepted as a name: with a visible character, and without useless invisible ones."""
    unseen = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff")
    return texts(least - 1, most - 1).map(lambda text: f"{text.translate(unseen)}x")


def scopes() -> SearchStrategy[list[str]]:
    """Scopes as input, with repetitions."""
    token = st.text("!#abcXYZ09:*~", min_size=1, max_size=12) | st.sampled_from(("*", "users:read", "logos:write"))
    return st.lists(token, max_size=6)


def urls() -> SearchStrategy[str]:
    """URLs of previews."""
    path = st.text("abcé/?#%20&=-_.~", max_size=20)
    return st.builds("{}://{}/{}".format, st.sampled_from(("http", "https", "HTTP")), st.text("a-z.", min_size=1), path)


def times() -> SearchStrategy[int]:
    """Times that are valid in an imported line."""
    return st.integers(0, 2**53 - 1)


def users() -> SearchStrategy[dict[str, Any]]:
    """The values of CreateUser."""
    required = {"user_id": ids(), "username": names(), "password": texts(1, 20)}
    return st.fixed_dictionaries(required, optional={"avatar": avatars()})


def avatars() -> SearchStrategy[str | None]:
    """Avatars, or None."""
    return st.none() | texts(0, 40)


def roles() -> SearchStrategy[dict[str, Any]]:
    """The values of CreateRole."""
    return st.fixed_dictionaries({"name": names(), "scope": scopes()})


def authors() -> SearchStrategy[dict[str, Any]]:
    """The values of CreateAuthor."""
    return st.fixed_dictionaries({"user_id": ids(), "username": names()})


def artworks() -> SearchStrategy[dict[str, Any]]:
    """The values of CreateLogo and CreateTheme."""
    required: Mapping[str, SearchStrategy[Any]] = {
        "name": visible(1, 128),
        "preview_url": urls(),
        "target": texts(1, 64),
        "custom_css": texts(0, 60),
    }
    # In the stored form, without the only member that must be unique.
    stored = details().map(lambda members: Details(**members | {"origin": None}).members()).filter(bool)
    return st.fixed_dictionaries(dict(required), optional={"active": st.booleans(), "details": stored})


def json_values() -> SearchStrategy[Any]:
    """Any JSON value."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.sampled_from((0, 1, MAX_ID, MAX_ID + 1, -1))
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    )
    keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

    def nested(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
        return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)

    return st.recursive(leaves, nested, max_leaves=8)


def anything() -> SearchStrategy[Any]:
    """Anything that a Python program may pass by mistake."""
    return json_values() | st.binary(max_size=8) | st.text(max_size=8) | st.floats() | st.builds(object)


def css_texts() -> SearchStrategy[str]:
    """CSS, valid and broken, and any other text."""
    pieces = (
        *("a", "b:", "{", "}", "(", ")", "[", "]", ";", ",", " ", "\n", "\r\n", "\f", "\\", "\\\\", "'", '"', "/*"),
        *("*/", "@import ", "@import url(", "@media x", "@namespace ", "@layer y;", "@font-face", "--x:", "&"),
        *("url(", "URL(i.png)", "url('j')", "u\\72l(", "src('k')", "image-set('l' 1x", "//a.example", "https:", "#f"),
        *("'https://b.example/'", "data:text/css,", "\\5c", "url(\\5c \\\\x\\)\\6a\r\n)", "\\d800 ", "\0", "\ud800"),
        *("\u00a0", "\u00e9", "u+1-", "<!--", "-->", "position:fixed;", "inset:0", "[v^=x]", "input", "animation:z"),
        *("!important", "unicode-range:u+1", "0x7f.1", "%41"),
    )
    return st.lists(st.sampled_from(pieces), max_size=30).map("".join) | st.text(max_size=60)


def tags() -> SearchStrategy[str]:
    """Tags in any case and normalization form, with spaces around and within them."""
    letters = st.characters(exclude_characters="\0,\u00ad\u200b\u2060\ufeff", exclude_categories=["Cs"])
    text = st.text(letters, max_size=5)
    return st.sampled_from(("Dark", "dark", " dark ", "été", "e\u0301te\u0301", "two  words")) | text.map("x{}".format)


def details() -> SearchStrategy[dict[str, Any]]:
    """The details of an artwork, or a patch of them: members may be empty."""
    line = visible(1, 30).map(lambda text: " ".join(text.splitlines()))
    picture = st.fixed_dictionaries({"url": urls()}, optional={"alt": line | st.none()})
    members: Mapping[str, SearchStrategy[Any]] = {
        "description": line,
        "text": visible(1, 60),
        **dict.fromkeys(("homepage", "source", "support"), urls()),
        "licence": line.map(lambda text: text[:64]),
        "version": line.map(lambda text: text[:32]),
        "tags": st.lists(tags(), max_size=6),
        "screenshots": st.lists(picture, max_size=3),
        "origin": st.text("aZ09._~-", min_size=1, max_size=20),
    }
    empty: SearchStrategy[Any] = st.sampled_from((None, "", [], {}))
    return st.fixed_dictionaries({}, optional={name: each | empty for name, each in members.items()})


def some(**fields: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """Return dictionaries with any of these fields."""
    return st.fixed_dictionaries({}, optional=fields)
