"""Passkeys used on two services with one database at the same time (contract O2; ASVS 6.5.1)."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.identity.factors import ListFactors
from logoadmin.domain.identity.passkeys import AskPasskey, BeginPasskey, EnrolPasskey, SignInWithPasskey
from logoadmin.domain.identity.sessions import ListSessions
from logoadmin.domain.kernel.access import SignedIn
from logoadmin.domain.kernel.errors import Conflict, LogoAdminError, SignInRefused
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import LOCAL
from tests.domain.identity.sign_ins import ADMIN, ANN, caller
from tests.gallery import FrozenClock, gallery_on, stock
from tests.passkeys import Authenticator

pytestmark = pytest.mark.rule("contract O2")

Services = tuple[LogoAdmin, LogoAdmin]


@pytest.fixture
def services(prepared_url: str) -> Iterator[Services]:
    """Two services, each with its own connections."""
    clock = FrozenClock()
    with closing(open_sql_storage(prepared_url)) as one, closing(open_sql_storage(prepared_url)) as other:
        gallery = gallery_on(one, clock)
        stock(gallery)
        yield gallery, gallery_on(other, clock, started=False)


@pytest.fixture
def device() -> Authenticator:
    """A synced passkey, whose counter does not reveal its uses."""
    return Authenticator(site=LOCAL, synced=True)


def enrolment(gallery: LogoAdmin, who: SignedIn, device: Authenticator) -> EnrolPasskey:
    begun = gallery.passkeys.begin(BeginPasskey(), who)
    values = {"challenge": begun.challenge, "name": "Laptop", "credential": device.create(begun.options)}
    return EnrolPasskey.model_validate(values)


def at_once(services: Services, call: Callable[[LogoAdmin], object], times: int = 4) -> list[type[LogoAdminError]]:
    """Make a call to each service several times, all at the same time; return the errors."""
    barrier = Barrier(2 * times)

    def outcome(gallery: LogoAdmin) -> type[LogoAdminError] | None:
        barrier.wait()
        try:
            call(gallery)
        except LogoAdminError as error:
            return type(error)
        return None

    with ThreadPoolExecutor(2 * times) as threads:
        return [error for error in threads.map(outcome, services * times) if error is not None]


def test_one_use_of_a_passkey_creates_one_session(services: Services, device: Authenticator) -> None:
    gallery, _ = services
    ann = caller(gallery, gallery.sessions.sign_in(ANN))
    gallery.passkeys.enrol(enrolment(gallery, ann, device), ann)
    begun = gallery.passkeys.options(AskPasskey())
    values = {"challenge": begun.challenge, "passkey": device.get(begun.options)}
    command = SignInWithPasskey.model_validate(values)
    assert at_once(services, lambda each: each.passkeys.sign_in(command)) == [SignInRefused] * 7
    assert len(gallery.sessions.list(ListSessions(), ann)) == 2


@pytest.mark.rule("contract O1")
def test_a_passkey_has_one_user(services: Services, device: Authenticator) -> None:
    gallery, _ = services
    ann, admin = (caller(gallery, gallery.sessions.sign_in(each)) for each in (ANN, ADMIN))
    of = {id(services[0]): (enrolment(gallery, ann, device), ann)}
    of[id(services[1])] = enrolment(gallery, admin, device), admin
    assert at_once(services, lambda each: each.passkeys.enrol(*of[id(each)]), 1) == [Conflict]
    assert len([*gallery.factors.list(ListFactors(), ann), *gallery.factors.list(ListFactors(), admin)]) == 1
