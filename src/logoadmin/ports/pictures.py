"""Decoding pictures that people send, and encoding them as they are stored (contract P1)."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from logoadmin.domain.kernel.limits import Ground

# Per frame.
MAX_PIXELS: Final = 40_000_000
# Of an animation, the first frames within both limits are kept; the second limits all of them together.
MAX_FRAMES: Final = 100
MAX_DECODED_PIXELS: Final = 64_000_000
STORED_SIDE: Final = 1600
THUMBNAIL_SIDE: Final = 320
# For all stored frames of an animation together: encoding takes about a second for each ten million.
MAX_ANIMATED_PIXELS: Final = 16_000_000
# The maximum size at which PNG and GIF are stored without loss, in bytes.
MAX_LOSSLESS: Final = 512 * 1024
# The maximum sizes of a stored file and of its thumbnail, in bytes.
MAX_STORED: Final = 4 * 1024 * 1024
MAX_THUMBNAIL: Final = 512 * 1024


class PictureRefused(Exception):
    """A file is not a picture that can be stored; the message is for its sender."""


@dataclass(frozen=True, slots=True)
class ConvertedPicture:
    """A picture in its stored form.

    Attributes:
        content: a WebP of at most :data:`STORED_SIDE` pixels a side and :data:`MAX_STORED` bytes, without metadata.
        thumbnail: a WebP of its first frame, of at most :data:`THUMBNAIL_SIDE` pixels a side and
            :data:`MAX_THUMBNAIL` bytes.
        width, height: the size of the content, in pixels.
        ground: the background on which the visible pixels of the first frame stand out.
    """

    content: bytes = field(repr=False)
    thumbnail: bytes = field(repr=False)
    width: int
    height: int
    frames: int
    ground: Ground


class PictureCodec(Protocol):
    """Converts one picture at a time; further calls wait. Safe to use from several threads.

    A call takes at most 256 MiB for any file, so the header must be checked before decoding.
    """

    def cost(self, content: bytes) -> int:
        """Return the number of pixels in all frames of a file that are kept, by its header.

        Raises:
            PictureRefused: it has another format, or is too large.
        """

    def convert(self, content: bytes) -> ConvertedPicture:
        """Return the stored form of a file, which is PNG, JPEG, GIF or WebP by its content.

        Raises:
            PictureRefused: it has another format, is cut off, or is too large.
        """

    def read(self, content: bytes) -> ConvertedPicture:
        """Return a file that is already in its stored form, with the same content.

        Raises:
            PictureRefused: it is not.
        """
