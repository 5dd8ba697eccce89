"""Escapes untrusted text so that it fits on one line of a terminal or a log."""

import json


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
