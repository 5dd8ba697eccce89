"""The texts of the console in two parts: a list needs a third of them, and loads no more (contract J5)."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

_LANGUAGE: Final = re.compile(r"texts/(\w+)\.js")
_ENTRY: Final = re.compile(r'^  (?:"([^"\n]+)"|(\w+)): (?:\{\n(?:    .*\n)+  \}|.*),\n', re.MULTILINE)
_STRING: Final = re.compile(r'"([\w.*:-]+)"')
# `failure.${kind}` and `${kind}s.title` stand for every key that fits.
_TEMPLATE: Final = re.compile(r"`([\w.]*\$\{[^`\n]*)`")
_WORD: Final = re.compile(r"[a-z]\.|\.[a-z]")
_VALUE: Final = re.compile(r"\$\{[^}]*\}")


def text_parts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Split the module of each language into one with the texts that lists mention and one with the others.

    Args:
        files: the files of the console; ``preload.json`` lists the modules of the lists.

    Returns:
        The modules ``texts/en/lists.js`` and ``texts/en/others.js``, and those of the other languages.
    """
    lists = "".join(files[name].decode() for name in json.loads(files["preload.json"])["lists"])
    strings = set(_STRING.findall(lists))
    templates = [_VALUE.split(template) for template in set(_TEMPLATE.findall(lists))]
    fitting = ("[^.]+".join(map(re.escape, pieces)) for pieces in templates if _WORD.search("$".join(pieces)))
    keys = re.compile("|".join(fitting))

    def in_lists(key: str) -> bool:
        return key in strings or keys.fullmatch(key) is not None

    return {
        f"texts/{language[1]}/{name}": _part(module.decode(), is_in)
        for path, module in files.items()
        if (language := _LANGUAGE.fullmatch(path))
        for name, is_in in (("lists.js", in_lists), ("others.js", lambda key: not in_lists(key)))
    }


def _part(module: str, is_in: Callable[[str], bool]) -> bytes:
    entries = (entry[0] for entry in _ENTRY.finditer(module) if is_in(entry[1] or entry[2]))
    return f"export default {{\n{''.join(entries)}}};\n".encode()
