"""Pictures with Pillow, an optional package: judged by their headers, then decoded within bounds (contract P1)."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import sqrt
from threading import Lock
from typing import Any, Final

from PIL import Image, ImageCms, UnidentifiedImageError
from PIL.Image import Resampling, Transpose

from logoadmin.ports.gallery.pictures import (
    MAX_ANIMATED_PIXELS,
    MAX_FRAMES,
    MAX_LOSSLESS,
    MAX_PIXELS,
    MAX_SIDE,
    MAX_STORED,
    MAX_THUMBNAIL,
    STORED_SIDE,
    THUMBNAIL_SIDE,
    ConvertedPicture,
    PictureRefused,
)

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
# Both keep every pixel, so that drawings stay sharp.
_LOSSLESS: Final = ("PNG", "GIF")
# The second one is for what would be too large with the first one.
_QUALITIES: Final = (85, 50)
# How often a picture that is still too large is scaled; each time aims at the bound.
_SCALINGS: Final = 4
# Each scan of a progressive JPEG takes time for all pixels, and a few bytes only; real files have 10.
_MAX_SCANS: Final = 30
_SCAN: Final = b"\xff\xda"
# Rows that are scaled at a time, times the factor.
_BAND: Final = 64
# Milliseconds; what GIF can express.
_LONGEST: Final = 655_350
_ORIENTATION: Final = 0x0112
_TURNS: Final = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}
_CUT_OFF: Final = "The picture is damaged or cut off"


@dataclass(frozen=True, slots=True)
class _Header:
    """A picture that was judged by its header, and not decoded."""

    image: Image.Image
    frames: int


class PillowPictures:
    """Implements :class:`~logoadmin.ports.gallery.pictures.PictureCodec`."""

    def __init__(self) -> None:
        self._lock = Lock()

    def convert(self, content: bytes) -> ConvertedPicture:
        """Return the stored form of a picture."""
        with self._lock, _refusing():
            header = _opened(content)
            lossless = header.image.format in _LOSSLESS
            frames, durations = _decoded(header)
            # The decoder is released before the encoder needs room.
            loop = header.image.info.get("loop", 1)
            del header
            stored = _stored(frames, durations, loop, lossless=lossless)
            # The encoder merges equal frames.
            count = int(getattr(Image.open(io.BytesIO(stored)), "n_frames", 1))
            return ConvertedPicture(stored, _thumbnail(frames[0]), *frames[0].size, count)

    def read(self, content: bytes) -> ConvertedPicture:
        """Return a picture that is in its stored form."""
        with self._lock, _refusing():
            if len(content) > MAX_STORED:
                raise PictureRefused(f"A stored picture has at most {MAX_STORED // 1024**2} MiB")
            header = _opened(content)
            if header.image.format != "WEBP" or max(header.image.size) > STORED_SIDE:
                raise PictureRefused("This is not a stored picture")
            frames, _ = _decoded(header)
            return ConvertedPicture(content, _thumbnail(frames[0]), *header.image.size, len(frames))


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse a picture in which Pillow finds anything wrong: its decoders raise errors of many classes."""
    try:
        yield
    except (PictureRefused, KeyboardInterrupt, SystemExit):
        raise
    except Image.DecompressionBombError:
        raise PictureRefused(_too_large()) from None
    except UnidentifiedImageError:
        raise PictureRefused("This is not a PNG, JPEG, GIF or WebP picture, or it is cut off") from None
    except MemoryError:
        raise PictureRefused("The picture needs too much memory") from None
    except Exception:
        raise PictureRefused(_CUT_OFF) from None


def _too_large(size: tuple[int, int] | None = None) -> str:
    found = "too many pixels" if size is None else f"{size[0]} by {size[1]} pixels"
    return f"The picture has {found}; it should have at most {MAX_SIDE} by {MAX_SIDE}"


def _opened(content: bytes) -> _Header:
    """Judge a picture by its header."""
    if _is_svg(content):
        raise PictureRefused("Convert SVG to PNG or WebP first")
    frames = _gif_frames(content) if content.startswith((b"GIF87a", b"GIF89a")) else 1
    if content.startswith(b"\xff\xd8") and content.count(_SCAN) > _MAX_SCANS:
        raise PictureRefused("The JPEG has too many scans; save it again as a baseline JPEG")
    image = Image.open(io.BytesIO(content), formats=_FORMATS)
    if image.format in ("PNG", "WEBP"):
        frames = int(getattr(image, "n_frames", 1))
    _check_size(image, frames)
    return _Header(image, frames)


def _is_svg(content: bytes) -> bool:
    head = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (head.startswith((b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in head)


def _check_size(image: Image.Image, frames: int) -> None:
    if max(image.size) > MAX_SIDE:
        raise PictureRefused(_too_large(image.size))
    if frames > MAX_FRAMES:
        raise PictureRefused(f"The picture has more than {MAX_FRAMES} frames")
    if frames * image.width * image.height > MAX_PIXELS:
        raise PictureRefused(f"The frames have more than {MAX_PIXELS // 1_000_000} million pixels together")


def _gif_frames(content: bytes) -> int:
    """Return the number of frames of a GIF, up to one too many, without decoding any (GIF89a, appendix B)."""

    def past_table(at: int, flags: int) -> int:
        return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)

    def past_blocks(at: int) -> int:
        while content[at]:
            at += content[at] + 1
        return at + 1

    frames, at = 0, 0
    try:
        at = past_table(13, content[10])
        while frames <= MAX_FRAMES and at < len(content) and (kind := content[at]) != 0x3B:
            if kind == 0x2C:
                at, frames = past_blocks(past_table(at + 10, content[at + 9]) + 1), frames + 1
            elif kind == 0x21:
                at = past_blocks(at + 2)
            else:  # decoders stop at what they do not know
                break
    except IndexError:
        raise PictureRefused(_CUT_OFF) from None
    return max(frames, 1)


def _decoded(header: _Header) -> tuple[list[Image.Image], list[int]]:
    """Return the frames in their stored size, turned upright, in sRGB, and how long each is shown in milliseconds."""
    image, frames, durations = header.image, list[Image.Image](), list[int]()
    size = image.size
    if image.format == "JPEG":
        image.draft(None, (STORED_SIDE, STORED_SIDE))
    # A default image is for decoders without animations.
    first = 1 if header.frames > 1 and image.info.get("default_image") else 0
    for place in range(first, header.frames):
        if header.frames > 1:
            image.seek(place)
        shown, duration = _webp_frame(image) if image.format == "WEBP" else _loaded(image)
        if image.format == "GIF":  # a frame may be larger than the screen
            _check_size(image, header.frames)
        if place == first:
            target, turn = _stored_size(size, header.frames), _turn(image)
        frame = _in_srgb(_scaled(shown, target), image.info.get("icc_profile"))
        frames.append(frame if turn is None else frame.transpose(turn))
        del shown  # it would be held while the next one is decoded
        durations.append(round(min(max(duration, 0), _LONGEST)))
    return frames, durations


def _loaded(image: Image.Image) -> tuple[Image.Image, float]:
    image.load()
    return image, image.info.get("duration", 0)


def _webp_frame(image: Any) -> tuple[Image.Image, float]:
    """Return the next frame in the memory of the decoder's answer: Pillow's own ``load`` holds another copy."""
    content, _, duration = image._get_next()
    return Image.frombuffer("RGBA" if image.mode == "RGBA" else "RGBX", image.size, content), duration


def _stored_size(size: tuple[int, int], frames: int) -> tuple[int, int]:
    scale = min(1.0, STORED_SIDE / max(size))
    if frames > 1:
        scale = min(scale, sqrt(MAX_ANIMATED_PIXELS / (frames * size[0] * size[1])))
    return max(1, int(size[0] * scale)), max(1, int(size[1] * scale))


def _turn(image: Image.Image) -> Transpose | None:
    with suppress(Exception):  # damaged metadata
        return _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    return None


def _scaled(image: Image.Image, target: tuple[int, int]) -> Image.Image:
    """Return an image in another size and in a mode that can be scaled, in bands: whole copies take much memory."""
    factor = max(1, min(image.width // target[0], image.height // target[1]))
    step, top = _BAND * factor, 0
    reduced: Image.Image | None = None
    while top < image.height:
        band = image.crop((0, top, image.width, min(top + step, image.height)))
        band.info = image.info
        band = _plain(band)
        if factor > 1:
            band = band.reduce(factor)
        if reduced is None:
            reduced = Image.new(band.mode, (band.width, -(-image.height // factor)))
        reduced.paste(band, (0, top // factor))
        top += step
    if reduced is None or reduced.size == target:
        return reduced or image
    return reduced.resize(target, Resampling.LANCZOS)


def _plain(image: Image.Image) -> Image.Image:
    if image.mode in ("L", "RGB", "CMYK", "RGBA"):
        if "transparency" in image.info and image.mode != "RGBA":
            return image.convert("RGBA")
        return image
    if image.mode.startswith("I"):  # 16 bits
        return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Apply a colour profile, since no metadata is stored; a damaged one is ignored."""
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    if profile:
        with suppress(Exception):
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            found = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=mode)
            if found is not None:
                return found
    return image if image.mode == mode else image.convert(mode)


def _stored(frames: list[Image.Image], durations: list[int], loop: object, *, lossless: bool) -> bytes:
    if lossless:
        found = _webp(frames, durations, loop, {"lossless": True, "quality": 20})
        if len(found) <= MAX_LOSSLESS:
            return found
    return _bounded(frames, durations, loop, MAX_STORED)


def _bounded(frames: list[Image.Image], durations: list[int], loop: object, most: int) -> bytes:
    """Return a file within a bound; frames that have to be smaller for that are replaced in their list."""
    for quality in _QUALITIES:
        found = _webp(frames, durations, loop, {"quality": quality})
        if len(found) <= most:
            return found
    for _ in range(_SCALINGS):
        scale = 0.9 * sqrt(most / len(found))
        size = max(1, int(frames[0].width * scale)), max(1, int(frames[0].height * scale))
        for place, frame in enumerate(frames):
            frames[place] = frame.resize(size, Resampling.LANCZOS)
        found = _webp(frames, durations, loop, {"quality": quality, "alpha_quality": quality})
        if len(found) <= most:
            return found
    raise PictureRefused(f"The picture takes more than {most // 1024**2} MiB, however small it is made")


def _webp(frames: list[Image.Image], durations: list[int], loop: object, how: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    if len(frames) == 1:
        frames[0].save(file, "WEBP", method=4, **how)
    else:
        repeat = loop if isinstance(loop, int) and 0 <= loop < 65_536 else 1
        more = {"append_images": frames[1:], "duration": durations, "loop": repeat, "background": (0, 0, 0, 0)}
        frames[0].save(file, "WEBP", save_all=True, method=0, **more, **how)
    return file.getvalue()


def _thumbnail(frame: Image.Image) -> bytes:
    scale = min(1.0, THUMBNAIL_SIDE / max(frame.size))
    size = max(1, int(frame.width * scale)), max(1, int(frame.height * scale))
    return _bounded([frame.resize(size, Resampling.LANCZOS)], [0], 1, MAX_THUMBNAIL)
