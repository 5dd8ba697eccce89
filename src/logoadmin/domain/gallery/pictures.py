"""Pictures: uploading, fetching, serving and removing them (contract P1 to P5)."""

import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.gallery.picture_commands import (
    GetPicture,
    KeptPicture,
    ListPictures,
    PictureNamedBy,
    RemovedPicture,
    RemovePicture,
    SendPicture,
    SentPicture,
)
from logoadmin.domain.gallery.picture_names import DAY
from logoadmin.domain.gallery.picture_queue import PictureQueue
from logoadmin.domain.kernel.access import OPTIONAL, OWNER, Anonymous, Caller, Held, Permission, Scope
from logoadmin.domain.kernel.act_log import REMOVED
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, NotFound, OutgoingError, PictureGone, TooManyPictures
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, USERS, WRITE_SCOPES, picture_names, picture_path
from logoadmin.domain.kernel.limits import MAX_PICTURE
from logoadmin.domain.kernel.lists import ListCommand, Listing, PageSizes
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.records import Kind, PictureFile
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    AuditedUnitOfWork,
    Reading,
    ReadUnitOfWork,
    change_log_of,
    count_use,
    stored_pictures_in,
)
from logoadmin.domain.kernel.use_cases import Service, behind, for_program, gate_of, reads_with_rights, use_case
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_storage import StoredPicture
from logoadmin.ports.outgoing import Outgoing
from logoadmin.ports.pictures import ConvertedPicture, PictureCodec, PictureRefused

# The error for clients if Pillow is missing.
NOT_INSTALLED: Final = "Pictures need the extra logoadmin[pictures], which is not installed"
DEFAULT_SPACE: Final = 1024**3
# The most of it for a user without write scopes.
_MOST_SHARE: Final = 64 * 1024**2
# Counters of pictures, and of milliseconds of work for callers without write scopes.
_PICTURES: Final = "pictures"
_WORK: Final = "picture work"
_PER_HOUR: Final = 200
_WORK_PER_HOUR: Final = 120_000
# How many records that name a hidden picture are checked for their authors.
_MOST_NAMES: Final = 50
_PAGE_SIZES: Final = PageSizes(200, 200)
# The most names of one picture in the list.
_MOST_LISTED: Final = 20
_FETCH_SECONDS: Final = 20.0
_SENDING: Final = Permission(Scope.LOGOS_WRITE, or_else=(Scope.THEMES_WRITE, Scope.USERS_WRITE, Scope.PROPOSALS_WRITE))


class PictureService(Service):
    """The use cases of pictures."""

    def __init__(
        self,
        transactions: Transactions,
        codec: PictureCodec | str,
        outgoing: Outgoing | None,
        public_url: PublicUrl,
        space: int,
        published: GalleryFiles | None,
    ) -> None:
        """Serve pictures, which together may have ``space`` bytes; an error for clients stands for a missing codec."""
        super().__init__(transactions)
        self._codec, self._outgoing, self._public_url = codec, outgoing, public_url
        self._space, self._published = space, published
        self._has_remains, self._queue = False, PictureQueue()

    @use_case(_SENDING)
    def check(self, gate: Gate, command: SendPicture, caller: Caller = OWNER) -> int | None:
        """Reject callers without the right before their file is received; return the user's id, if any."""
        return gate.check(command, caller).user_id

    @use_case(_SENDING)
    def send(self, gate: Gate, command: SendPicture, content: bytes = b"", caller: Caller = OWNER) -> SentPicture:
        """Store a picture. No transaction is open while it is fetched and decoded, one at a time.

        Raises:
            InvalidInput: the file is not a supported picture, or was removed before; it cannot be fetched; or Pillow is
                missing.
            TooManyPictures: the user sent 200 in an hour, or pictures that took minutes; or too many wait.
            Conflict: there is no space for it.
        """
        held = gate.check(command, caller)
        if command.source is None:
            command = command.model_copy(update={"content_hash": hashlib.sha256(content).hexdigest()})
        stored: SentPicture | None = gate.replayed(command, caller)
        if stored is not None:
            return stored
        self._count_picture(held.user_id)
        if command.source is not None:
            if content:
                raise InvalidInput.of("Body should be empty if from is given", "body")
            content = self._fetch(command.source)
        return self._keep(gate, command, content, caller, held)

    @reads_with_rights(OPTIONAL)
    def get(self, uow: ReadUnitOfWork, command: GetPicture, held: Held) -> tuple[bytes, bool]:
        """Return a stored file, and whether only moderators and its authors see it.

        Raises:
            NotFound: the picture does not exist.
            PictureGone: it was removed; or only blocked artworks name it, and the caller may neither read users nor
                change artworks, and is not an author of one of these.
        """
        pictures = stored_pictures_in(uow)
        content = pictures.content(command.picture, thumbnail=command.thumbnail)
        if content is None:
            if pictures.get(command.picture) is None:
                raise NotFound("Picture", command.picture)
            raise PictureGone
        is_hidden = pictures.is_taken_down(command.picture)
        if is_hidden and (isinstance(uow.caller, Anonymous) or not _sees_hidden(uow, command.picture, held)):
            raise PictureGone
        return content, is_hidden

    @reads_with_rights(Permission(Scope.USERS_READ))
    def list(self, uow: ReadUnitOfWork, command: ListPictures, _held: Held) -> Listing[KeptPicture]:
        """Return the stored pictures, by hash, with the records that name them (contract P4)."""
        pages = Pages(self._page, _PAGE_SIZES, attrgetter("picture"), start=_start)
        # The records that name a picture change without a version of the picture.
        return pages.listing(self, uow, command, version=0)

    @use_case(Permission(Scope.ALL, recent=True))
    def remove(self, gate: Gate, command: RemovePicture, caller: Caller = OWNER) -> RemovedPicture:
        """Remove the bytes of a picture for good; uploads of the same bytes are rejected from then on.

        The published copies are removed at once.

        Raises:
            NotFound: the picture does not exist, or was removed.
        """
        removed = gate.write(command, caller, self._remove)
        if self._published is not None:
            for name in picture_names([command.picture]):
                # Otherwise publishing removes them.
                with suppress(OSError):
                    self._published.remove(name)
        self._has_remains = True
        self.erase_removed()
        return removed

    @for_program
    def erase_removed(self) -> None:
        """Overwrite remains of removed pictures in files, if there may be any."""
        if self._has_remains:
            self._has_remains = not behind(self).storage.erase_removed()

    def _remove(self, uow: AuditedUnitOfWork, command: RemovePicture) -> RemovedPicture:
        found = stored_pictures_in(uow).get(command.picture)
        if found is None or found.is_removed:
            raise NotFound("Picture", command.picture)
        stored_pictures_in(uow).remove(command.picture)
        file = PictureFile(found.picture, found.width, found.height, found.frames, found.size)
        log = change_log_of(uow)
        change_id = log.next_version()
        log.record(REMOVED, Kind.PICTURE, change_id, change_id, asdict(file), None)
        return RemovedPicture(command.picture)

    @for_program
    def stored(self, after: str = "") -> Sequence[str]:
        """Return the next pictures after one, in order; empty at the end."""
        found = behind(self).storage.read(lambda uow: uow.pictures.page(after, 1000))
        return tuple(each.picture for each in found)

    @for_program
    def space(self) -> tuple[int, int, int]:
        """Return the number of stored pictures, their size in bytes, and the limit of this size."""
        return behind(self).storage.read(lambda uow: (uow.pictures.count(), uow.pictures.space(), self._space))

    @for_program
    def restore(self, picture: str, content: bytes) -> bool:
        """Store a file of another gallery unchanged; return whether it was missing.

        Raises:
            InvalidInput: it is not that picture, it was removed, or Pillow is missing.
            Conflict: there is no space for it.
        """
        if hashlib.sha256(content).hexdigest() != picture:
            raise InvalidInput.of("The file is not the picture that its name says", "body")
        command = SendPicture(content_hash=picture)
        return not self._keep(gate_of(self, "send", command), command, content, OWNER, None).existed

    def _keep(self, gate: Gate, command: SendPicture, content: bytes, caller: Caller, held: Held | None) -> SentPicture:
        """Store a picture, converted in its turn; without ``held``, a stored file, unchanged."""
        sent = hashlib.sha256(content).hexdigest()
        known = behind(self).storage.read(lambda uow: _known(uow, sent))
        converted = None if known else self._convert(content, held)
        return gate.write(command, caller, partial(self._store, sent=sent, converted=converted))

    def _store(
        self, uow: AuditedUnitOfWork, _command: SendPicture, *, sent: str, converted: ConvertedPicture | None
    ) -> SentPicture:
        pictures = stored_pictures_in(uow)
        picture = "" if converted is None else hashlib.sha256(converted.content).hexdigest()
        known = _known(uow, sent) or _known(uow, picture)
        if known is not None:
            pictures.keep([known.picture], uow.now + DAY)
            return self._answer(known, existed=True)
        if converted is None:
            raise InvalidInput.of("The picture was removed at this moment; send it again", "body")
        self._require_space(uow, len(converted.content) + len(converted.thumbnail))
        shape = (converted.width, converted.height, converted.frames, len(converted.content), converted.ground)
        sender_id = uow.held.user_id
        stored = StoredPicture(picture, sent, uow.now, *shape, sender_id=sender_id)
        pictures.add(stored, converted.content, converted.thumbnail)
        pictures.keep([picture], uow.now + DAY)
        return self._answer(stored, existed=False)

    def _page(self, after: str, limit: int, uow: Reading) -> tuple[KeptPicture, ...]:
        pictures = stored_pictures_in(uow)
        found = pictures.page(after, limit)
        senders = {each.sender_id for each in found if each.sender_id is not None}
        users = {user_id: user.username for user_id in senders if (user := uow.records(USERS).get(user_id))}
        return tuple(
            KeptPicture(
                **self._values(each, "width", "height", "size", "sent_at", "in_history"),
                user_id=each.sender_id,
                user_name=None if each.sender_id is None else users.get(each.sender_id),
                named_by=tuple(PictureNamedBy(of.kind, of.id) for of in pictures.names(each.picture, _MOST_LISTED)),
            )
            for each in found
        )

    def _values(self, stored: StoredPicture, *names: str) -> dict[str, Any]:
        """Return the hash of a picture, its addresses, and these of its values."""
        picture, base = stored.picture, self._public_url.base
        urls = {"url": f"{base}/{picture_path(picture)}"}
        urls["thumbnail_url"] = f"{base}/{picture_path(picture, thumbnail=True)}"
        return {"picture": picture, **urls, **{name: getattr(stored, name) for name in names}}

    def _require_space(self, uow: AuditedUnitOfWork, size: int) -> None:
        """Require that there is space for a picture, in the space of all users and in that of this user."""
        held, share = uow.held, min(self._space // 10, _MOST_SHARE)
        if stored_pictures_in(uow).space() + size > self._space:
            raise Conflict("The pictures would take more space than picture_space allows")
        if held.user_id is None or may_write(held):
            return
        if stored_pictures_in(uow).space_of(held.user_id) + size > share:
            text = f"Your pictures that were not applied would take more than your share of {share // 1024} KiB"
            raise Conflict(f"{text}; withdraw a submission with pictures, or wait until one is applied")

    def _answer(self, stored: StoredPicture, *, existed: bool) -> SentPicture:
        values = self._values(stored, "width", "height", "frames", "size", "ground")
        return SentPicture(**values, existed=existed)

    def _convert(self, content: bytes, held: Held | None) -> ConvertedPicture:
        if isinstance(self._codec, str):
            raise InvalidInput.of(self._codec, "body")
        if not content:
            raise InvalidInput.of("Field required", "body", type_="missing")
        if len(content) > MAX_PICTURE:
            raise InvalidInput.of(f"The picture should have at most {MAX_PICTURE // 1024**2} MiB", "body")
        goes_first, began = held is None or may_write(held), 0.0
        try:
            with self._queue.turn(self._codec.cost(content), may_write=goes_first):
                began = time.thread_time()
                return self._codec.read(content) if held is None else self._codec.convert(content)
        except PictureRefused as error:
            raise InvalidInput.of(str(error), "body") from None
        finally:
            if held is not None and held.user_id is not None and not goes_first and began:
                work = round(1000 * (time.thread_time() - began))
                self._count_use(held.user_id, _WORK, _WORK_PER_HOUR, work)

    def _fetch(self, url: str) -> bytes:
        if self._outgoing is None:
            raise InvalidInput.of("Fetching pictures needs logoadmin[client], which is not installed", "query", "from")
        try:
            return self._outgoing.fetch(url, most=MAX_PICTURE, seconds=_FETCH_SECONDS).body
        except OutgoingError as error:
            raise InvalidInput.of(f"The picture cannot be fetched: {error}", "query", "from") from None

    def _count_picture(self, user_id: int | None) -> None:
        """Count a picture of a user before it is decoded, unless the user's pictures this hour took too much work."""
        if user_id is None:
            return
        wait = self._count_use(user_id, _WORK, _WORK_PER_HOUR, 0) or self._count_use(user_id, _PICTURES, _PER_HOUR, 1)
        if wait:
            raise TooManyPictures(wait)

    def _count_use(self, user_id: int, what: str, most: int, more: int) -> int:
        """Count a use in this hour; return how long the user has to wait."""
        now = behind(self).clock.now()
        return behind(self).storage.write(lambda uow: count_use(uow, what, user_id, now, most, more=more))


def may_write(held: Held) -> bool:
    """Return whether a caller may change records of some kind, rather than only propose changes."""
    return any(map(held.hold, WRITE_SCOPES))


def _sees_hidden(uow: Reading, picture: str, held: Held) -> bool:
    """Return whether a caller sees a hidden picture: moderators do, and authors of artworks that name it."""
    if any(map(held.hold, (Scope.USERS_READ, *(kind.write_scope for kind in ARTWORK_KINDS)))):
        return True
    names = stored_pictures_in(uow).names(picture, _MOST_NAMES) if held.of_user else ()
    artworks = (uow.records(kind).get(each.id) for each in names for kind in ARTWORK_KINDS if kind.kind == each.kind)
    return any(author.user_id == held.user_id for artwork in artworks if artwork for author in artwork.authors)


def _start(_uow: Reading, command: ListCommand) -> Any:
    return command.after or ""


def _known(uow: AnyUnitOfWork, sha256: str) -> StoredPicture | None:
    """Return the picture with this hash, or whose original file had it; refuse one that was removed."""
    found = stored_pictures_in(uow).get(sha256) or stored_pictures_in(uow).sent_as(sha256)
    if found is not None and found.is_removed:
        raise InvalidInput.of(PictureGone.text, "body")
    return found
