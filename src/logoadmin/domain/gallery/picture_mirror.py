"""Copies of the pictures of artworks that are hosted elsewhere (contract P3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.gallery.pictures import PictureService
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, LogoAdminError
from logoadmin.domain.kernel.kinds import picture_of
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, replace_value, stored_artworks
from logoadmin.domain.kernel.use_cases import Service, behind, for_program, storage_of, writes


@dataclass(frozen=True, slots=True)
class ForeignPicture:
    """The picture of an active artwork, hosted elsewhere."""

    kind: Kind
    id: int
    name: str
    url: str
    copy: str = ""  # the address of its copy; empty without one
    failure: str = ""  # why there is no copy; empty if it was copied, or not tried


class NameCopies(Command):
    """A request to replace the pictures of artworks by their copies."""

    takes_long = True

    copies: tuple[ForeignPicture, ...]


class PictureMirror(Service):
    """Copies all pictures of active logos and themes that are hosted elsewhere, for the command line."""

    def __init__(self, pictures: PictureService) -> None:
        super().__init__(behind(pictures))
        self._pictures = pictures

    @for_program
    def foreign(self) -> Iterator[ForeignPicture]:
        """Yield the pictures that are hosted elsewhere, logos first, by id."""
        for kind, artwork in stored_artworks(storage_of(self).read, Filter(active=True)):
            if picture_of(artwork.preview_url) is None:
                yield ForeignPicture(kind.kind, kind.id_of(artwork), artwork.name, artwork.preview_url)

    @for_program
    def copies(self) -> Iterator[ForeignPicture]:
        """Yield these pictures with their copies, or why there are none; each address is fetched once."""
        fetched: dict[str, tuple[str, str]] = {}
        for each in [*self.foreign()]:
            if each.url not in fetched:
                fetched[each.url] = self._copy(each.url)
            copy, failure = fetched[each.url]
            yield replace(each, copy=copy, failure=failure)

    @writes()
    def name(self, uow: AuditedUnitOfWork, command: NameCopies) -> int:
        """Set the pictures of artworks to their copies, as one request; return the number of changes.

        Artworks whose picture has changed in the meantime are skipped.
        """
        copies = [each for each in command.copies if each.copy]
        return sum(replace_value(uow, each.kind, each.id, "preview_url", each.url, each.copy) for each in copies)

    def _copy(self, url: str) -> tuple[str, str]:
        """Return the address of a copy, or why there is none."""
        try:
            return self._pictures.send(SendPicture(source=url)).url, ""
        except InvalidInput as error:
            return "", "; ".join(problem.msg for problem in error.problems)
        except LogoAdminError as error:  # the other pictures are still copied
            return "", error.explained
