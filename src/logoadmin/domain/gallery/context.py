"""The gallery context: its services, and its part in every write (contract D, P)."""

from typing import Final

from logoadmin.domain.gallery import picture_commands
from logoadmin.domain.gallery.audited_artworks import AuditedArtworks, AuditedAuthors
from logoadmin.domain.gallery.authors import AuthorService
from logoadmin.domain.gallery.picture_names import follow_names
from logoadmin.domain.gallery.pictures import PictureService
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Auditing
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.storage import Storage, UnitOfWork

# The modules with the results of its use cases, which are stored for repeated commands.
ANSWERS: Final = (picture_commands,)
# Links and blocks are part of artworks, and pictures are kept while anything names them.
AUDITING: Final = Auditing(
    records={Kind.AUTHOR: AuditedAuthors, **{kind.kind: AuditedArtworks for kind in ARTWORK_KINDS}},
    subscribers=[follow_names],
)


class GalleryContext:
    """The services of authors and pictures. The services of artworks are elsewhere, because they need CSS."""

    authors: AuthorService
    pictures: PictureService

    def connect_gallery(
        self, transactions: Transactions, ports: Ports, public_url: PublicUrl, picture_space: int
    ) -> None:
        """Create the services."""
        self.authors = AuthorService(transactions)
        codec, outgoing, published = ports.pictures, ports.outgoing, ports.published
        self.pictures = PictureService(transactions, codec, outgoing, public_url, picture_space, published)


def sweep(storage: Storage, now: int, most: int) -> bool:
    """Remove up to ``most`` pictures that nothing names any more (contract P4); return whether more may be left."""
    swept = False

    def work(uow: UnitOfWork) -> None:
        nonlocal swept
        swept = uow.pictures.forget_unnamed(now, most) >= most

    # Writes that begin to name a picture hold the same lock.
    if storage.read(lambda uow: uow.pictures.has_unnamed(now)):
        storage.try_write(work)
    return swept
