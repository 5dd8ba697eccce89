"""A database of each released version is opened, and everything in it still works (contract K7)."""

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pyotp import TOTP

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.changes.proposal_commands import ListProposals
from logoadmin.domain.gallery.picture_commands import GetPicture
from logoadmin.domain.identity.passkeys import AskPasskey, SignInWithPasskey
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.kernel.access import ANONYMOUS
from logoadmin.domain.kernel.errors import SecondFactorRequired
from logoadmin.domain.publication.shared_settings import GetSettings
from logoadmin.ports.proposal_storage import ProposalState
from tests.gallery import exported
from tests.kept.keep import ADMIN_PASSWORD, FOLDER, MIA, settings
from tests.mariadb import MariaDb
from tests.passkeys import Authenticator, decoded

pytestmark = pytest.mark.rule("contract K7")

_VERSIONS: Final = sorted(file.stem for file in FOLDER.glob("*.json"))


@pytest.fixture(params=_VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each version that is kept, in turn."""
    found: str = request.param
    return found


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.slow("a dump is loaded"))])
def gallery(request: pytest.FixtureRequest, version: str, tmp_path: Path) -> Iterator[logoadmin.LogoAdmin]:
    """The gallery of an earlier version, migrated."""
    if request.param == "sqlite":
        file = tmp_path / "gallery.db"
        file.write_bytes(gzip.decompress((FOLDER / f"{version}.sqlite3.gz").read_bytes()))
        url = f"sqlite:///{file}"
    else:
        server: MariaDb = request.getfixturevalue("mariadb")
        name = server.new_database()
        with (FOLDER / f"{version}.sql").open("rb") as dump:
            subprocess.run(["mariadb", f"--socket={server.socket}", "--user=root", name], stdin=dump, check=True)
        url = server.url_of(name)
    with open_gallery(settings(url), create="always") as opened:
        yield opened


@pytest.fixture
def proofs(version: str) -> dict[str, Any]:
    """The secrets of its people, and its records, when it was kept."""
    found: dict[str, Any] = json.loads((FOLDER / f"{version}.json").read_text(encoding="utf-8"))
    return found


def challenged(gallery: logoadmin.LogoAdmin) -> str:
    with pytest.raises(SecondFactorRequired) as required:
        gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=ADMIN_PASSWORD))
    return required.value.challenge


def test_a_database_of_0_1_0_is_included() -> None:
    assert "0.1.0" in _VERSIONS


def test_records_are_unchanged(gallery: logoadmin.LogoAdmin, proofs: dict[str, Any]) -> None:
    now = [json.loads(line) for line in exported(gallery)]
    assert len(now) == len(proofs["export"])
    for then, line in zip(proofs["export"], now, strict=True):
        assert then.items() <= line.items()  # a later version may have more fields


def test_users_can_sign_in_with_each_factor(gallery: logoadmin.LogoAdmin, proofs: dict[str, Any]) -> None:
    code = TOTP(proofs["totp"]).now()
    for answer in ({"totp": code}, {"recovery_code": proofs["recovery_code"]}):
        tokens = gallery.factors.sign_in(SignInWithFactor(challenge=challenged(gallery), **answer), ANONYMOUS)
        assert tokens.refresh_token
    kept = proofs["passkey"]
    device = Authenticator(
        ec.derive_private_key(kept["private"], ec.SECP256R1()),
        decoded(kept["credential_id"]),
        decoded(kept["handle"]),
        synced=True,
    )
    asked = gallery.passkeys.options(AskPasskey())
    used = {"challenge": asked.challenge, "passkey": device.get(asked.options)}
    assert gallery.passkeys.sign_in(SignInWithPasskey.model_validate(used), ANONYMOUS).access_token


def test_a_service_key_works(gallery: logoadmin.LogoAdmin, proofs: dict[str, Any]) -> None:
    script = gallery.sessions.caller(proofs["key"])
    assert gallery.users.get(logoadmin.GetUser(user_id=MIA), script).username == "Mia"


def test_the_history_is_readable_and_can_be_undone(gallery: logoadmin.LogoAdmin) -> None:
    acts = tuple(gallery.acts.list(ListActs(limit=100)))
    assert any(act.request_id == "renamed" for act in acts)
    changes = tuple(gallery.changes.list(logoadmin.ListChanges(limit=1000)))
    assert gallery.logos.get(logoadmin.GetLogo(logo_id=1)).details.version == "3"
    applied = next(change for change in reversed(changes) if change.kind == "logo" and change.id == 1)
    gallery.changes.revert(logoadmin.Revert(change_id=applied.change_id))
    assert gallery.logos.get(logoadmin.GetLogo(logo_id=1)).details.version is None


def test_pictures_settings_and_waiting_proposals_are_preserved(gallery: logoadmin.LogoAdmin) -> None:
    logo = gallery.logos.get(logoadmin.GetLogo(logo_id=1))
    name = re.search(r"[0-9a-f]{64}", logo.preview_url)
    assert name is not None
    assert gallery.pictures.get(GetPicture(picture=name[0]))[0]
    assert gallery.settings.get(GetSettings()).gallery_title == "The kept gallery"
    waiting = tuple(gallery.proposals.list(ListProposals(state=ProposalState.WAITING)))
    assert [proposal.proposal_id for proposal in waiting] == [3]


def test_new_records_get_the_next_ids(gallery: logoadmin.LogoAdmin) -> None:
    assert gallery.authors.create(logoadmin.CreateAuthor(user_id=8, username="New")).author_id == 2
