"""Every rule of :mod:`logoadmin.ports.encryption`, over every adapter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.ports.encryption import Encryption

pytestmark = pytest.mark.rule("contract F3")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ADAPTERS = pytest.mark.parametrize("encryption", [FernetEncryption()], ids=["fernet"])


@ADAPTERS
@given(text=TEXTS, key=TEXTS)
def test_an_encrypted_text_is_decrypted_under_its_key(encryption: Encryption, text: str, key: str) -> None:
    assert encryption.decrypt(encryption.encrypt(text, key), key) == text


@ADAPTERS
@given(text=TEXTS, key=TEXTS, other=TEXTS)
def test_under_another_key_it_is_refused_by_an_error_that_reveals_nothing(
    encryption: Encryption, text: str, key: str, other: str
) -> None:
    if key != other:
        with pytest.raises(ValueError, match=r"^This was not encrypted with this key$") as caught:
            encryption.decrypt(encryption.encrypt(text, key), other)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@ADAPTERS
@pytest.mark.parametrize("broken", ["", "x", "é😀", "gAAAAA", "=" * 100, "\0", "a" * 1000])
def test_a_text_that_is_not_encrypted_is_refused(encryption: Encryption, broken: str) -> None:
    with pytest.raises(ValueError, match=r"not encrypted with this key"):
        encryption.decrypt(broken, "key")


@ADAPTERS
def test_a_changed_ciphertext_is_refused(encryption: Encryption) -> None:
    encrypted = encryption.encrypt("a token", "key")
    for place in range(0, len(encrypted) - 4, 7):
        spoilt = encrypted[:place] + ("A" if encrypted[place] != "A" else "B") + encrypted[place + 1 :]
        with pytest.raises(ValueError, match=r"^This was not encrypted with this key$"):
            encryption.decrypt(spoilt, "key")


@ADAPTERS
def test_a_ciphertext_reveals_nothing(encryption: Encryption) -> None:
    text, key = "a secret that is long enough to be found", "the key to it"
    encrypted = encryption.encrypt(text, key)
    assert text not in encrypted
    assert key not in encrypted
    assert encryption.encrypt(text, key) != encrypted
