"""The registry of the kinds of record, one row each (spec §Resources, contract J8)."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from logoadmin.domain.kernel.access import Scope
from logoadmin.domain.kernel.lists import ARTWORK_PAGE_SIZES, RECORD_PAGE_SIZES, PageSizes
from logoadmin.domain.kernel.records import (
    Author,
    Kind,
    Logo,
    LogoAuthor,
    PictureFile,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Role,
    SharedSettings,
    StoredRecord,
    Theme,
    ThemeAuthor,
    User,
)

Record = TypeVar("Record", bound=StoredRecord)
AnyArtwork = TypeVar("AnyArtwork", bound=Theme | Logo)
LinkAnswer = TypeVar("LinkAnswer")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")

# The grammar of CSS: that of a ``style`` attribute, or that of a file (contract L4).
CssForm = Literal["declarations", "sheet"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordKind(Generic[Record]):
    """A row.

    Attributes:
        kind: its name in the history, on the command line and in files.
        record: the type of the records.
        name_field: the field that ``q`` searches.
        write_scope: the scope that is required to change such records.
        read_scope: the scope that is required to read them; None if they are public.
        unique: the unique fields, in the order in which they are checked; a dot leads to a member of a field.
        filters: the fields that lists can be filtered by, beside ``q`` and the authors of artworks.
        page_sizes: how many records are fetched at a time.
        gives_ids: whether the service assigns the ids; otherwise the caller chooses the id.
        contains: the kind whose records are part of these, if any.
        references: the fields with the id of another record, with its kind.
        usual: values of fields, as in JSON, that bodies and the history leave out.
        published: the fields that readers of the published gallery get (contract L1); none for other kinds. Of the
            details of an artwork, each member is one, and named after a dot.
        settable: the fields that people who may only propose changes may set (contract R2).
    """

    kind: Kind
    record: type[Record]
    name_field: str = "name"
    write_scope: Scope
    read_scope: Scope | None = None
    unique: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    page_sizes: PageSizes = RECORD_PAGE_SIZES
    gives_ids: bool = True
    contains: Kind | None = None
    references: Mapping[str, Kind] = field(default_factory=dict)
    usual: Mapping[str, Any] = field(default_factory=dict)
    published: tuple[str, ...] = ()
    settable: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """The name of a record in messages."""
        return self.kind.capitalize()

    @cached_property
    def plural(self) -> str:
        """The name of several."""
        return f"{self.kind}s"

    @cached_property
    def id_field(self) -> str:
        """The field with the id."""
        return f"{self.kind}_id"

    @cached_property
    def id_of(self) -> Callable[[Any], int]:
        """Returns the id of a record, or of the record that a command names."""
        return attrgetter(self.id_field)

    @cached_property
    def stored_fields(self) -> tuple[str, ...]:
        """The fields without authors and version."""
        return tuple(each.name for each in fields(self.record) if each.name not in {"authors", "version"})

    @cached_property
    def values_of(self) -> Callable[[Record], tuple[Any, ...]]:
        """Returns the values of the stored fields, of which there are several."""
        return attrgetter(*self.stored_fields)

    def __reduce__(self) -> tuple[Callable[[Kind], "AnyKind"], tuple[Kind]]:
        """Return the row itself for a copy, also one in another process."""
        return _row_of, (self.kind,)

    def version_of_list(self, last_changes: Mapping[Kind, int]) -> int:
        """Return the version of the lists of this kind from the last change of each kind (contract F1)."""
        return max(last_changes.get(shown, 0) for shown in (self.kind, self.contains) if shown is not None)


# Named one by one: a new field of artworks is neither published nor settable by submitters until it is added here.
_DETAILS: Final = tuple(
    f"details.{name}"
    for name in ("description", "text", "homepage", "source", "support", "licence", "version", "tags", "screenshots")
)
_PUBLISHED: Final = ("name", "preview_url", "target", "custom_css", "active", "created_at", *_DETAILS, "details.origin")
_SETTABLE: Final = ("name", "preview_url", "target", "custom_css", "author_ids", *_DETAILS)


@dataclass(frozen=True, eq=False, kw_only=True)
class ArtworkKind(RecordKind[AnyArtwork], Generic[AnyArtwork, LinkAnswer, Removed, RemovedLink]):
    """A row of records that have authors.

    Attributes:
        css_form: the grammar of its CSS (contract L4).
        removed: makes the answer to a removal from the id.
        link: makes the answer to a link from the ids of the link, the artwork and the author.
        removed_link: makes the answer to its removal from the ids of the artwork and the author.
    """

    unique: tuple[str, ...] = ("details.origin",)
    filters: tuple[str, ...] = ("target", "active")
    page_sizes: PageSizes = ARTWORK_PAGE_SIZES
    contains: Kind | None = Kind.AUTHOR
    usual: Mapping[str, Any] = field(default_factory=lambda: {"details": {}})
    settable: tuple[str, ...] = _SETTABLE
    css_form: CssForm
    removed: Callable[[int], Removed]
    link: Callable[[int, int, int], LinkAnswer]
    removed_link: Callable[[int, int], RemovedLink]

    @cached_property
    def link_id_field(self) -> str:
        """The field with the id of a link."""
        return f"{self.kind}_author_id"


ROLES: Final = RecordKind(
    kind=Kind.ROLE,
    record=Role,
    write_scope=Scope.ROLES_WRITE,
    read_scope=Scope.ROLES_READ,
    unique=("name",),
)
USERS: Final = RecordKind(
    kind=Kind.USER,
    record=User,
    name_field="username",
    write_scope=Scope.USERS_WRITE,
    read_scope=Scope.USERS_READ,
    unique=("user_id", "username"),
    filters=("role_id",),
    gives_ids=False,
    references={"role_id": Kind.ROLE},
    usual={"active": True},
)
AUTHORS: Final = RecordKind(
    kind=Kind.AUTHOR,
    record=Author,
    name_field="username",
    write_scope=Scope.AUTHORS_WRITE,
    unique=("user_id", "username"),
    filters=("user_id",),
    published=("author_id", "user_id", "username", "created_at"),
    settable=("username",),
)
THEMES: Final = ArtworkKind(
    kind=Kind.THEME,
    record=Theme,
    removed=RemovedTheme,
    write_scope=Scope.THEMES_WRITE,
    published=("theme_id", *_PUBLISHED),
    css_form="sheet",
    link=ThemeAuthor,
    removed_link=RemovedThemeAuthor,
)
LOGOS: Final = ArtworkKind(
    kind=Kind.LOGO,
    record=Logo,
    removed=RemovedLogo,
    write_scope=Scope.LOGOS_WRITE,
    published=("logo_id", *_PUBLISHED),
    css_form="declarations",
    link=LogoAuthor,
    removed_link=RemovedLogoAuthor,
)

# One record, which is always there: it is neither created nor removed, and in no list.
SETTINGS: Final = RecordKind(
    kind=Kind.SETTINGS,
    record=SharedSettings,
    name_field="",
    write_scope=Scope.ALL,
    usual={
        **dict.fromkeys(("gallery_title", "gallery_home", "gallery_mark", "gallery_accent")),
        "gallery_targets": {},
        "submission_rules": "",
    },
)

# Of these, the history has the removals alone, each under the number of its change: none can be undone.
PICTURES: Final[Any] = RecordKind(kind=Kind.PICTURE, record=PictureFile, name_field="", write_scope=Scope.ALL)

AnyKind = RecordKind[Any]
AnyArtworkKind = ArtworkKind[Any, Any, Any, Any]

# The kinds with lists. Kinds that others refer to come first.
KINDS: Final[Mapping[Kind, AnyKind]] = {row.kind: row for row in (ROLES, USERS, AUTHORS, THEMES, LOGOS)}
# All kinds in the history.
RECORDED_KINDS: Final[Mapping[Kind, AnyKind]] = {**KINDS, Kind.SETTINGS: SETTINGS, Kind.PICTURE: PICTURES}


def _row_of(kind: Kind) -> AnyKind:
    return RECORDED_KINDS[kind]


ARTWORK_KINDS: Final[tuple[AnyArtworkKind, ...]] = (LOGOS, THEMES)

WRITE_SCOPES: Final = tuple(kind.write_scope for kind in KINDS.values())

# The fields of records with the URL of a picture.
PICTURE_FIELDS: Final[Mapping[str, str]] = {Kind.LOGO: "preview_url", Kind.THEME: "preview_url", Kind.USER: "avatar"}
PICTURE_FOLDER: Final = "pictures/"


PICTURE: Final = "[0-9a-f]{64}"
_NAMED: Final = re.compile(rf"(?:.*/)?{PICTURE_FOLDER}({PICTURE})(?:-320)?\.webp", re.ASCII | re.DOTALL)


def picture_path(picture: str, *, thumbnail: bool = False) -> str:
    """Return the path of a picture, relative to the URL of the service or to the published gallery."""
    return f"{PICTURE_FOLDER}{picture}{'-320' if thumbnail else ''}.webp"


def picture_names(pictures: Iterable[str]) -> list[str]:
    """Return the paths of pictures and of their thumbnails."""
    return [picture_path(picture, thumbnail=small) for picture in pictures for small in (False, True)]


def picture_of(url: str | None) -> str | None:
    """Return the picture that a URL names by its path; None for other URLs."""
    if url is None or PICTURE_FOLDER not in url:
        return None
    try:
        match = _NAMED.fullmatch(urlsplit(url).path)
    except ValueError:  # an invalid host
        return None
    return None if match is None else match[1]


def pictures_in(kind: str, values: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the pictures that the values of a record name, as in JSON; none without values."""
    if values and kind == Kind.SETTINGS:
        return frozenset(filter(None, [values.get("gallery_mark")]))
    if not values or kind not in PICTURE_FIELDS:
        return frozenset()
    screenshots = values.get("details", {}).get("screenshots", ())
    urls = (values.get(PICTURE_FIELDS[kind]), *(each["url"] for each in screenshots))
    return frozenset(picture for url in urls if (picture := picture_of(url)) is not None)
