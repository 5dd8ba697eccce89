"""The lines of an import: the records in them, and how each is stored (contract I)."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, get_type_hints

from pydantic import create_model

from logoadmin.domain.gallery.audited_artworks import artworks_of, check_authors
from logoadmin.domain.identity.accounts import FIRST_USER_ID, end_sign_ins, set_password
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.command import UNSET, Input
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, USERS, AnyArtworkKind, AnyKind
from logoadmin.domain.kernel.limits import MAX_ID, AuthorIds, AuthorNames, Flag, HashText, UnixTime
from logoadmin.domain.kernel.records import Kind, PasswordHash, StoredRecord
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Reading, get_existing, history_in, identity_in


class AuthorsByName:
    """The ids of the authors that a file names, all looked up with the first name."""

    def __init__(self, uow: AuditedUnitOfWork, names: Collection[str]) -> None:
        self._uow, self._names = uow, names
        self._highest = FIRST_USER_ID - 1
        self.count = 0  # of the authors that were created because a line names them

    def created(self, name: str) -> int:
        """Return the id of the author with a name, who is created if missing, and if the caller may do so."""
        if name not in self.ids:
            self._uow.held.require([AUTHORS.write_scope])
            number, now = self.free_number(), self._uow.now
            author = self._uow.records(AUTHORS).create(user_id=number, username=name, created_at=now)
            self.ids[name] = author.author_id
            self.count += 1
        return self.ids[name]

    def free_number(self) -> int:
        """Return a number for an author that no user ever had, no author has, and no member of a site will get."""
        _ = self.ids  # computes the highest number
        newest = self._uow.records(USERS).page(MAX_ID + 1, 1, order="desc")
        self._highest = max(self._highest, newest[0].user_id if newest else 0) + 1
        while history_in(self._uow).last_of(Kind.USER, self._highest):
            self._highest += 1
        if self._highest > MAX_ID:
            raise Conflict("There are no more numbers for new authors")
        return self._highest

    @cached_property
    def ids(self) -> dict[str, int]:
        """The ids of the authors that exist."""
        found: dict[str, int] = {}
        after = -1
        while some := self._uow.records(AUTHORS).page(after, AUTHORS.page_sizes.most):
            for author in some:
                if author.username in self._names:
                    found[author.username] = author.author_id
                self._highest = max(self._highest, author.user_id)
            after = some[-1].author_id
        return found


class LineOutcome(StrEnum):
    """The result of a line."""

    CREATED = "created"
    AMENDED = "amended"
    UNCHANGED = "unchanged"


class Line(Input):
    """A line of a file.

    A missing ``created_at`` keeps the existing time, or is the current one. If an id that the service assigns is
    missing, the line creates a record.
    """

    row: ClassVar[AnyKind]
    _late: ClassVar[int] = 2
    created_at: UnixTime = UNSET

    @property
    def phase(self) -> int:
        """When it is stored: lines with ids first, so that no new record gets one of these, then authors by name.

        Lines that name authors come last.
        """
        return self._late if self.names or self.which is None else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which it refers to authors."""
        return ()

    @property
    def which(self) -> tuple[Kind, int] | None:
        """The kind and the id of its record; None for a new record whose id is not known yet."""
        id_ = self.row.id_of(self)
        return None if id_ is UNSET else (self.row.kind, id_)

    def store(self, uow: AuditedUnitOfWork, named: AuthorsByName) -> LineOutcome:
        """Create the record with this id, or update it if it differs."""
        kind = self.row
        for field, referred in kind.references.items():
            get_existing(uow, KINDS[referred], getattr(self, field))
        known = self._known(uow, named)
        values = self._values(known, uow.now)
        if kind.id_of(self) is UNSET:
            values[kind.id_field] = uow.records(kind).next_id() if known is None else kind.id_of(known)
        self._complete(values, known, named)
        record = kind.record(**values)
        if known is None:
            self._add(uow, record)
            return LineOutcome.CREATED
        if record != known:
            uow.records(kind).update(record)
        is_amended = self._amend_extras(uow, known)
        return LineOutcome.AMENDED if is_amended or record != known else LineOutcome.UNCHANGED

    def _known(self, uow: AuditedUnitOfWork, named: AuthorsByName) -> Any:  # noqa: ARG002 (the names are for authors)
        return None if self.which is None else uow.records(self.row).get(self.row.id_of(self))

    def _complete(self, values: dict[str, Any], known: Any, named: AuthorsByName) -> None:
        """Set the values that the line leaves to the service."""

    def _values(self, known: Any, now: int) -> dict[str, Any]:
        created_at = self.created_at
        if created_at is UNSET:
            created_at = now if known is None else known.created_at
        return {**{name: getattr(self, name) for name in self.row.stored_fields}, "created_at": created_at}

    def _add(self, uow: AuditedUnitOfWork, record: StoredRecord) -> None:
        uow.records(self.row).add(record)

    def _amend_extras(self, uow: AuditedUnitOfWork, known: Any) -> bool:  # noqa: ARG002 (most kinds have neither)
        """Update links or the password of a record; return whether they differed."""
        return False


class UserLine(Line):
    """A user; without a password hash, a new user cannot sign in, and an existing user keeps the password."""

    password_hash: HashText = UNSET

    @property
    def password(self) -> PasswordHash | None:
        """The password hash, if the line has one."""
        return None if self.password_hash is UNSET else PasswordHash(self.password_hash)

    def _add(self, uow: AuditedUnitOfWork, record: StoredRecord) -> None:
        users = uow.records(USERS)
        users.authorize(None, **snapshot(USERS, record), password=self.password)
        super()._add(uow, record)
        if self.password is not None:
            set_password(uow, users.get_existing(USERS.id_of(record)), self.password)

    def _amend_extras(self, uow: AuditedUnitOfWork, known: Any) -> bool:
        if self.password is None or self.password == identity_in(uow).passwords.get(known.user_id):
            return False
        users = uow.records(USERS)
        user = users.get_existing(known.user_id)
        users.authorize(user, password=self.password)
        set_password(uow, user, self.password)
        end_sign_ins(uow, known.user_id)
        record_event(uow, "password_changed", known.user_id, uow.caller, uow.now)
        return True


class AuthorLine(Line):
    """An author; without an id, the author with this name; a new author without a number gets a free one."""

    _late: ClassVar[int] = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The name of an author without an id."""
        return () if self.which is not None else (getattr(self, AUTHORS.name_field),)

    def _known(self, uow: AuditedUnitOfWork, named: AuthorsByName) -> Any:
        if self.which is not None:
            return super()._known(uow, named)
        (name,) = self.names
        author_id = named.ids.get(name)
        return None if author_id is None else uow.records(AUTHORS).get(author_id)

    def _complete(self, values: dict[str, Any], known: Any, named: AuthorsByName) -> None:
        if values["user_id"] is UNSET:
            values["user_id"] = named.free_number() if known is None else known.user_id
        if self.which is None:
            named.ids[values["username"]] = values["author_id"]


class ArtworkLine(Line):
    """An artwork with links to authors, by ids or by names.

    Without an id, it is the artwork with the origin in its details. With ``merge_details``, members that its details
    leave out are kept; otherwise they are removed.
    """

    row: ClassVar[AnyArtworkKind]
    author_ids: AuthorIds = UNSET
    authors: AuthorNames = UNSET
    merge_details: Flag = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its authors."""
        return () if self.authors is UNSET else self.authors

    def store(self, uow: AuditedUnitOfWork, named: AuthorsByName) -> LineOutcome:
        """Create or update the artwork. Authors by id must exist; authors by name are created if missing."""
        if self.author_ids is UNSET:
            ids = tuple(named.created(name) for name in self.names)
            return self.model_copy(update={"author_ids": ids, "authors": UNSET}).store(uow, named)
        check_authors(uow, self.author_ids)
        artworks, known = artworks_of(uow, self.row), self._known(uow, named)
        id_ = self.row.id_of(self if known is None else known)
        if getattr(self, "active") and id_ is not UNSET:  # noqa: B009 (the fields are those of the kind)
            artworks.check_not_blocked(id_, known)
        return super().store(uow, named)

    def _known(self, uow: AuditedUnitOfWork, named: AuthorsByName) -> Any:
        if self.which is not None:
            return super()._known(uow, named)
        origin = self._details.origin
        return None if origin is None else artworks_of(uow, self.row).find("details.origin", origin)

    @property
    def _details(self) -> Details:
        details: Details = getattr(self, "details")  # noqa: B009 (the same)
        return details

    def _values(self, known: Any, now: int) -> dict[str, Any]:
        values = {**super()._values(known, now), "authors": () if known is None else known.authors}
        if self.merge_details and known is not None:
            values["details"] = known.details.merged(self._details)
        return values

    def _add(self, uow: AuditedUnitOfWork, record: Any) -> None:
        artworks_of(uow, self.row).add_with_authors(record, self.author_ids)

    def _amend_extras(self, uow: AuditedUnitOfWork, known: Any) -> bool:
        return artworks_of(uow, self.row).assign_authors(self.row.id_of(known), self.author_ids)


_BASES: Final[Mapping[Kind, type[Line]]] = {Kind.ROLE: Line, Kind.USER: UserLine, Kind.AUTHOR: AuthorLine}


def _line_of(kind: AnyKind) -> type[Line]:
    """Return the class of the lines of a kind, with the fields and limits of its records."""
    hints = get_type_hints(kind.record, include_extras=True)
    # Fields with defaults are newer than the first exports, which do not have them.
    defaults = {each.name: each.default for each in fields(kind.record) if each.default is not MISSING}
    values: dict[str, Any] = {"kind": (Literal[kind.kind], ...)} | {
        name: (hints[name], defaults.get(name, ...)) for name in kind.stored_fields if name != "created_at"
    }
    if kind.gives_ids:
        values[kind.id_field] = (hints[kind.id_field], UNSET)
    if kind is AUTHORS:
        values["user_id"] = (hints["user_id"], UNSET)
    base = _BASES.get(kind.kind, ArtworkLine)
    line: type[Line] = create_model(f"{kind.name}Line", __base__=base, **values)
    line.row = kind
    return line


LINES: Final[Mapping[Any, type[Line]]] = {kind.kind: _line_of(kind) for kind in KINDS.values()}


def serialized_line(uow: Reading, kind: AnyKind, record: StoredRecord, *, with_password: bool) -> dict[str, Any]:
    """Return the line of a record."""
    values: dict[str, Any] = {"kind": kind.kind, **snapshot(kind, record)}
    if kind in ARTWORK_KINDS:
        author_ids = [author.author_id for author in getattr(record, AUTHORS_FIELD)]
        values |= {"author_ids": author_ids, "created_at": values.pop("created_at")}
    password = identity_in(uow).passwords.get(kind.id_of(record)) if with_password and kind is USERS else None
    return values if password is None else {**values, "password_hash": password.hash}
