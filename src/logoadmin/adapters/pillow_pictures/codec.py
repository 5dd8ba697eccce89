"""Pictures with Pillow, an optional package: checked by their headers, then decoded within bounds (contract P1)."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Final

from PIL import Image, ImageChops, ImageCms, ImageFile, ImageStat, UnidentifiedImageError
from PIL.Image import Resampling, Transpose
from PIL.WebPImagePlugin import WebPImageFile

from logoadmin.adapters.pillow_pictures import formats
from logoadmin.domain.kernel.limits import Ground
from logoadmin.ports.pictures import (
    MAX_ANIMATED_PIXELS,
    MAX_DECODED_PIXELS,
    MAX_FRAMES,
    MAX_LOSSLESS,
    MAX_PIXELS,
    MAX_STORED,
    MAX_THUMBNAIL,
    STORED_SIDE,
    THUMBNAIL_SIDE,
    ConvertedPicture,
    PictureRefused,
)

_FORMATS: Final = ("JPEG", "WEBP")
# Both keep every pixel, so that drawings stay sharp.
_LOSSLESS: Final = ("PNG", "GIF")
# The second one is for pictures that are too large with the first one.
_QUALITIES: Final = (85, 50)
# How often a picture that is still too large is scaled down; each time aims at the limit.
_SCALINGS: Final = 4
# Each scan of a progressive JPEG takes time for all pixels, and a few bytes only; real files have 10.
_MAX_SCANS: Final = 30
# The memory for decoding a picture, in bytes; and the maximum pixels of an animation's frame, as all frames are held.
_MEMORY: Final = 220 * 1024**2
_ANIMATED_PIXELS: Final = 10_000_000
# For WebP, by a rough estimate: the decoder has two canvases, returns a copy, and copies the file and its metadata.
_WEBP_MEMORY: Final = 212 * 1024**2
# Pixels that are scaled at a time.
_BAND: Final = 250_000
# Milliseconds: the longest duration in GIF, the shortest that browsers use, and what they use instead of shorter ones.
_LONGEST: Final = 655_350
_SHORTEST: Final = 11
_USUAL: Final = 100
_TURNS: Final = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}
# For each channel value, its share of the luminance; for each luminance, its contrast to black; the rest is to white.
_LUMINANCE: Final = [255 * (v / 3294.6 if v < 11 else ((v / 255 + 0.055) / 1.055) ** 2.4) for v in range(256)]
_CONTRAST: Final = [255 * log(1 + 20 * v / 255, 21) for v in range(256)]
_WEIGHTS: Final = (0.2126, 0.7152, 0.0722, 0)
# The effort of the WebP encoder; less for large pictures, which takes half the time for a few percent more bytes.
_METHOD: Final = 4
_QUICK_METHOD: Final = 2
_LARGE: Final = 250_000  # pixels
_CUT_OFF: Final = "The picture is damaged or cut off"
_AT_MOST: Final = f"it should have at most {MAX_PIXELS // 1_000_000} million"


@dataclass(frozen=True, slots=True)
class _Source:
    """A picture whose header was checked, before decoding: its frames, if its file was split, or the image.

    Attributes:
        turn: the transposition that makes it upright.
        loops: how often its frames are played, 0 for endlessly.
        kept: the number of frames that are kept.
    """

    form: str
    size: tuple[int, int]
    turn: Transpose | None = None
    loops: int = 1
    kept: int = 1
    animation: formats.Animation | None = None
    image: Image.Image | None = None


class _DecodedFile(ImageFile.ImageFile):
    """A file of decoded pixels, without the copy that Pillow would make."""

    def load(self) -> None:
        pass


class _WebP(WebPImageFile, _DecodedFile):
    """A WebP whose frames stay in the memory of the decoder's result."""

    def shown(self) -> Image.Image:
        """Return the current frame."""
        self.load()
        file: Any = self.fp
        self.fp = None
        return Image.frombuffer("RGBA" if self.mode == "RGBA" else "RGBX", self.size, file.getvalue())


def cost(content: bytes) -> int:
    """Return the pixels of the frames that are kept."""
    with _refusing():
        if animation := _animation(content):
            return _kept_frames(animation.size, len(animation.parts)) * animation.size[0] * animation.size[1]
        image = Image.open(io.BytesIO(content), formats=(*_FORMATS, "PNG"))
        return _kept_frames(image.size, int(getattr(image, "n_frames", 1))) * image.width * image.height


def convert(content: bytes) -> ConvertedPicture:
    """Return the stored form of a picture."""
    with _refusing():
        source = _open(content)
        loops, lossless = source.loops, source.form in _LOSSLESS
        frames, durations = _decoded(source)
        del source  # the decoder is released before the encoder needs memory
        stored = _stored(frames, durations, loops, lossless=lossless)
        image = Image.open(io.BytesIO(stored))
        # The encoder merges equal frames.
        count = int(getattr(image, "n_frames", 1))
        return ConvertedPicture(stored, _thumbnail(frames[0]), *image.size, count, _ground(frames[0]))


def read(content: bytes) -> ConvertedPicture:
    """Return a picture that is in its stored form."""
    with _refusing():
        if len(content) > MAX_STORED:
            raise PictureRefused(f"A stored picture has at most {MAX_STORED // 1024**2} MiB")
        source = _open(content)
        if source.form != "WEBP" or max(source.size) > STORED_SIDE:
            raise PictureRefused("This is not a stored picture")
        frames, _ = _decoded(source)
        return ConvertedPicture(content, _thumbnail(frames[0]), *source.size, len(frames), _ground(frames[0]))


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse a picture in which Pillow finds any error: its decoders raise errors of many classes."""
    try:
        yield
    except (PictureRefused, KeyboardInterrupt, SystemExit):
        raise
    except Image.DecompressionBombError:
        raise PictureRefused(f"The picture has too many pixels; {_AT_MOST}") from None
    except UnidentifiedImageError:
        raise PictureRefused("This is not a PNG, JPEG, GIF or WebP picture, or it is cut off") from None
    except MemoryError:
        raise PictureRefused("The picture needs too much memory") from None
    except Exception:
        raise PictureRefused(_CUT_OFF) from None


def _open(content: bytes) -> _Source:
    """Open a picture, checking its header."""
    animation = _animation(content)
    if content.startswith(formats.PNG):
        turn = _TURNS.get(formats.png_orientation(content))
        if animation is not None:
            return _split("PNG", animation, turn)
        image = _png(content)
        return _Source("PNG", image.size, turn, image=image)
    if animation is not None:
        return _split("GIF", animation)
    image = Image.open(io.BytesIO(content), formats=_FORMATS)
    _check_size(image.size)
    if image.format == "WEBP":
        _check_memory(13 * image.width * image.height + 5 * len(content) <= _WEBP_MEMORY)
        image = _WebP(io.BytesIO(content))
        frames, loops = int(getattr(image, "n_frames", 1)), int(image.info.get("loop", 1))
        return _Source("WEBP", image.size, None, loops, _kept_frames(image.size, frames), image=image)
    segments = formats.jpeg_segments(content)
    if segments.scans > _MAX_SCANS:
        raise PictureRefused("The JPEG has too many scans; save it again as a baseline JPEG")
    size = image.size
    image.draft(None, (STORED_SIDE, STORED_SIDE))
    _check_memory(segments.held + 4 * image.width * image.height <= _MEMORY)
    return _Source("JPEG", size, _TURNS.get(segments.orientation), image=image)


def _animation(content: bytes) -> formats.Animation | None:
    """Return an animation whose file can be split."""
    if _is_svg(content):
        raise PictureRefused("Convert SVG to PNG or WebP first")
    if content.startswith((b"GIF87a", b"GIF89a")):
        return formats.gif_animation(content, MAX_FRAMES)
    return formats.png_animation(content, MAX_FRAMES) if content.startswith(formats.PNG) else None


def _is_svg(content: bytes) -> bool:
    head = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (head.startswith((b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in head)


def _split(form: str, animation: formats.Animation, turn: Transpose | None = None) -> _Source:
    if not animation.parts:
        raise PictureRefused(_CUT_OFF)
    kept = _kept_frames(animation.size, len(animation.parts))
    for size in (animation.size, *(part.size for part in animation.parts[:kept])):
        _check_size(size)
    return _Source(form, animation.size, turn, animation.loops, kept, animation)


def _check_size(size: tuple[int, int]) -> None:
    if size[0] * size[1] > MAX_PIXELS:
        raise PictureRefused(f"The picture has {size[0]} by {size[1]} pixels; {_AT_MOST}")
    # Each row has a pointer, and at least one row is copied.
    _check_memory(4 * size[0] * size[1] + 8 * size[1] + 8 * size[0] <= _MEMORY)


def _check_memory(fits: bool) -> None:
    if not fits:
        raise PictureRefused("Decoding the picture would take too much memory; send a smaller one, or a baseline JPEG")


def _kept_frames(size: tuple[int, int], frames: int) -> int:
    """Return the number of the first frames of an animation that are kept."""
    pixels = size[0] * size[1]
    return 1 if not 0 < pixels <= _ANIMATED_PIXELS else max(1, min(frames, MAX_FRAMES, MAX_DECODED_PIXELS // pixels))


def _decoded(source: _Source) -> tuple[list[Image.Image], list[int]]:
    """Return the frames in their stored size, turned upright, in sRGB, and how long each is shown in milliseconds."""
    frames, durations = list[Image.Image](), list[int]()
    target = _stored_size(source.size, source.kept)
    for image, info, duration in _composed(source):
        frame = _in_srgb(_scaled(image, target), info)
        frames.append(frame if source.turn is None else frame.transpose(source.turn))
        durations.append(round(min(duration, _LONGEST)) if duration >= _SHORTEST else _USUAL)
        del image  # it would be held while the next one is decoded
    return frames, durations


def _composed(source: _Source) -> Iterator[tuple[Image.Image, dict[Any, Any], float]]:
    """Yield each frame as it is shown, with the metadata of its colours and its duration."""
    if source.animation is None:
        image: Any = source.image
        for number in range(source.kept):
            image.seek(number)
            yield image.shown() if source.form == "WEBP" else image, image.info, image.info.get("duration", 0)
        return
    parts = source.animation.parts[: source.kept]
    if len(parts) == 1 and (parts[0].place, parts[0].size) == ((0, 0), source.size):
        image = _open_part(parts[0])
        yield image, image.info, 0
        return
    canvas, info = Image.new("RGBA", source.size), dict[Any, Any]()
    for number, part in enumerate(parts):
        (x, y), (width, height) = part.place, part.size
        area = (x, y, x + width, y + height)
        before = canvas.crop(area) if part.disposal is formats.Disposal.RESTORE and number else None
        image = _open_part(part)
        info = info if number else image.info
        for top, band in _bands(image):
            if part.over:
                canvas.alpha_composite(band.convert("RGBA"), (x, y + top))
            else:
                canvas.paste(band.convert("RGBA"), (x, y + top))
        del image
        yield canvas, info, part.duration
        if before is not None:
            canvas.paste(before, part.place)
        elif part.disposal is not formats.Disposal.KEEP:
            canvas.paste((0, 0, 0, 0), area)


def _open_part(part: formats.Part) -> Image.Image:
    is_png = part.content.startswith(formats.PNG)
    image = _png(part.content) if is_png else Image.open(io.BytesIO(part.content), formats=("GIF",))
    if image.size != part.size:
        raise PictureRefused(_CUT_OFF)
    return image


def _stored_size(size: tuple[int, int], frames: int) -> tuple[int, int]:
    scale = min(1.0, STORED_SIDE / max(size))
    if frames > 1:
        scale = min(scale, sqrt(MAX_ANIMATED_PIXELS / (frames * size[0] * size[1])))
    return max(1, int(size[0] * scale)), max(1, int(size[1] * scale))


def _scaled(image: Image.Image, target: tuple[int, int]) -> Image.Image:
    """Return an image in another size and in a mode that can be scaled, by bands, because whole copies are large."""
    across = max(1, max(image.size) // max(target))
    # Few rows of a wide picture are a band already.
    down = min(across, max(1, _BAND // image.width))
    reduced: Image.Image | None = None
    for top, band in _bands(image, down):
        part = band.reduce((across, down)) if across > 1 else band
        if reduced is None:
            reduced = Image.new(part.mode, (part.width, -(-image.height // down)))
        reduced.paste(part, (0, top // down))
    if reduced is None or reduced.size == target:
        return reduced or image
    return reduced.resize(target, Resampling.LANCZOS)


def _bands(image: Image.Image, factor: int = 1) -> Iterator[tuple[int, Image.Image]]:
    """Yield an image by bands, in a mode that can be scaled, each with the number of its first row."""
    image.load()
    step = factor * max(1, _BAND // (image.width * factor))
    for top in range(0, image.height, step):
        band = image.crop((0, top, image.width, min(top + step, image.height)))
        band.info = image.info
        yield top, _plain(band)


def _plain(image: Image.Image) -> Image.Image:
    key = image.info.get("transparency")
    if image.mode in ("L", "RGB", "CMYK", "RGBA"):
        return image.convert("RGBA") if key is not None and image.mode in ("L", "RGB") else image
    if image.mode.startswith("I"):  # 16 bits
        content = image.convert("I;16").tobytes()
        low, high = (Image.frombytes("L", image.size, content[first::2]) for first in (0, 1))
        if key is None:
            return high
        return Image.merge("LA", (high, ImageChops.lighter(_unlike(low, key & 255), _unlike(high, key >> 8)))).convert(
            "RGBA"
        )
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _unlike(image: Image.Image, value: int) -> Image.Image:
    """Return a mask of the pixels with another value."""
    return image.point([0 if each == value else 255 for each in range(256)])


def _png(content: bytes) -> Image.Image:
    """Open a PNG. Pillow compares its transparent colour as eight bits: unscaled, or without the lower ones of 16."""
    image = Image.open(io.BytesIO(content), formats=("PNG",))
    _check_size(image.size)
    key, rawmode = image.info.get("transparency"), image.tile[0].args
    if key is None:
        return image
    if rawmode in ("L;2", "L;4"):
        image.info["transparency"] = key * (85 if rawmode == "L;2" else 17)
    if rawmode == "RGB;16B":
        seen = Image.new("L", image.size)
        for unpacked, shift in (("RGB;16L", 0), ("RGB;16B", 8)):  # the lower bytes, then the higher ones
            image = Image.open(io.BytesIO(content), formats=("PNG",))
            image.tile = [image.tile[0]._replace(args=unpacked)]
            del image.info["transparency"]
            for top, band in _bands(image):
                box = (0, top, image.width, top + band.height)
                found = seen.crop(box)
                for channel, value in zip(band.split(), key, strict=True):
                    found = ImageChops.lighter(found, _unlike(channel, value >> shift & 255))
                seen.paste(found, box)
        image.putalpha(seen)
    return image


def _in_srgb(image: Image.Image, info: dict[Any, Any]) -> Image.Image:
    """Apply the first valid colour profile, since no metadata is stored."""
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    profiles = [info.get("icc_profile")]
    if "gamma" in info and "srgb" not in info:
        profiles.append(formats.profile_of(info["gamma"], info.get("chromaticity")))
    for profile in filter(None, profiles):
        with suppress(Exception):
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if source.profile.xcolor_space == "RGB " and image.mode != mode:
                image = image.convert(mode)
            found = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=mode)
            if found is not None:
                return found
    return image if image.mode == mode else image.convert(mode)


def _stored(frames: list[Image.Image], durations: list[int], loops: int, *, lossless: bool) -> bytes:
    how = {"lossless": True, "quality": 20}
    if lossless and _may_fit(frames, durations, how):
        found = _webp(frames, durations, loops, how)
        if len(found) <= MAX_LOSSLESS:
            return found
    return _bounded(frames, durations, loops, MAX_STORED)


def _may_fit(frames: list[Image.Image], durations: list[int], how: dict[str, Any]) -> bool:
    """Return whether the first frames of an animation leave room: one, then as many as fill it if they are alike."""
    some = 1
    for _ in range(2):
        if some >= len(frames):
            break
        size = len(_webp(frames[:some], durations[:some], 1, {**how, "method": 0}))
        if size > MAX_LOSSLESS:
            return False
        some = MAX_LOSSLESS // size + 2
    return True


def _bounded(frames: list[Image.Image], durations: list[int], loops: int, most: int) -> bytes:
    """Return a file of at most ``most`` bytes; frames that must be smaller for that are replaced in their list."""
    for quality in _QUALITIES:
        found = _webp(frames, durations, loops, {"quality": quality})
        if len(found) <= most:
            return found
    for _ in range(_SCALINGS):
        scale = 0.9 * sqrt(most / len(found))
        size = max(1, int(frames[0].width * scale)), max(1, int(frames[0].height * scale))
        for place, frame in enumerate(frames):
            frames[place] = frame.resize(size, Resampling.LANCZOS)
        found = _webp(frames, durations, loops, {"quality": quality, "alpha_quality": quality})
        if len(found) <= most:
            return found
    raise PictureRefused(f"The picture takes more than {most // 1024**2} MiB, however small it is made")


def _webp(frames: list[Image.Image], durations: list[int], loops: int, how: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    if len(frames) == 1:
        method = _QUICK_METHOD if frames[0].width * frames[0].height > _LARGE else _METHOD
        frames[0].save(file, "WEBP", **{"method": method, **how})
    else:
        more = {"append_images": frames[1:], "duration": durations, "loop": loops, "background": (0, 0, 0, 0)}
        frames[0].save(file, "WEBP", save_all=True, **{"method": 0, **more, **how})
    return file.getvalue()


def _thumbnail(frame: Image.Image) -> bytes:
    scale = min(1.0, THUMBNAIL_SIDE / max(frame.size))
    size = max(1, int(frame.width * scale)), max(1, int(frame.height * scale))
    return _bounded([frame.resize(size, Resampling.LANCZOS)], [0], 1, MAX_THUMBNAIL)


def _ground(image: Image.Image) -> Ground:
    """Return the background with which the visible pixels of an image have more contrast."""
    image = image.convert("RGBA")
    luminance = image.convert("RGB").point(3 * _LUMINANCE).convert("L", _WEIGHTS)
    alpha = image.getchannel("A")
    seen = ImageChops.multiply(luminance.point(_CONTRAST), alpha)
    return "dark" if 2 * ImageStat.Stat(seen).sum[0] > ImageStat.Stat(alpha).sum[0] else "light"
