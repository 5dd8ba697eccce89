"""The pictures that the lines of an import name, as files beside it (contract I5)."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from logoadmin.domain.changes.jsonl import RawLine
from logoadmin.domain.gallery.pictures import SendPicture
from logoadmin.domain.kernel.command import strict_json
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.limits import MAX_PICTURE

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin

PICTURE_FILE: Final = "picture_file"
SCREENSHOT_FILES: Final = "screenshot_files"
# The field that each of them fills.
FILES: Final[Mapping[str, str]] = {PICTURE_FILE: "preview_url", SCREENSHOT_FILES: "details.screenshots"}


class _Refused(Exception):
    """A line names a picture that cannot be kept."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.problem = Problem((name,), text, "value_error")


@dataclass(slots=True)
class LinesWithPictures:
    """The lines of a file, in which URLs stand for the files of pictures that lines name.

    Attributes:
        lines: the lines, from the first one each time.
        folder: where the pictures are; nothing outside of it is read.
        keep: keeps a picture and returns its URL.
    """

    lines: Iterable[RawLine]
    folder: Path
    keep: Callable[[bytes], str]
    _kept: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[RawLine]:
        """Yield the lines; a problem in place of one whose pictures cannot be kept."""
        for line in self.lines:
            if isinstance(line, Problem) or not _names_files(line):
                yield line
                continue
            try:
                yield self._replaced(line)
            except _Refused as refused:
                yield refused.problem

    def _replaced(self, line: str | bytes) -> str | bytes:
        try:
            values = strict_json(line)
        except ValueError:
            return line  # the import says what is wrong
        if not isinstance(values, dict):
            return line
        if name := values.pop(PICTURE_FILE, None):
            if "preview_url" in values:
                raise _Refused(PICTURE_FILE, "Line should have preview_url or picture_file, and not both")
            values["preview_url"] = self._url(PICTURE_FILE, name)
        if names := values.pop(SCREENSHOT_FILES, None):
            details = values.setdefault("details", {})
            if not isinstance(details, dict) or details.get("screenshots") or not isinstance(names, list | str):
                text = "Line should have a list of screenshot_files or the screenshots in its details, and not both"
                raise _Refused(SCREENSHOT_FILES, text)
            # In a cell of CSV, there is one on each line.
            names = [name for name in names.split("\n") if name.strip()] if isinstance(names, str) else names
            details["screenshots"] = [{"url": self._url(SCREENSHOT_FILES, name)} for name in names]
        return json.dumps(values, ensure_ascii=False)

    def _url(self, member: str, name: object) -> str:
        """Return the URL of a picture, which is read and kept once."""
        if not isinstance(name, str):
            raise _Refused(member, "Input should be a file name")
        if name not in self._kept:
            try:
                self._kept[name] = self.keep(self._content(member, name.strip()))
            except InvalidInput as error:
                raise _Refused(member, f"{name}: {error.problems[0].msg}") from None
        return self._kept[name]

    def _content(self, member: str, name: str) -> bytes:
        folder = self.folder.resolve()
        try:
            # Not ``Path.resolve``, which has an error of its own for links in a circle.
            path = Path(os.path.realpath(folder / name))
            if not path.is_relative_to(folder):
                raise _Refused(member, f"{name} is outside the folder of the file")
            with open(path, "rb", opener=_open_at_once) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise _Refused(member, f"{name} is not a file")
                content = file.read(MAX_PICTURE + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a file name"
            raise _Refused(member, f"{name} cannot be read: {reason}") from None
        if len(content) > MAX_PICTURE:
            raise _Refused(member, f"{name} should have at most {MAX_PICTURE // 2**20} MiB")
        return content


def kept_in(gallery: "LogoAdmin") -> Callable[[bytes], str]:
    """Return what keeps a picture in a gallery and returns its URL."""
    return lambda content: gallery.pictures.send(SendPicture(), content).url


def _open_at_once(path: str, flags: int) -> int:
    """Open a file that is no link by now; a pipe without a writer as well."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _names_files(line: str | bytes) -> bool:
    if isinstance(line, bytes):
        return any(name.encode() in line for name in FILES)
    return any(name in line for name in FILES)
