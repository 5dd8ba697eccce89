"""Text from outside: UTF-8 with or without a mark (contract I4), and escaped to fit on one line."""

import codecs
import json
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


def on_one_line(text: str) -> str:
    """Return a text with escapes for what ends a line, moves the cursor or cannot be seen."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_json_line(text: str) -> str:
    """Return a line of JSON with its own escapes for the same (RFC 8259 §7): only its texts can have any of it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
