"""Text from outside: decoded from UTF-8 with or without a byte order mark (contract I4), and escaped for one line."""

import codecs
import json
from typing import Final

from logoadmin.domain.kernel.errors import SettingsError

_MARKS: Final = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def decoded(content: bytes, name: str) -> str:
    """Return the text in UTF-8; raise SettingsError, which names it ``name``, if it has another encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        other = next((f" but {form}" for mark, form in _MARKS.items() if content.startswith(mark)), "")
    raise SettingsError(f"{name} cannot be read: it is not text in UTF-8{other}")


def on_one_line(text: str) -> str:
    """Return a text with characters escaped that end a line, move the cursor or are invisible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_json_line(text: str) -> str:
    """Return a line of JSON with these characters escaped as in JSON (RFC 8259 §7): only its strings can have any."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
