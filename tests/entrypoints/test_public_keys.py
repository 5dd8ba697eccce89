"""The public keys over HTTP: others verify our tokens with them, and nobody makes one (contract C2)."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import logoadmin
from logoadmin.adapters.jwt_tokens import Key, hs256_key, key_from_file
from logoadmin.adapters.memory_storage import MemoryStorage
from tests.asgi import ask
from tests.gallery import TOKEN_KEY, FrozenClock, gallery_on

pytestmark = pytest.mark.rule("contract C2")

PATH = "/.well-known/jwks.json"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[Key]:
    """One key of each kind; the first signs."""
    directory: Path = tmp_path_factory.mktemp("keys")
    pairs: list[ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey] = [
        ed25519.Ed25519PrivateKey.generate(),
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
    ]
    found = []
    for number, private in enumerate(pairs):
        path = directory / f"{number}.pem"
        path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        found.append(key_from_file(str(path), signs=True))
    return [*found, hs256_key(TOKEN_KEY)]


def test_the_public_keys_are_published_and_cacheable_for_five_minutes(keys: list[Key]) -> None:
    gallery = gallery_on(MemoryStorage(), FrozenClock(), keys=keys)
    app = logoadmin.asgi(gallery)
    get = ask(app, "GET", PATH)
    assert (get.status_code, get.header("content-type")) == (200, "application/json")
    assert get.header("cache-control") == "public, max-age=300"
    assert get.json() == {"keys": [dict(key) for key in gallery.sessions.public_keys()]}
    assert [(key["kid"], key["alg"]) for key in get.json()["keys"]] == [(keys[0].kid, "EdDSA"), (keys[1].kid, "RS256")]
    assert TOKEN_KEY not in get.text
    assert ask(app, "GET", f"{PATH}/").status_code == 404
