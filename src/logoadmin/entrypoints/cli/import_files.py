"""The lines of an import: picture files that lines name, and user styles (contract I5, S3)."""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.changes.import_source import RawLine, ReadValues
from logoadmin.domain.gallery.artworks import ListThemes
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.kernel.command import strict_json
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.limits import MAX_ORIGIN, MAX_PICTURE
from logoadmin.domain.kernel.records import Kind, Theme
from logoadmin.domain.publication.css.css_service import ReadUserStyle
from logoadmin.domain.publication.css.user_style_source import UserStyle
from logoadmin.text_files import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin

PICTURE_FILE: Final = "picture_file"
SCREENSHOT_FILES: Final = "screenshot_files"
# The fields that they fill.
FILES: Final[Mapping[str, str]] = {PICTURE_FILE: "preview_url", SCREENSHOT_FILES: "details.screenshots"}
USER_STYLE: Final = ".user.css"
_PICTURES: Final = (".png", ".webp", ".jpg", ".jpeg", ".gif")
_DIGEST: Final = 8
_NO_ORIGIN: Final = re.compile(r"[^A-Za-z0-9._~-]+")


@dataclass(slots=True)
class LinesWithPictures:
    """The lines of a file, with URLs in place of the picture files that they name.

    No file outside the folder is read. The pictures are stored in ``gallery``.
    """

    lines: Iterable[RawLine]
    folder: Path
    gallery: "LogoAdmin"
    _urls: dict[str, str] = field(default_factory=dict)
    _refusals: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[RawLine]:
        """Yield the lines, with the problems of pictures that cannot be stored."""
        for line in self.lines:
            yield line if isinstance(line, InvalidInput) or not _has_files(line) else self._with_urls(line)

    def _with_urls(self, line: str | bytes | ReadValues) -> RawLine:
        try:
            values = line if isinstance(line, ReadValues) else strict_json(line)
        except ValueError:
            return line  # the import reports the problem
        if not isinstance(values, dict):
            return line
        filled = ReadValues(values)
        if isinstance(line, ReadValues):
            filled.problems.update(line.problems)
        with filled.noting("preview_url"):
            self._fill_preview(filled)
        with filled.noting("details", "screenshots"):
            self._fill_screenshots(filled)
        return filled

    def _fill_preview(self, values: ReadValues) -> None:
        if name := values.pop(PICTURE_FILE, None):
            if "preview_url" in values:
                raise InvalidInput.of("Line should have preview_url or picture_file, and not both", PICTURE_FILE)
            values["preview_url"] = self._url(PICTURE_FILE, name)

    def _fill_screenshots(self, values: ReadValues) -> None:
        if names := values.pop(SCREENSHOT_FILES, None):
            details = values.setdefault("details", {})
            if not isinstance(details, dict) or details.get("screenshots") or not isinstance(names, list | str):
                text = "Line should have a list of screenshot_files or the screenshots in its details, and not both"
                raise InvalidInput.of(text, SCREENSHOT_FILES)
            # A CSV cell has one name per line.
            names = [name for name in names.split("\n") if name.strip()] if isinstance(names, str) else names
            details["screenshots"] = screenshots = list[dict[str, str]]()
            for number, name in enumerate(names):
                with values.noting(SCREENSHOT_FILES, str(number)):
                    screenshots.append({"url": self._url(SCREENSHOT_FILES, name)})

    def _url(self, member: str, name: object) -> str:
        """Return the URL of a picture, which is read and stored once, or refused once.

        An import reads its lines again inside its write, in which no picture can be stored.
        """
        if not isinstance(name, str):
            raise InvalidInput.of("Input should be a file name", member)
        if name not in self._urls and name not in self._refusals:
            try:
                self._urls[name] = self._stored(member, name)
            except InvalidInput as error:
                self._refusals[name] = error.problems[0].msg
        if name in self._refusals:
            raise InvalidInput.of(self._refusals[name], member)
        return self._urls[name]

    def _stored(self, member: str, name: str) -> str:
        """Store a picture and return its URL."""
        content = self._content(member, name.strip())
        try:
            return self.gallery.pictures.send(SendPicture(), content).url
        except InvalidInput as error:
            raise InvalidInput.of(f"{name}: {error.problems[0].msg}", member) from None

    def _content(self, member: str, name: str) -> bytes:
        folder = self.folder.resolve()
        try:
            # Not ``Path.resolve``, which raises a different error for circular links.
            path = Path(os.path.realpath(folder / name))
            if not path.is_relative_to(folder):
                raise InvalidInput.of(f"{name} is outside the folder of the file", member)
            with open(path, "rb", opener=_open_nonblocking) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise InvalidInput.of(f"{name} is not a file", member)
                content = file.read(MAX_PICTURE + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a file name"
            raise InvalidInput.of(f"{name} cannot be read: {reason}", member) from None
        if len(content) > MAX_PICTURE:
            raise InvalidInput.of(f"{name} should have at most {MAX_PICTURE // 2**20} MiB", member)
        return content


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file without following a link, and without waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _has_files(line: str | bytes | ReadValues) -> bool:
    if isinstance(line, bytes):
        return any(name.encode() in line for name in FILES)
    return any(name in line for name in FILES)


def style_lines(
    files: Sequence[Path], gallery: "LogoAdmin", *, target: str | None = None, picture: Path | None = None
) -> list[RawLine]:
    """Return user styles as lines of an import, one line or problem per file, in order; print what gets lost.

    A theme whose origin is the name of a file is amended. A picture with the same name in the same folder becomes the
    theme's; new themes without one get ``picture``. Without ``target``, the pages of a style choose its target.
    """
    known = {each.details.origin: each for each in gallery.themes.list(ListThemes()) if each.details.origin}
    files_of: dict[str, Path] = {}
    read: list[RawLine] = []
    for path in files:
        origin = _origin(path.name.removesuffix(USER_STYLE))
        try:
            style = gallery.css.user_style(ReadUserStyle(text=path.read_text(encoding="utf-8-sig")))
        except InvalidInput as error:
            read.append(error)
        except OSError as error:
            read.append(InvalidInput.of(f"The file cannot be read: {error.strerror}"))
        except UnicodeDecodeError:
            read.append(InvalidInput.of("The file is not UTF-8"))
        else:
            line = _line(path, style, origin, known.get(origin), target=target, picture=picture)
            if (other := files_of.setdefault(origin, path)) is not path:
                text = f"It would be the same theme as {other}: rename one of them"
                line.problems["details", "origin"] = Problem(("details", "origin"), text, "value_error")
            read.append(line)
            for sentence in [] if line.problems else style.lost:
                click.echo(on_one_line(f"{path}: {sentence}"), err=True)
    return read


def _origin(name: str) -> str:
    """Return the origin of a file; one that differs from the name, or is too long, gets a digest to be unique."""
    origin = _NO_ORIGIN.sub("-", name)
    if name.isascii() and len(origin) <= MAX_ORIGIN:
        return origin
    digest = sha256(unicodedata.normalize("NFC", name).encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST]
    return f"{origin[: MAX_ORIGIN - _DIGEST - 1]}-{digest}".lstrip("-")


def _line(
    path: Path, style: UserStyle, origin: str, known: Theme | None, *, target: str | None, picture: Path | None
) -> ReadValues:
    line = ReadValues(
        {
            "kind": Kind.THEME,
            "name": style.name,
            "target": target or style.target or (known.target if known is not None else None),
            "custom_css": style.custom_css,
            # Keeps the decision of moderators about an existing theme.
            "active": known is None or known.active,
            "details": {**style.details.members(), "origin": origin},
            "merge_details": True,
        }
    )
    if known is not None and not style.authors:
        line["author_ids"] = [author.author_id for author in known.authors]
    else:
        line["authors"] = [*style.authors]
    if not line["name"]:
        line.problems["name",] = Problem(("name",), "The style should have @name", "missing")
    if not line["target"]:
        text = "No target has all of its pages: name one with --target"
        line.problems["target",] = Problem(("target",), text, "missing")
    with line.noting("preview_url"):
        line |= _picture(path, known, picture)
    return line


def _picture(style: Path, known: Theme | None, default: Path | None) -> dict[str, str]:
    name = style.name.removesuffix(USER_STYLE)
    beside = next((path for ending in _PICTURES if (path := style.with_name(name + ending)).is_file()), None)
    if beside is not None and not beside.resolve().is_relative_to(style.parent.resolve()):
        raise InvalidInput.of(f"{beside} leads outside of its folder", PICTURE_FILE)
    if beside is None and known is not None:
        return {"preview_url": known.preview_url}
    if (file := beside or default) is not None:
        return {PICTURE_FILE: str(file.resolve())}
    text = f"Put a picture beside it, such as {name}.png, or name one for all with --picture"
    raise InvalidInput([Problem((PICTURE_FILE,), text, "missing")])
