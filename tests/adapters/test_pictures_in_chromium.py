"""The stored form of a picture looks like the original in Chromium (contract P1)."""

import random
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

import pytest
from PIL import Image, ImageChops, ImageCms, ImageStat
from playwright.sync_api import Browser, Page

from logoadmin.adapters.pillow_pictures import PillowPictures
from tests.adapters.shown_pictures import chunk, exif, gif, gif_frame, png, saved, shown, with_chunk, with_segment

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract P1")]

CODEC: Final = PillowPictures()
EXIF: Final = b"Exif\0\0"
APP1: Final = 0xE1
DISPLAY_P3: Final = (31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
WIDTH, HEIGHT = 64, 40


def scene(mode: str = "RGB", size: tuple[int, int] = (WIDTH, HEIGHT)) -> Image.Image:
    """Return a picture that looks different in every orientation."""
    across, down = Image.linear_gradient("L").rotate(90).resize(size), Image.linear_gradient("L").resize(size)
    image = Image.merge("RGB", (across, down, ImageChops.invert(across)))
    image.paste("red", (0, 0, size[0] // 4, size[1] // 4))
    if mode == "RGBA":
        image.putalpha(down)
    return image.convert(mode)


def jpeg(*segments: tuple[int, bytes], **options: Any) -> bytes:
    return with_segment(saved(scene(), "JPEG", quality=95, subsampling=0, **options), *segments)


def shades(depth: int) -> list[bytes]:
    """Return rows of a gray PNG with all shades of a depth, packed."""
    if depth == 16:
        return [b"".join(struct.pack(">H", 1024 * column + row) for column in range(WIDTH)) for row in range(HEIGHT)]
    count = WIDTH * depth // 8
    return [bytes((37 * row + 11 * place) % 256 for place in range(count)) for row in range(HEIGHT)]


def gray(depth: int, *chunks: bytes) -> bytes:
    return png((WIDTH, HEIGHT), depth, 0, shades(depth), *chunks)


def coloured(*chunks: bytes, depth: int = 8) -> bytes:
    image = scene()
    rows = [image.crop((0, row, WIDTH, row + 1)).tobytes() for row in range(HEIGHT)]
    if depth == 16:
        # In the left half the lower byte is that of the transparent colour, in the right it is not.
        rows = [b"".join(bytes((each, 0 if at < 96 else 1)) for at, each in enumerate(row)) for row in rows]
    return png((WIDTH, HEIGHT), depth, 2, rows, *chunks)


def transparent(*values: int) -> bytes:
    return chunk(b"tRNS", b"".join(struct.pack(">H", value) for value in values))


def gamma(value: int) -> bytes:
    return chunk(b"gAMA", struct.pack(">I", value))


def chromaticities(*values: int) -> bytes:
    return chunk(b"cHRM", struct.pack(">8I", *values))


def profile(content: bytes | None = None) -> bytes:
    found = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes() if content is None else content
    return chunk(b"iCCP", b"p\0\0" + zlib.compress(found))


STILLS: Final[dict[str, bytes]] = {
    **{f"gray of {depth} bits": gray(depth) for depth in (1, 8, 16)},
    **{
        f"gray of {depth} bits with a transparent one": gray(depth, transparent(key))
        for depth, key in ((1, 0), (4, 5), (8, 37), (16, 10 * 1024))
    },
    "colours with a transparent one": coloured(transparent(255, 0, 0)),
    "16 bits with a transparent colour": coloured(transparent(0xFF00, 0, 0), depth=16),
    "palette with transparency": saved(scene().quantize(16), "PNG", transparency=bytes(range(0, 256, 16))),
    "alpha": saved(scene("RGBA"), "PNG"),
    "gray with alpha": saved(scene("RGBA").convert("LA"), "PNG"),
    **{f"gamma {value}": coloured(gamma(value)) for value in (0, 44_000, 45_455, 100_000)},
    "gray of 16 bits and gamma": gray(16, gamma(100_000)),
    "gamma beside sRGB": coloured(chunk(b"sRGB", b"\0"), gamma(100_000)),
    "chromaticities of Display P3": coloured(chromaticities(*DISPLAY_P3), gamma(45_455)),
    "profile beside gamma": coloured(profile(), gamma(100_000)),
    "damaged profile beside gamma": coloured(profile(b"none"), gamma(100_000)),
    **{f"orientation {value}": jpeg((APP1, EXIF + exif(value))) for value in range(1, 10)},
    "orientation of another type": jpeg((APP1, EXIF + exif(6, 4, 1))),
    "orientation in the other order": jpeg((APP1, EXIF + exif(6, order=">"))),
    "the first of two orientations": jpeg((APP1, EXIF + exif(6)), (APP1, EXIF + exif(3))),
    "orientation after a damaged one": jpeg((APP1, EXIF + b"none"), (APP1, EXIF + exif(6))),
    "orientation of a PNG": coloured(chunk(b"eXIf", exif(6))),
    "orientation of a WebP at its end": with_chunk(saved(scene(), "WEBP", lossless=True), b"EXIF", exif(6)),
    "a video behind the picture": jpeg() + b"\0\0\0\x18ftypmp42" + random.Random(7).randbytes(3_300_000),
    "progressive": jpeg(progressive=True),
    "CMYK": saved(scene("CMYK"), "JPEG", quality=95),
    "4,200 pixels": saved(Image.new("RGB", (4200, 100), (40, 60, 80)), "PNG"),
    "a small first frame": gif((WIDTH, HEIGHT), gif_frame((9, 7), (20, 10), [2, 3] * 100)),
    "a first frame beside the screen": gif((8, 8), gif_frame((9, 9), (20, 10), [2, 3] * 100)),
    "a transparent colour of a GIF": gif((20, 10), gif_frame((0, 0), (20, 10), [2, 3] * 100, transparent=3)),
}


def played(*disposals: int, first: int = 0, loops: int | None = 0) -> bytes:
    """Return a GIF with a frame for each disposal, between two others."""
    frames = [gif_frame((0, 0), (20, 10), [1] * 200, first)]
    frames += [
        gif_frame((3 + place, 2), (9, 5), [2, 3, 0] * 15, disposal, transparent=0)
        for place, disposal in enumerate(disposals)
    ]
    return gif((20, 10), *frames, gif_frame((19, 9), (1, 1), [3]), loops=loops)


def apng(**options: Any) -> bytes:
    frames = [scene("RGBA"), scene("RGBA").rotate(180), scene("RGBA").rotate(90)]
    return saved(frames[0], "PNG", save_all=True, append_images=frames[1:], duration=[70, 300, 5], **options)


ANIMATIONS: Final[dict[str, bytes]] = {
    **{
        f"disposals {first}, {disposal}": played(disposal, 0, disposal, first=first)
        for first, disposal in ((0, 1), (1, 2), (3, 3), (4, 4))
    },
    **{f"GIF played {loops}": played(0, loops=loops) for loops in (None, 0, 2)},
    **{f"PNG played {loops}": apng(loop=loops) for loops in (0, 2)},
    **{f"PNG with disposal {disposal}": apng(loop=0, disposal=disposal, blend=1) for disposal in (1, 2)},
    "PNG with a default image": apng(loop=0, default_image=True),
    "WebP": saved(scene("RGBA"), "WEBP", save_all=True, append_images=[scene().rotate(180)], loop=3, duration=70),
    "a small first frame": gif(
        (20, 10), gif_frame((3, 2), (9, 5), [2] * 45), gif_frame((0, 0), (2, 2), [3] * 4), loops=0
    ),
}


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """A page of this machine, which may decode animations frame by frame."""
    with chromium.new_context() as context:
        context.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
        page = context.new_page()
        page.goto("http://localhost/")
        yield page


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the mean difference of two pictures, seen on black and on white."""
    total = 0.0
    for ground in ("black", "white"):
        seen = [Image.alpha_composite(Image.new("RGBA", each.size, ground), each) for each in (one, other)]
        total += sum(ImageStat.Stat(ImageChops.difference(*(each.convert("RGB") for each in seen))).mean)
    return total / 6


def tolerance(content: bytes) -> float:
    """Return the difference that is allowed: PNG and GIF are stored without a loss."""
    return 0.6 if content.startswith((b"\x89PNG", b"GIF")) else 3


@pytest.mark.parametrize("name", STILLS)
def test_a_still_is_stored_as_chromium_shows_it(page: Page, name: str) -> None:
    content = STILLS[name]
    original, stored = shown(page, content), shown(page, CODEC.convert(content).content)
    (before,), (after,) = original.frames, stored.frames
    if max(before.size) > 1600:
        before = before.resize(after.size)
    assert before.size == after.size
    assert difference(before, after) < tolerance(content)


@pytest.mark.parametrize("name", ANIMATIONS)
def test_an_animation_is_stored_as_chromium_plays_it(page: Page, name: str) -> None:
    content = ANIMATIONS[name]
    found = CODEC.convert(content)
    original, stored = shown(page, content, animated=True), shown(page, found.content, animated=True)
    assert (original.size, original.loops) == (stored.size, stored.loops)
    assert found.frames == len(stored.frames)
    # Nearly nothing is shown for 100 ms, and equal frames are one in the stored form.
    durations = [each if each > 10 else 100 for each in original.durations]
    assert sum(durations) == sum(stored.durations)
    ends = 0.0
    for before, duration in zip(original.frames, durations, strict=True):
        at, after, place = ends + duration / 2, stored.frames[0], 0.0
        for each, shown_for in zip(stored.frames, stored.durations, strict=True):
            if place <= at < place + shown_for:
                after = each
            place += shown_for
        assert difference(before, after) < tolerance(content)
        ends += duration
