"""Text from outside, which is UTF-8 with or without a mark (contract I4)."""

import codecs
from typing import Final

from logoadmin.domain.kernel.errors import SettingsError

_MARKS: Final = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def decoded(content: bytes, name: str) -> str:
    """Return a text.

    Args:
        content: its bytes.
        name: what it is, for the message.

    Raises:
        SettingsError: it is in another encoding.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        other = next((f" but {form}" for mark, form in _MARKS.items() if content.startswith(mark)), "")
    raise SettingsError(f"{name} cannot be read: it is not text in UTF-8{other}")
