"""Keep a database of this version for the tests of every later one: ``python -m tests.kept.keep``, once a release.

Writes ``<version>.sqlite3.gz``, ``<version>.sql`` (a dump of the same gallery on MariaDB), and ``<version>.json``: the
secrets for signing in to it, and its records. The files of a version are never written again.
"""

import gzip
import json
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec
from pyotp import TOTP

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import RevertRequest
from logoadmin.domain.changes.proposal_commands import ApplyProposal, DeclineProposal, ProposeChanges
from logoadmin.domain.gallery.artworks import BlockLogo
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.identity.factors import ConfirmTotp, EnrolTotp
from logoadmin.domain.identity.passkeys import BeginPasskey, EnrolPasskey
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.kernel.access import ActingAs, Owner
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.maintenance import move
from logoadmin.settings import Settings, settings_of
from tests.gallery import ARTWORK, PIXEL, exported
from tests.mariadb import MariaDbServer
from tests.passkeys import SITE, Authenticator, encoded

FOLDER: Final = Path(__file__).parent
ADMIN_PASSWORD: Final = "a password that 0.1.0 hashed"
MIA: Final = 1042
_MIA_PASSWORD: Final = "mia's password of then"
_CHANGE: Final = {"kind": "logo", "id": 1, "set": {"details": {"version": "3"}}}


def settings(url: str) -> Settings:
    """Return the settings under which a kept database is made and opened."""
    return settings_of(
        database=url,
        access="guarded",
        admin_password=ADMIN_PASSWORD,
        public_url=SITE.origin,
        argon2_memory_kib=8,
        argon2_passes=1,
    )


def fill(gallery: logoadmin.LogoAdmin) -> dict[str, Any]:
    """Create some of everything; return the secrets of the users, and the records."""
    mia = logoadmin.CreateUser(user_id=MIA, username="Mia", role_id=2, password=_MIA_PASSWORD)
    gallery.users.create(mia)
    _fill_gallery(gallery)
    secrets = _enrol(gallery)
    return {**secrets, "export": [json.loads(line) for line in exported(gallery)]}


def _fill_gallery(gallery: logoadmin.LogoAdmin) -> None:
    """Make artworks with details and a picture, a history, an undo, proposals in each state, and a block."""
    gallery.settings.amend(AmendSettings(gallery_title="The kept gallery", picture_hosts=("i.example",)))
    gallery.authors.create(logoadmin.CreateAuthor(user_id=MIA, username="Mia"))
    picture = gallery.pictures.send(SendPicture(), PIXEL)
    details = {"description": "A kept logo", "text": "*Kept*", "tags": ["dark", "тёмная"], "origin": "kept-1"}
    for name in ("First", "Second"):
        given = {**ARTWORK, "name": name, "preview_url": picture.url, "details": details}
        gallery.logos.create(logoadmin.CreateLogo(**given))
        details = {"licence": "CC0-1.0"}
    gallery.themes.create(logoadmin.CreateTheme(**ARTWORK))
    gallery.logos.link(logoadmin.LinkLogoAuthor(logo_id=1, author_id=1))
    gallery.logos.amend(logoadmin.AmendLogo(logo_id=1, name="Renamed"), Owner("renamed"))
    tuple(gallery.changes.revert_request(RevertRequest(request_id="renamed")))
    gallery.logos.block(BlockLogo(logo_id=2, reason="It covers the sign-in form"))
    version = gallery.logos.get(logoadmin.GetLogo(logo_id=1)).version
    for number in range(3):
        given = {"title": f"Proposal {number}", "changes": [{**_CHANGE, "version": version}]}
        gallery.proposals.propose(ProposeChanges.model_validate(given), ActingAs(MIA))
    gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="Not now"))
    gallery.proposals.apply(ApplyProposal(proposal_id=2))


def _enrol(gallery: logoadmin.LogoAdmin) -> dict[str, Any]:
    """Enrol an authenticator app and a passkey of the administrator, and make a service key."""
    tokens = gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=ADMIN_PASSWORD))
    admin = gallery.sessions.caller(tokens.access_token)
    totp = gallery.factors.enrol_totp(EnrolTotp(name="Phone"), admin)
    code = TOTP(totp.secret).at(int(time.time()) - 30)  # so that the next one is not used yet
    factor = gallery.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=code), admin)
    private = ec.generate_private_key(ec.SECP256R1())
    device = Authenticator(private, synced=True)
    begun = gallery.passkeys.begin(BeginPasskey(), admin)
    enrolment = {"challenge": begun.challenge, "name": "Laptop", "credential": device.create(begun.options)}
    gallery.passkeys.enrol(EnrolPasskey.model_validate(enrolment), admin)
    return {
        "totp": totp.secret,
        "recovery_code": (factor.recovery_codes or ())[0],
        "key": gallery.keys.create(CreateKey(name="script", scope=("*",)), admin).key,
        "passkey": {
            "private": private.private_numbers().private_value,
            "credential_id": encoded(device.credential_id),
            "handle": encoded(device.handle or b""),
        },
    }


def _dump(server: MariaDbServer, file: Path) -> None:
    """Write the database of a server as SQL, without what depends on the machine."""
    options = ("--single-transaction", "--skip-comments", "--skip-dump-date", "--hex-blob", "--no-tablespaces")
    command = ("mariadb-dump", f"--socket={server.socket}", "--user=root", *options, server.database)
    file.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def keep() -> None:
    """Write the three files of this version.

    Raises:
        FileExistsError: this version is kept already.
    """
    kept = FOLDER / logoadmin.__version__
    with Path(f"{kept}.json").open("x", encoding="utf-8") as proofs, TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/gallery.db"
        with open_gallery(settings(url)) as gallery:
            json.dump(fill(gallery), proofs, ensure_ascii=False, indent=1)
        with closing(sqlite3.connect(f"{directory}/gallery.db")) as connection:
            connection.execute("VACUUM INTO ?", [f"{directory}/kept.db"])
        Path(f"{kept}.sqlite3.gz").write_bytes(gzip.compress(Path(directory, "kept.db").read_bytes(), mtime=0))
        server = MariaDbServer()
        try:
            move(settings(url), server.url, lambda *_: None)
            _dump(server, Path(f"{kept}.sql"))
        finally:
            server.remove()


if __name__ == "__main__":
    keep()
