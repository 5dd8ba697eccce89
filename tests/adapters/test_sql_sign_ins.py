"""How many statements SQLite gets for a sign-in in each way (contract C1, O2, O6, O7)."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode
from logoadmin.domain.identity.passkeys import AskPasskey
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.kernel.access import Anonymous
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import LOCAL
from logoadmin.settings import settings_of
from logoadmin.settings.rules import sign_in_rules
from tests.adapters.test_sql_searches import sent_statements
from tests.domain.identity import second_factors, test_passkeys
from tests.domain.identity.sign_ins import ANN, caller
from tests.domain.identity.test_sign_in_codes import typed
from tests.domain.identity.test_single_sign_on import ROLES, SINGLE, URL, FakeIssuer
from tests.gallery import FrozenClock, gallery_on, stock
from tests.passkeys import Authenticator

HOME: Final = Anonymous("203.0.113.7", None, "Firefox")
ANN_ID: Final = 7

Way = Callable[[LogoAdmin], Callable[[], Tokens]]


@pytest.fixture
def gallery(prepared_sqlite_url: str) -> Iterator[LogoAdmin]:
    rules = sign_in_rules(settings_of(oidc_issuer=URL, oidc_client_id="gallery", oidc_client_secret="s3cret", **ROLES))
    gallery = gallery_on(open_sql_storage(prepared_sqlite_url), FrozenClock(), sign_in=rules, issuer=FakeIssuer())
    stock(gallery)
    with gallery:
        yield gallery


def with_password(gallery: LogoAdmin) -> Callable[[], Tokens]:
    gallery.sessions.sign_in(ANN, HOME)
    return lambda: gallery.sessions.sign_in(ANN, HOME)


def with_second_step(gallery: LogoAdmin) -> Callable[[], Tokens]:
    gallery.sessions.sign_in(ANN, HOME)
    _, _, codes = second_factors.enrolled(gallery)
    required = second_factors.challenged(gallery, client=HOME)
    return lambda: second_factors.second_step(gallery, required, HOME, recovery_code=codes[0])


def with_passkey(gallery: LogoAdmin) -> Callable[[], Tokens]:
    device = Authenticator(site=LOCAL)
    test_passkeys.enrol(gallery, caller(gallery, gallery.sessions.sign_in(ANN, HOME)), device)
    asked = gallery.passkeys.options(AskPasskey())
    command = test_passkeys.sign_in(asked.challenge, device.get(asked.options))
    return lambda: gallery.passkeys.sign_in(command, HOME)


def with_code(gallery: LogoAdmin) -> Callable[[], Tokens]:
    gallery.sessions.sign_in(ANN, HOME)
    made = gallery.sign_in_codes.create(CreateSignInCode(user_id=ANN_ID))
    return lambda: gallery.sign_in_codes.sign_in(typed(made.code), HOME)


def through_issuer(gallery: LogoAdmin) -> Callable[[], Tokens]:
    gallery.single_sign_on.sign_in(SINGLE, HOME)  # which creates the user
    return lambda: gallery.single_sign_on.sign_in(SINGLE, HOME)


COUNTED: Final[dict[Way, int]] = {
    with_password: 18,
    with_second_step: 21,
    with_passkey: 17,
    with_code: 22,
    through_issuer: 17,
}


@pytest.mark.rule("contract O2")
@pytest.mark.parametrize("way", COUNTED)
def test_a_sign_in_costs_no_more_statements_than_these(gallery: LogoAdmin, way: Way) -> None:
    """From a network where the user is known, with the locks and counters of both writes."""
    sign_in = way(gallery)
    with sent_statements() as statements:
        sign_in()
    assert len(statements) <= COUNTED[way], statements
