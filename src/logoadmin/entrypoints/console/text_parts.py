"""The texts of the console in two parts: a list needs a third of them, and loads no more (contract J5)."""

import json
import re
from collections.abc import Mapping
from typing import Final

_LANGUAGE: Final = re.compile(r"texts/(\w+)\.js")
# An entry of the module of a language: its key, and a text or the lines of its plural forms.
_ENTRY: Final = re.compile(r'^  "?([\w.*:-]+)"?: (?:\{\n(?:    .*\n)+  \}|.*),\n', re.MULTILINE)


def text_parts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Split the module of each language into one with the texts that lists mention and one with the others.

    Args:
        files: the files of the console; ``preload.json`` has the keys that lists mention under ``texts``.

    Returns:
        The modules ``texts/en/lists.js`` and ``texts/en/others.js``, and those of the other languages.
    """
    keys = frozenset(json.loads(files["preload.json"])["texts"])
    return {
        f"texts/{language[1]}/{name}": _part(module.decode(), keys, is_in=name == "lists.js")
        for path, module in files.items()
        if (language := _LANGUAGE.fullmatch(path))
        for name in ("lists.js", "others.js")
    }


def _part(module: str, keys: frozenset[str], *, is_in: bool) -> bytes:
    entries = (entry[0] for entry in _ENTRY.finditer(module) if (entry[1] in keys) == is_in)
    return f"export default {{\n{''.join(entries)}}};\n".encode()
