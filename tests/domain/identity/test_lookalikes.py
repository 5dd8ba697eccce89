"""Names that look alike (contract O7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.identity.issuer_users import looks
from logoadmin.domain.kernel.limits import MAX_NAME

pytestmark = pytest.mark.rule("contract O7")

ADMIN = "admin"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        # Letters of Cyrillic, Greek and Armenian, of mathematics, and in full width.
        *((name, ADMIN) for name in ("\u0430dmin", "\u03b1dmin", "\u0430\u0501m\u0456\u0578", "\u0410DMIN", "ADMIN")),
        *((name, ADMIN) for name in ("\uff41\uff44\uff4d\uff49\uff4e", "ad\u200bmin", "adrnin")),
        ("\U0001d41a\U0001d41d\U0001d426\U0001d422\U0001d427", ADMIN),
        *(("VIadimir", "vladimir"), ("user1", "userl"), ("B0b", "BOB"), ("\u0441\u043e\u0440\u0430", "copa")),
        *(("a\u0301nn", "\u00e1nn"), ("\u00e1nn", "ann")),
    ],
)
def test_lookalikes_are_recognised(name: str, other: str) -> None:
    assert not looks(name).isdisjoint(looks(other))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("adnin", ADMIN), ("administrator", ADMIN), ("\u0430\u0434\u043c\u0438\u043d", ADMIN)),
        *(("\u65e5\u672c", "\u672c\u65e5"), ("user2", "user3")),
    ],
)
def test_different_names_are_not_lookalikes(name: str, other: str) -> None:
    assert looks(name).isdisjoint(looks(other))


@given(st.text(max_size=MAX_NAME))
def test_every_name_looks_like_itself_in_any_case(name: str) -> None:
    assert not looks(name).isdisjoint(looks(name.casefold()))
