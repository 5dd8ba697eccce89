"""The number of statements for many records, a queue, a publication and a sign-in."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from logoadmin import Anonymous, CreateSignInCode, ImportRecords, ListProposals, LogoAdmin, Owner, RevertRequest, Tokens
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.domain.gallery.artworks import AmendLogo, CreateLogo, CreateTheme
from logoadmin.domain.identity.passkeys import AskPasskey
from logoadmin.domain.public_url import LOCAL
from logoadmin.settings import settings_of
from logoadmin.settings.rules import sign_in_rules
from tests.adapters.test_sql_searches import sent_statements
from tests.domain.changes.test_proposals import NEW_LOGO, WAITING, propose
from tests.domain.identity import second_factors, test_passkeys
from tests.domain.identity.sign_ins import ANN, caller
from tests.domain.identity.test_one_time_sign_in import typed
from tests.domain.identity.test_single_sign_on import ROLES, SINGLE, URL, FakeIssuer
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in, stock
from tests.passkeys import Authenticator

MANY = 300


@pytest.mark.rule("contract I2", "contract G4")
def test_records_are_read_and_inserted_many_at_a_time(sql_storage: SqlStorage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    authors = [{"kind": "author", "author_id": n, "user_id": n, "username": f"author {n}"} for n in (1, 2)]
    logos = [{"kind": "logo", "logo_id": n, **ARTWORK, "author_ids": [1 + n % 2]} for n in range(1, MANY)]
    lines = [json.dumps(line) for line in (*authors, *logos)]
    with sent_statements() as statements:
        gallery.import_export.load(ImportRecords(), lines, Owner("import"))
    assert len(statements) < MANY / 5
    with sent_statements() as statements:
        gallery.import_export.load(ImportRecords(), lines)
    assert len(statements) < MANY / 5
    with sent_statements() as statements:
        gallery.changes.revert_request(RevertRequest(request_id="import"))
    # Each record is removed with its links by one statement.
    assert len(statements) < 1.5 * MANY


@pytest.mark.rule("contract R1", "contract E2")
def test_a_queue_of_many_submitters_takes_five_statements(sql_storage: SqlStorage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    for user_id in range(501, 521):
        propose(gallery, signed_in(sql_storage, "proposals:write", user_id=user_id), NEW_LOGO)
    with sent_statements() as statements:
        listed = list(gallery.proposals.list(ListProposals(state=WAITING, limit=100)))
    assert len(listed) == 20
    assert len(statements) == 5, statements


MOST: Final = 25


@pytest.mark.rule("contract L1")
def test_publishing_one_change_takes_no_more_statements_than_this(tmp_path: Path) -> None:
    files = FolderGalleryFiles(tmp_path / "published")
    with logoadmin.connect(f"sqlite:///{tmp_path}/gallery.db") as gallery:
        gallery.logos.create(CreateLogo(**ARTWORK))
        gallery.themes.create(CreateTheme(**ARTWORK))
        gallery.publication.publish(files)
        gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
        with sent_statements() as statements:
            assert gallery.publication.publish(files).changed
    assert len(statements) <= MOST, statements


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
    with_password: 14,
    with_second_step: 17,
    with_passkey: 17,
    with_code: 21,
    through_issuer: 17,
}


@pytest.mark.rule("contract O2")
@pytest.mark.parametrize("way", COUNTED)
def test_a_sign_in_takes_no_more_statements_than_these(gallery: LogoAdmin, way: Way) -> None:
    """From a network where the user is known, with the locks and counters of both writes."""
    sign_in = way(gallery)
    with sent_statements() as statements:
        sign_in()
    assert len(statements) <= COUNTED[way], statements
