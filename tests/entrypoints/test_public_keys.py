"""The public keys over HTTP: others verify our tokens with them, and nobody makes one (contract C2)."""

from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import logoadmin
from logoadmin.adapters.jwt_tokens import Key, hs256_key, key_from_file
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from tests.asgi import AppClient, ask
from tests.gallery import ADMIN_PASSWORD, TOKEN_KEY, FrozenClock, gallery_on

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


def made(keys: list[Key], access: Policy = Policy.OPEN) -> LogoAdmin:
    return gallery_on(MemoryStorage(), FrozenClock(), access, keys=keys)


@pytest.mark.parametrize("access", list(Policy))
def test_others_verify_our_tokens_with_the_published_keys(keys: list[Key], access: Policy) -> None:
    for signing in keys[:2]:
        gallery = made([signing, *keys], access)
        client = AppClient(logoadmin.asgi(gallery))
        signed_in = client.post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD})
        token = signed_in.json()["access_token"]
        published = jwt.PyJWKSet.from_dict(client.get(PATH).json())
        claims = jwt.decode(
            token,
            published[jwt.get_unverified_header(token)["kid"]],
            algorithms=["EdDSA", "RS256"],
            audience="logoadmin",
            issuer="logoadmin",
            options={"verify_exp": False, "verify_iat": False},  # the clock of the gallery stands still
        )
        assert claims["scope"] == "*"
        roles = client.get("/api/roles", headers={"authorization": f"Bearer {token}"})
        assert roles.status_code == 200


def test_nothing_private_is_published(keys: list[Key]) -> None:
    answered = ask(logoadmin.asgi(made(keys)), "GET", PATH)
    first, second = answered.json()["keys"]
    assert set(first) == {"kty", "crv", "x", "kid", "use", "alg"}
    assert set(second) == {"kty", "n", "e", "kid", "use", "alg"}
    assert not {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "key_ops"} & (set(first) | set(second))
    assert [(key["kid"], key["use"], key["alg"]) for key in (first, second)] == [
        (keys[0].kid, "sig", "EdDSA"),
        (keys[1].kid, "sig", "RS256"),
    ]
    assert TOKEN_KEY not in answered.text
    assert keys[2].kid not in answered.text


def test_the_keys_may_be_kept_for_five_minutes(keys: list[Key]) -> None:
    app = logoadmin.asgi(made(keys))
    get = ask(app, "GET", PATH)
    assert get.status_code == 200
    assert get.header("content-type") == "application/json"
    assert get.header("cache-control") == "public, max-age=300"
    assert ask(app, "GET", f"{PATH}/").status_code == 404
