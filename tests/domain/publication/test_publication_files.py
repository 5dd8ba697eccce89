"""The files of the published gallery, as pure functions."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.ed25519_signing import Ed25519Signing
from logoadmin.domain.kernel.kinds import LOGOS, THEMES
from logoadmin.domain.kernel.records import Author, Kind, Logo, Theme
from logoadmin.domain.publication.files.index import MOST_INLINE, Index, IndexBuilder, canonical, hashed_name
from logoadmin.domain.publication.files.pointer import MOST_BYTES, Pointer, file_entry, parsed, signed
from logoadmin.domain.publication.files.withdrawals import withdrawn_entries, withdrawn_file
from logoadmin.jwk import thumbprint
from logoadmin.ports.gallery_storage import Withdrawal

ANN: Final = Author(7, 1042, "Ann", 1)
BOB: Final = Author(3, 1043, 'Böb \U0001f600 \x7f\u2028"\\', 2)
CSS: Final = {"form": "declarations", "hosts": ("i.example",), "imports": (), "size": 3, "risks": ()}
SHORT: Final = {"form": "declarations", "hosts": ["i.example"], "size": 3}


def logo(id_: int, name: str = "Aurora", authors: tuple[Author, ...] = (ANN,)) -> Logo:
    return Logo(id_, name, "https://i.example/a.png", "forum", "a{}", True, authors, 5)


def index_of(*artworks: Logo | Theme, version: int = 12) -> Index:
    builder = IndexBuilder()
    for artwork in artworks:
        builder.add(LOGOS if isinstance(artwork, Logo) else THEMES, artwork, CSS, {})
    return builder.index(version)


_TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]))
_LEAVES: Final = st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans() | st.none() | _TEXTS
_KEYS: Final = st.text("abcdefghijklmnopqrstuvwxyz_:/.", min_size=1)


@pytest.mark.rule("contract L2")
@given(st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner)))
def test_canonical_json_follows_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.rule("contract L2")
def test_an_index_has_authors_once_and_no_empty_fields() -> None:
    theme = Theme(2, "Dusk", "", "", "", True, (), 0)
    index = index_of(logo(1, authors=(ANN, BOB)), logo(4), theme)
    assert json.loads(index.body) == {
        "authors": [
            {"author_id": 3, "user_id": 1043, "username": BOB.username, "created_at": 2},
            {"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1},
        ],
        "logos": [
            {
                "logo_id": id_,
                "name": "Aurora",
                "preview_url": "https://i.example/a.png",
                "target": "forum",
                "custom_css": "a{}",
                "active": True,
                "author_ids": author_ids,
                "created_at": 5,
                "css": SHORT,
            }
            for id_, author_ids in ((1, [7, 3]), (4, [7]))
        ],
        "themes": [{"theme_id": 2, "name": "Dusk", "active": True, "created_at": 0, "css": SHORT}],
    }
    assert index.body == canonical(json.loads(index.body))
    assert index.sha256 == hashlib.sha256(index.body).hexdigest()
    assert index.name == f"12-{index.sha256[:16]}.json"
    assert hashed_name("withdrawn", b"abc") == "withdrawn-ba7816bf8f01cfea.json"


@pytest.mark.rule("contract L2")
@pytest.mark.parametrize(("length", "is_long"), [(MOST_INLINE, False), (MOST_INLINE + 1, True)])
def test_long_css_is_in_a_separate_file(length: int, is_long: bool) -> None:
    css = "\u00e9" + "x" * (length - 2)
    index = index_of(replace(logo(1), custom_css=css), replace(logo(2), custom_css=css))
    one, other = json.loads(index.body)["logos"]
    assert index.css_of(one) == index.css_of(other) == css
    if is_long:
        found = hashlib.sha256(css.encode()).hexdigest()
        assert one["custom_css_file"] == other["custom_css_file"] == {"sha256": found, "size": length}
        assert index.long_css == {f"css/{found}.css": css.encode()}
        assert "custom_css" not in one
    else:
        assert (one["custom_css"], index.long_css) == (css, {})
        assert "custom_css_file" not in one


SIGNING: Final = Ed25519Signing()
FILES: Final = (file_entry("12-ab.json", b"{}"), file_entry("withdrawn-cd.json", b"{}"))
POINTER: Final = Pointer("5cf4b3f4-6f77-4d7f-8a7e-9d1c6a9a2f10", 0, 12, 1_800_000_000, 1_802_592_000, *FILES)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def payload_of(pointer: bytes) -> Any:
    return json.loads(decoded(json.loads(pointer)["payload"]))


@pytest.mark.rule("contract L2", "contract L7")
def test_a_pointer_is_signed_by_every_key() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    keys = [SIGNING.key(SIGNING.generate()) for _ in range(2)]
    content = signed(POINTER, keys)
    assert content == signed(POINTER, keys)
    jws = json.loads(content)
    assert jws.keys() == {"payload", "signatures"}
    for key, signature in zip(keys, jws["signatures"], strict=True):
        header, raw, public = map(decoded, (signature["protected"], signature["signature"], key.jwk["x"]))
        assert json.loads(header) == {"alg": "Ed25519", "kid": thumbprint(key.jwk)}
        Ed25519PublicKey.from_public_bytes(public).verify(raw, f"{signature['protected']}.{jws['payload']}".encode())
    empty = hashlib.sha256(b"{}").hexdigest()
    assert payload_of(content)["index"] == {"path": "12-ab.json", "sha256": empty, "size": 2}
    assert parsed(content) == replace(POINTER, blocked=[], next_keys=[])


def test_the_thumbprint_follows_the_standard() -> None:
    # RFC 8037, appendix A.3.
    jwk = {"crv": "Ed25519", "kty": "OKP", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    assert thumbprint(jwk) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.rule("contract L2", "contract L3")
def test_a_pointer_never_exceeds_8_kib() -> None:
    keys = [SIGNING.key(SIGNING.generate()) for _ in range(2)]
    ids = range(2**31 - 1, 2**31 - 31, -1)
    blocked = withdrawn_entries(Withdrawal(Kind.LOGO, id_, id_ - 10**6, "\U0001f600" * 200) for id_ in ids)
    pointer = replace(POINTER, blocked=blocked, next_keys=[keys[0].jwk])
    content = signed(pointer, keys)
    assert len(content) <= MOST_BYTES
    payload = payload_of(content)
    assert [entry["id"] for entry in payload["blocked"]] == [entry["id"] for entry in blocked]
    with_reason = ["reason" in entry for entry in payload["blocked"]]
    assert with_reason == sorted(with_reason, reverse=True)  # the newest ones are first
    assert blocked[-1]["reason"]  # the given entries stay as they are


@pytest.mark.parametrize(
    "change",
    [
        *(lambda _: b"", lambda _: b"[]", lambda _: b"{}", lambda content: content[:-9], lambda _: b'{"payload": 7}'),
        *(lambda _: b'{"payload": "e30"}', lambda _: b'{"payload": "W10"}', lambda _: b"[" * 100_000),
        lambda _: json.dumps({"payload": base64.urlsafe_b64encode(canonical({"gallery": "x"})).decode()}).encode(),
    ],
)
def test_another_file_is_not_a_pointer(change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ValueError, match="pointer"):
        parsed(change(signed(POINTER, [])))


@pytest.mark.rule("contract L3")
def test_withdrawn_records_have_a_severity() -> None:
    assert withdrawn_file([Withdrawal(Kind.THEME, 5, 9, "tracks readers"), Withdrawal(Kind.LOGO, 4, 8)]) == (
        b'{"withdrawn":[{"at":9,"id":5,"kind":"theme","reason":"tracks readers","severity":"blocked"},'
        b'{"at":8,"id":4,"kind":"logo","severity":"removed"}]}'
    )
