"""Copies of the pictures that artworks have elsewhere (contract P3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.gallery.pictures import PictureService
from logoadmin.domain.kernel.access import Permission, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, LogoAdminError
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, picture_of
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.kernel.use_cases import Service, behind, for_program, storage_of, writes
from logoadmin.ports.storage import Storage


@dataclass(frozen=True, slots=True)
class ForeignPicture:
    """The picture of an active artwork, which is elsewhere.

    Attributes:
        kind: the kind of the artwork.
        id: its id.
        name: its name.
        url: the address of the picture.
        copy: the address of its copy; empty without one.
        failure: why there is no copy; empty if there is one, or none was tried.
    """

    kind: Kind
    id: int
    name: str
    url: str
    copy: str = ""
    failure: str = ""


class NameCopies(Command):
    """The change of artworks to the copies of their pictures."""

    takes_long = True

    copies: tuple[ForeignPicture, ...]


class PictureMirror(Service):
    """Copies all pictures of active logos and themes that are elsewhere, for the command line."""

    def __init__(self, pictures: PictureService) -> None:
        super().__init__(behind(pictures))
        self._pictures = pictures

    @for_program
    def foreign(self) -> Iterator[ForeignPicture]:
        """Yield the pictures that are elsewhere, logos first, by id."""
        for kind in ARTWORK_KINDS:
            after = -1
            while page := _active(storage_of(self), kind.kind, after):
                for artwork in page:
                    after = kind.id_of(artwork)
                    if picture_of(artwork.preview_url) is None:
                        yield ForeignPicture(kind.kind, after, artwork.name, artwork.preview_url)

    @for_program
    def copies(self) -> Iterator[ForeignPicture]:
        """Yield the same with their copies, or why there are none; each address is asked once."""
        asked: dict[str, tuple[str, str]] = {}
        for each in [*self.foreign()]:
            if each.url not in asked:
                asked[each.url] = self._copied(each.url)
            copy, failure = asked[each.url]
            yield replace(each, copy=copy, failure=failure)

    @writes(Permission(Scope.ALL))
    def name(self, uow: AuditedUnitOfWork, command: NameCopies) -> int:
        """Set the pictures of artworks to their copies, as one request; return the number of changes.

        Artworks that have another picture by now stay as they are.
        """
        changed = 0
        for each in filter(attrgetter("copy"), command.copies):
            artworks = uow.records(KINDS[each.kind])
            artwork = artworks.get(each.id)
            if artwork is not None and artwork.preview_url == each.url:
                artworks.amend(each.id, None, {"preview_url": each.copy})
                changed += 1
        return changed

    def _copied(self, url: str) -> tuple[str, str]:
        """Return the address of a copy, or why there is none."""
        try:
            return self._pictures.send(SendPicture(source=url)).url, ""
        except InvalidInput as error:
            return "", "; ".join(problem.msg for problem in error.problems)
        except LogoAdminError as error:  # one picture stops none of the others
            return "", error.explained


def _active(storage: Storage, kind: Kind, after: int) -> tuple[Any, ...]:
    return storage.read(lambda uow: uow.records(KINDS[kind]).page(after, 50, Filter(active=True)))
