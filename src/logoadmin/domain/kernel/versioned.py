"""Records in lists with their versions (contract E6).

The version of an artwork is also that of its authors, so ``stored`` keeps the record itself, by whose own version lists
are sorted.
"""

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final

from pydantic import Field

from logoadmin.domain.kernel.limits import ChangeId, UnixTime, described
from logoadmin.domain.kernel.records import Author, Logo, Role, StoredRecord, Theme, User, version_of

_Version = Annotated[ChangeId, described("The number in the `ETag` of the record.", 57)]
_ChangedAt = Annotated[UnixTime, described("When it last changed, as Unix time in seconds.", 1_800_000_000)]


@dataclass(frozen=True, slots=True)
class VersionedUser(User):
    """A user with their version."""

    version: _Version = field(kw_only=True)
    changed_at: _ChangedAt = field(kw_only=True)
    stored: Annotated[User, Field(exclude=True)] = field(kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class VersionedRole(Role):
    """A role with its version."""

    version: _Version = field(kw_only=True)
    changed_at: _ChangedAt = field(kw_only=True)
    stored: Annotated[Role, Field(exclude=True)] = field(kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class VersionedAuthor(Author):
    """An author with their version."""

    version: _Version = field(kw_only=True)
    changed_at: _ChangedAt = field(kw_only=True)
    stored: Annotated[Author, Field(exclude=True)] = field(kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class VersionedTheme(Theme):
    """A theme with its version."""

    version: _Version = field(kw_only=True)
    changed_at: _ChangedAt = field(kw_only=True)
    stored: Annotated[Theme, Field(exclude=True)] = field(kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class VersionedLogo(Logo):
    """A logo with its version."""

    version: _Version = field(kw_only=True)
    changed_at: _ChangedAt = field(kw_only=True)
    stored: Annotated[Logo, Field(exclude=True)] = field(kw_only=True, repr=False)


VERSIONED: Final[dict[type[StoredRecord], Any]] = {
    User: VersionedUser,
    Role: VersionedRole,
    Author: VersionedAuthor,
    Theme: VersionedTheme,
    Logo: VersionedLogo,
}


def versioned(record: StoredRecord, changed_at: int) -> Any:
    """Return a record with its version and the time of its last change."""
    values = {each.name: getattr(record, each.name) for each in fields(record)} | {"version": version_of(record)}
    return VERSIONED[type(record)](**values, changed_at=changed_at, stored=record)
