# ruff: noqa: RUF001 (digits and letters of other keyboards)
"""The parts of second factors that need no storage: codes, one-time passwords and QR codes (contract O1)."""

import base64
import re
from xml.etree import ElementTree

import pytest

from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.domain.identity.challenges import hashed_code, new_code
from logoadmin.domain.identity.factors import ConfirmTotp
from logoadmin.domain.identity.totp import matching_step, new_secret, provisioning_uri
from logoadmin.entrypoints.http_api.operations.identity import qr_svg

pytestmark = pytest.mark.rule("contract O1")

RANDOM = SystemRandomness()
# The secret of RFC 6238, appendix B; the vectors there have eight digits, of which apps show the last six.
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()
VECTORS = {59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"}
NEVER = -1


def test_a_code_is_long_and_easy_to_type() -> None:
    """ASVS 6.5.2 and ASVS 6.5.4: 24 characters of 32 are 120 random bits."""
    codes = {new_code(RANDOM) for _ in range(200)}
    assert len(codes) == 200
    assert all(re.fullmatch(r"([0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}", code) for code in codes)
    assert {each for code in codes for each in code} == set("0123456789ABCDEFGHJKMNPQRSTVWXYZ-")


@pytest.mark.parametrize(
    "typed", ["01ab-cdef", "01ABCDEF", " 0 1 a b c d e f ", "OIab-cdef", "oLAB-CDEF", "olabcdef", "０１ａｂ－ＣＤＥＦ"]
)
def test_a_code_is_read_as_people_type_it(typed: str) -> None:
    assert hashed_code("recovery code", 7, typed) == hashed_code("recovery code", 7, "01AB-CDEF")


def test_a_code_is_valid_for_one_user_and_one_purpose() -> None:
    hashes = [hashed_code("recovery code", 7, "01AB"), hashed_code("recovery code", 8, "01AB")]
    assert len({*hashes, hashed_code("sign-in code", 7, "01AB")}) == 3


@pytest.mark.parametrize(("now", "code"), VECTORS.items())
def test_one_time_passwords_match_the_rfc(now: int, code: str) -> None:
    assert matching_step(RFC_SECRET, code, now, NEVER) == now // 30


def test_a_one_time_password_is_valid_one_step_early_and_late() -> None:
    """ASVS 6.5.5: a code is for 30 seconds, and valid 30 seconds before and after."""
    step, code = 1234567890 // 30, VECTORS[1234567890]
    valid = [step + shift for shift in range(-3, 4) if matching_step(RFC_SECRET, code, (step + shift) * 30, NEVER)]
    assert valid == [step - 1, step, step + 1]


@pytest.mark.rule("contract K7")
def test_a_step_that_was_used_is_not_valid_again() -> None:
    """ASVS 6.5.1: neither the step of the last code nor an earlier one; a step far ahead was another clock's."""
    step, code = 1234567890 // 30, VECTORS[1234567890]
    used = {used: matching_step(RFC_SECRET, code, 1234567890, step + used) for used in (-1, 0, 20, 21)}
    assert used == {-1: step, 0: None, 20: None, 21: step}
    assert matching_step(RFC_SECRET, "000000", 0, NEVER) is None  # the first step of time has none before it


@pytest.mark.parametrize("code", ["", "28708", "2870822", "28708\N{FULLWIDTH DIGIT TWO}", "287 082", "287083"])
def test_other_texts_are_not_one_time_passwords(code: str) -> None:
    assert matching_step(RFC_SECRET, code, 59, NEVER) is None


@pytest.mark.parametrize("typed", ["287082", "２８７０８２", "٢٨٧٠٨٢", "۲۸۷۰۸۲"])
def test_digits_of_every_keyboard_are_read(typed: str) -> None:
    assert ConfirmTotp(factor_id=1, code=typed).code == "287082"


def test_a_secret_has_160_random_bits() -> None:
    """ASVS 6.5.3: seeds come from the random generator of the operating system."""
    secrets = [new_secret(RANDOM) for _ in range(100)]
    assert len(set(secrets)) == 100
    assert {len(base64.b32decode(secret)) for secret in secrets} == {20}


def test_the_uri_has_the_format_that_apps_expect() -> None:
    # Apps refuse a label with a second colon.
    uri = provisioning_uri(RFC_SECRET, "ann:bob é", "gallery.example")
    label = "gallery.example:ann-bob%20%C3%A9"
    assert uri == f"otpauth://totp/{label}?secret={RFC_SECRET}&issuer=gallery.example"


@pytest.mark.parametrize("name", ["ann", "\N{GRINNING FACE}" * 64, '"><script>'])
def test_a_qr_code_is_a_picture_and_nothing_else(name: str) -> None:
    svg = qr_svg(provisioning_uri(RFC_SECRET, name, "g" * 253))
    root = ElementTree.fromstring(svg)
    drawn = [each.tag.partition("}")[2] for each in root.iter()]
    assert drawn == ["svg", "path", "path"]
    assert {key for each in root.iter() for key in each.attrib} == {"viewBox", "fill", "stroke", "d"}
