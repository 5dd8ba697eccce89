"""The texts of the console in parts: a list needs a third of them, and loads no more (contract J5)."""

import json
import re
from collections.abc import Mapping
from typing import Final

_LANGUAGE: Final = re.compile(r"texts/(\w+)\.js")
# An entry of the module of a language: its key, and a text or the lines of its plural forms.
_ENTRY: Final = re.compile(r'^  "?([\w.*:-]+)"?: (?:\{\n(?:    .*\n)+  \}|.*),\n', re.MULTILINE)


def text_parts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Split the module of each language by which modules of the console mention its texts.

    Args:
        files: the files of the console; ``preload.json`` has the keys that lists mention under ``texts/lists``, and
            those that only the publication or only signing in mentions under ``texts/publication`` and
            ``texts/signing_in``.

    Returns:
        The modules ``texts/en/lists.js``, ``texts/en/publication.js``, ``texts/en/signing_in.js`` and
        ``texts/en/others.js``, and those of the other languages.
    """
    named = {name: keys for name, keys in json.loads(files["preload.json"]).items() if name.startswith("texts/")}
    part_of = {key: name.removeprefix("texts/") for name, keys in named.items() for key in keys}
    parts = ["others", *(name.removeprefix("texts/") for name in named)]
    return {
        f"texts/{language[1]}/{part}.js": _part(module.decode(), part_of, part)
        for path, module in files.items()
        if (language := _LANGUAGE.fullmatch(path))
        for part in parts
    }


def _part(module: str, part_of: Mapping[str, str], part: str) -> bytes:
    entries = (entry[0] for entry in _ENTRY.finditer(module) if part_of.get(entry[1], "others") == part)
    return f"export default {{\n{''.join(entries)}}};\n".encode()
