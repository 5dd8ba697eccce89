"""Style sheets in ``data:`` URLs, which browsers import like others (WHATWG Fetch §6)."""

from base64 import b64decode
from urllib.parse import unquote_to_bytes

from tinycss2.bytes import decode_stylesheet_bytes

from logoadmin.domain.css.urls import trimmed


def is_data_url(url: str) -> bool:
    """Tell whether browsers take a URL for a ``data:`` URL."""
    return trimmed(url)[:5].lower() == "data:"


def sheets_in(url: str) -> tuple[str, ...]:
    """Return the style sheet in a ``data:`` URL: in UTF-8, and in the encoding that it claims to have.

    Returns:
        Up to two texts; none for any other URL.
    """
    if not is_data_url(url):
        return ()
    head, _, body = trimmed(url)[5:].partition("#")[0].partition(",")
    content = unquote_to_bytes(body)
    parameters = [each.strip().lower() for each in head.split(";")]
    if len(parameters) > 1 and parameters[-1] == "base64":
        try:
            content = b64decode(content + b"==")
        except ValueError:
            return ()
    charset = next((each[8:].strip("\"' ") for each in parameters if each.startswith("charset=")), None)
    declared, _ = decode_stylesheet_bytes(content, protocol_encoding=charset)
    return tuple({content.decode("utf-8", "replace"): None, declared: None})
