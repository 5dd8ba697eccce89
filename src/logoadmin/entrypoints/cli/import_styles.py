"""User styles as the lines of an import (contract I5, S3)."""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from logoadmin.domain.changes.jsonl import RawLine
from logoadmin.domain.gallery.artworks import ListThemes
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.limits import MAX_ORIGIN
from logoadmin.domain.kernel.records import Kind, Theme
from logoadmin.domain.publication.css.css_service import ReadUserStyle
from logoadmin.domain.publication.css.user_style_source import UserStyle
from logoadmin.entrypoints.cli.import_files import PICTURE_FILE

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin

USER_STYLE: Final = ".user.css"
_PICTURES: Final = (".png", ".webp", ".jpg", ".jpeg", ".gif")
_DIGEST: Final = 8
_NO_ORIGIN: Final = re.compile(r"[^A-Za-z0-9._~-]+")


def style_lines(
    files: Sequence[Path],
    gallery: "LogoAdmin",
    say: Callable[[str], object],
    *,
    target: str | None = None,
    picture: Path | None = None,
) -> list[RawLine]:
    """Return user styles as the lines of an import: one for each file, in order, or its problem.

    Args:
        files: the files; a picture beside one, of the same name, becomes that of its theme.
        gallery: where the themes are; the one with the name of the file as its origin is amended.
        say: is given what could not be kept, in sentences.
        target: the target of all; None for the one that their pages choose.
        picture: the picture of new themes that have none beside them.
    """
    known = {each.details.origin: each for each in gallery.themes.list(ListThemes()) if each.details.origin}
    files_of: dict[str, Path] = {}
    read: list[RawLine] = []
    for path in files:
        origin = _origin(path.name.removesuffix(USER_STYLE))
        try:
            if (other := files_of.setdefault(origin, path)) is not path:
                text = f"It would be the same theme as {other}: rename one of them"
                raise InvalidInput([Problem(("details", "origin"), text, "value_error")])
            style = gallery.css.user_style(ReadUserStyle(text=path.read_text(encoding="utf-8-sig")))
            values = _line(style, origin, target, known.get(origin))
            values |= _picture(path, known.get(origin), picture)
        except InvalidInput as error:
            read.append(error.problems[0])
        except OSError as error:
            read.append(Problem((), f"The file cannot be read: {error.strerror}", "value_error"))
        except UnicodeDecodeError:
            read.append(Problem((), "The file is not UTF-8", "value_error"))
        else:
            read.append(json.dumps(values, ensure_ascii=False))
            for sentence in style.lost:
                say(f"{path}: {sentence}")
    return read


def _origin(name: str) -> str:
    """Return the origin of a file; a name that is written otherwise, or too long, gets another one than all others."""
    origin = _NO_ORIGIN.sub("-", name)
    if name.isascii() and len(origin) <= MAX_ORIGIN:
        return origin
    digest = sha256(unicodedata.normalize("NFC", name).encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST]
    return f"{origin[: MAX_ORIGIN - _DIGEST - 1]}-{digest}".lstrip("-")


def _line(style: UserStyle, origin: str, target: str | None, known: Theme | None) -> dict[str, Any]:
    target = target or style.target or (known.target if known is not None else None)
    if not style.name:
        raise InvalidInput([Problem(("name",), "The style should have @name", "missing")])
    if not target:
        text = "No target has all of its pages: name one with --target"
        raise InvalidInput([Problem(("target",), text, "missing")])
    return {
        "kind": Kind.THEME,
        "name": style.name,
        "target": target,
        "custom_css": style.custom_css,
        # What moderators decided about a theme that is there stays.
        "active": known is None or known.active,
        "details": {**style.details.members(), "origin": origin},
        "merge_details": True,
        **(
            {"author_ids": [author.author_id for author in known.authors]}
            if known is not None and not style.authors
            else {"authors": [*style.authors]}
        ),
    }


def _picture(style: Path, known: Theme | None, default: Path | None) -> dict[str, str]:
    name = style.name.removesuffix(USER_STYLE)
    beside = next((path for ending in _PICTURES if (path := style.with_name(name + ending)).is_file()), None)
    if beside is not None and not beside.resolve().is_relative_to(style.parent.resolve()):
        raise InvalidInput([Problem((PICTURE_FILE,), f"{beside} leads outside of its folder", "value_error")])
    if beside is None and known is not None:
        return {"preview_url": known.preview_url}
    if (file := beside or default) is not None:
        return {PICTURE_FILE: str(file.resolve())}
    text = f"Put a picture beside it, such as {name}.png, or name one for all with --picture"
    raise InvalidInput([Problem((PICTURE_FILE,), text, "missing")])
