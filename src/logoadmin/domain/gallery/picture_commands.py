"""The commands about pictures, and their answers (contract P1 to P5)."""

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from logoadmin.domain.kernel.command import Command, request_option
from logoadmin.domain.kernel.limits import PICTURE_EXAMPLE, Flag, Ground, PictureHash, PreviewUrl, UnixTime, described
from logoadmin.domain.kernel.lists import ListCommand

_URL_OF_PICTURE: Final = "https://gallery.example/pictures/" + PICTURE_EXAMPLE


_SOURCE: Final = "Copies the picture at this URL, instead of one in the body."
_Source = Annotated[PreviewUrl, described(_SOURCE, "https://example.org/a.png")]


class SendPicture(Command):
    """A picture to store: a file, or one to fetch."""

    model_config = ConfigDict(populate_by_name=True)

    source: _Source | None = Field(default=None, validation_alias="from")
    # The hash of the file: under an idempotency key, another file is another command.
    content_hash: SkipJsonSchema[str | None] = request_option(None)


class GetPicture(Command):
    """The stored file of a picture, or its thumbnail."""

    picture: PictureHash
    thumbnail: Annotated[Flag, described("Whether to return the smaller one.", True)] = False


class ListPictures(ListCommand):
    """The stored pictures, by hash."""

    after: Annotated[PictureHash, described("The picture after which the page starts.", PICTURE_EXAMPLE)] | None = None  # type: ignore[assignment]  # no number
    order: Annotated[Literal["asc"], described("Ascending order.", "asc")] = "asc"


class RemovePicture(Command):
    """The permanent removal of a picture, even if records name it."""

    picture: PictureHash


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture that the gallery stores, as WebP without metadata (contract P1)."""

    picture: PictureHash
    url: Annotated[str, described("The URL of the picture, for `preview_url` and `avatar`.", f"{_URL_OF_PICTURE}.webp")]
    thumbnail_url: Annotated[
        str, described("The URL of a thumbnail of at most 320 pixels a side.", f"{_URL_OF_PICTURE}-320.webp")
    ]
    width: Annotated[int, described("The width of the stored picture, in pixels.", 1600)]
    height: Annotated[int, described("The height of the stored picture, in pixels.", 900)]
    frames: Annotated[int, described("The number of frames; more than 1 for an animation.", 1)]
    size: Annotated[int, described("The size of the stored file, in bytes.", 48_112)]
    ground: Annotated[Ground, described("The background on which its visible pixels stand out.", "dark")]
    # Whether it existed before.
    existed: Annotated[bool, Field(exclude=True)] = field(default=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PictureNamedBy:
    """A record or proposal that names a picture."""

    kind: Annotated[str, described("`logo`, `theme`, `user`, `settings` or `proposal`.", "logo")]
    id: Annotated[int, described("The id of the record or proposal.", 57)]


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A picture in the list of pictures (contract P4)."""

    picture: PictureHash
    url: Annotated[str, described("The URL of the picture.", f"{_URL_OF_PICTURE}.webp")]
    thumbnail_url: Annotated[str, described("The URL of the thumbnail.", f"{_URL_OF_PICTURE}-320.webp")]
    width: Annotated[int, described("The width of the stored picture, in pixels.", 1600)]
    height: Annotated[int, described("The height of the stored picture, in pixels.", 900)]
    size: Annotated[int, described("The size of the stored file, in bytes.", 48_112)]
    sent_at: Annotated[UnixTime, described("When the picture was sent, as Unix time in seconds.", 1_800_000_000)]
    user_id: Annotated[
        int | None, described("The user who sent the picture; `null` if there was none, or the user was removed.", 1042)
    ]
    user_name: Annotated[str | None, described("The name of that user.", "Ann")]
    named_by: Annotated[
        tuple[PictureNamedBy, ...],
        described(
            "The records and waiting proposals that name it, at most 20, published artworks first.",
            [{"kind": "logo", "id": 57}],
        ),
    ]
    in_history: Annotated[
        bool, described("Whether a change in the history names the picture, which keeps it stored.", True)
    ]


@dataclass(frozen=True, slots=True)
class RemovedPicture:
    """The response to the removal of a picture."""

    picture: PictureHash
