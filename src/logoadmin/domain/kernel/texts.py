"""The parts of the types of texts: lengths, patterns and visible characters (contract A3).

Each function returns arguments for ``Annotated``: what pydantic checks, and what the OpenAPI document says of it.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Final

import can_ada
from pydantic import AfterValidator, Field, GetPydanticSchema, Strict
from pydantic_core import PydanticCustomError, core_schema

_NO_NUL = r"^[^\x00]*$"
_ONE_LINE: Final = r"^[^\x00\n\v\f\r\x85\u2028\u2029]*$"
# Characters that show nothing although their category is that of letters, marks or symbols: Unicode's property
# Default_Ignorable_Code_Point without the format characters (DerivedCoreProperties.txt), and the blank Braille pattern.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_INVISIBLE_CATEGORIES: Final = {"Zs", "Zl", "Zp", "Cc", "Cf"}


def matching(pattern: str, type_: str, msg: str) -> Callable[[str], str]:
    """Make a validator that explains a pattern in words, under one of pydantic's published types."""
    # `$` alone would let a trailing newline pass.
    compiled = re.compile(pattern.removesuffix("$") + r"\Z")

    def check(text: str) -> str:
        if compiled.match(text) is None:
            raise PydanticCustomError(type_, msg)
        return text

    return check


def pattern_text(
    pattern: str,
    msg: str,
    type_: str = "string_pattern_mismatch",
    *,
    minimum: int | None = None,
    maximum: int | None = None,
) -> tuple[Any, ...]:
    """Describe text that matches a pattern, which ``msg`` explains in words."""
    described = Field(min_length=minimum, max_length=maximum, json_schema_extra={"pattern": pattern})
    return Strict(), described, AfterValidator(matching(pattern, type_, msg))


def check_url(url: str) -> str:
    """Refuse a URL that browsers refuse."""
    if url and not can_ada.can_parse(url):
        raise PydanticCustomError("url_parsing", "Input should be a URL that browsers accept")
    return url


_without_nul = AfterValidator(
    matching(_NO_NUL, "string_pattern_mismatch", "String should not contain the character U+0000")
)


def is_visible(text: str) -> bool:
    """Return whether a text looks like one; marks without a letter are drawn, and count as visible."""
    return any(unicodedata.category(each) not in _INVISIBLE_CATEGORIES and _BLANK.match(each) is None for each in text)


# Characters that nobody sees and no language needs in a name, unlike joiners: they make two names look the same.
_UNSEEN: Final = frozenset("\u00ad\u200b\u2060\ufeff")
NO_UNSEEN: Final = r"^[^\x00\u00ad\u200b\u2060\ufeff]*$"


def _check_visible(text: str) -> str:
    """Refuse a text that would look like none at all."""
    if is_visible(text):
        return text
    raise PydanticCustomError("string_pattern_mismatch", "String should have at least one visible character")


def _check_seen(name: str) -> str:
    """Refuse a name that would look like another one."""
    if not _UNSEEN.isdisjoint(name):
        unseen = ", ".join(f"U+{ord(each):04X}" for each in sorted(_UNSEEN & set(name)))
        raise PydanticCustomError("string_pattern_mismatch", "String should not contain {names}", {"names": unseen})
    return name


def plain_text(minimum: int, maximum: int) -> tuple[Strict, object, AfterValidator]:
    """Describe text of some length, in code points, without U+0000."""
    described = Field(min_length=minimum, max_length=maximum, json_schema_extra={"pattern": _NO_NUL})
    return Strict(), described, _without_nul


def visible_text(maximum: int) -> tuple[Any, ...]:
    """Describe text with a visible character."""
    return *plain_text(1, maximum), AfterValidator(_check_visible)


def name_text(maximum: int) -> tuple[Any, ...]:
    """Describe a name: visible, and without characters that would make it look like another one."""
    return *visible_text(maximum), AfterValidator(_check_seen), Field(json_schema_extra={"pattern": NO_UNSEEN})


def line_text(minimum: int, maximum: int) -> tuple[Any, ...]:
    """Describe one paragraph: text without line breaks."""
    check = matching(_ONE_LINE, "string_pattern_mismatch", "String should be one paragraph, without line breaks")
    return *plain_text(minimum, maximum), AfterValidator(check), Field(json_schema_extra={"pattern": _ONE_LINE})


def visible_line(maximum: int) -> tuple[Any, ...]:
    """Describe one paragraph with a visible character."""
    return *line_text(1, maximum), AfterValidator(_check_visible)


def distinct_list(*of: Any) -> GetPydanticSchema:
    """Validate a list, as JSON has, into a tuple, so that errors mention a list."""
    written = Annotated[list[of[0]], Strict(False), *of[1:]]  # type: ignore[valid-type]  # made at run time
    return GetPydanticSchema(
        lambda _, handler: core_schema.no_info_after_validator_function(
            lambda values: tuple(dict.fromkeys(values)),
            handler(written),
            serialization=core_schema.plain_serializer_function_ser_schema(list, return_schema=handler(written)),
        )
    )
