"""Every sentence of :mod:`logoadmin.ports.encryption`, over every adapter."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.ports.encryption import Encryption

pytestmark = pytest.mark.rule("contract F3")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SEALERS = pytest.mark.parametrize("encryption", [FernetEncryption()], ids=["fernet"])


@SEALERS
@given(text=TEXTS, key=TEXTS)
def test_what_was_sealed_is_opened_under_its_key(encryption: Encryption, text: str, key: str) -> None:
    assert encryption.open(encryption.seal(text, key), key) == text


@SEALERS
@given(text=TEXTS, key=TEXTS, other=TEXTS)
def test_under_another_key_it_is_refused(encryption: Encryption, text: str, key: str, other: str) -> None:
    if key != other:
        sealed = encryption.seal(text, key)
        with pytest.raises(ValueError, match=r"^This was not sealed under this key$"):
            encryption.open(sealed, other)


@SEALERS
@pytest.mark.parametrize("broken", ["", "x", "é😀", "gAAAAA", "=" * 100, "\0", "a" * 1000])
def test_what_is_no_seal_is_refused(encryption: Encryption, broken: str) -> None:
    with pytest.raises(ValueError, match=r"not sealed under this key"):
        encryption.open(broken, "key")


@SEALERS
def test_what_was_changed_is_refused(encryption: Encryption) -> None:
    sealed = encryption.seal("a token", "key")
    for place in range(0, len(sealed) - 4, 7):
        spoilt = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        with pytest.raises(ValueError, match=r"^This was not sealed under this key$"):
            encryption.open(spoilt, "key")


@SEALERS
def test_a_seal_tells_nothing(encryption: Encryption) -> None:
    text, key = "a secret that is long enough to be found", "the key to it"
    sealed = encryption.seal(text, key)
    assert text not in sealed
    assert key not in sealed
    assert encryption.seal(text, key) != sealed


@SEALERS
def test_an_error_tells_nothing(encryption: Encryption) -> None:
    with pytest.raises(ValueError, match="sealed") as caught:
        encryption.open(encryption.seal("a secret", "key"), "other key")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "key" not in str(caught.value).removesuffix("under this key")


@SEALERS
def test_several_threads_may_seal_at_once(encryption: Encryption) -> None:
    with ThreadPoolExecutor(8) as threads:
        opened = threads.map(
            lambda n: encryption.open(encryption.seal(f"text {n}", f"key {n}"), f"key {n}"), range(100)
        )
        assert list(opened) == [f"text {n}" for n in range(100)]
