"""Pictures with Pillow: a generated corpus, and damaged files (contract P1)."""

import gc
import io
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from PIL import Image, ImageCms

from logoadmin.adapters.pillow_pictures import PillowPictures
from logoadmin.domain.kernel.limits import MAX_PICTURE
from logoadmin.ports.pictures import MAX_LOSSLESS, MAX_STORED, MAX_THUMBNAIL, ConvertedPicture, PictureRefused
from tests.adapters.shown_pictures import chunk, gif, gif_frame, png, saved

pytestmark = pytest.mark.rule("contract P1")

CODEC: Final = PillowPictures()
RANDOM: Final = random.Random(7)


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    if mode == "1":  # eight pixels a byte, in whole bytes
        return Image.frombytes(mode, (width, height), RANDOM.randbytes(-(-width // 8) * height))
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), RANDOM.randbytes(width * height * bands))


def animation(
    form: str, frames: int = 4, size: tuple[int, int] = (40, 30), shown: Sequence[Image.Image] = (), **options: Any
) -> bytes:
    shown = shown or [Image.new("RGB", size, (60 * place % 256, 10, 200)) for place in range(frames)]
    return saved(shown[0], form, save_all=True, append_images=[*shown[1:]], duration=70, loop=0, **options)


def bomb(width: int, height: int) -> bytes:
    """Return a PNG whose header claims these dimensions."""
    return png((width, height), 8, 2, [bytes(4 * 1024**2)])


def profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def refusal(content: bytes) -> str:
    with pytest.raises(PictureRefused) as error:
        CODEC.convert(content)
    return str(error.value)


def assert_plain(found: ConvertedPicture) -> None:
    """Require that a picture and its thumbnail are WebP of these sizes, without metadata."""
    for content, side in ((found.content, 1600), (found.thumbnail, 320)):
        image = opened(content)
        assert image.format == "WEBP"
        assert max(image.size) <= side
        assert not {"exif", "xmp", "icc_profile"} & image.info.keys()
        assert all(name not in content for name in (b"EXIF", b"ICCP", b"XMP "))
    assert opened(found.content).size == (found.width, found.height)
    assert getattr(opened(found.content), "n_frames", 1) == found.frames


CORPUS: Final[dict[str, Callable[[], bytes]]] = {
    "png": lambda: saved(noise(50, 40), "PNG"),
    "jpeg": lambda: saved(noise(50, 40), "JPEG"),
    "gif": lambda: saved(noise(50, 40).quantize(16), "GIF"),
    "webp": lambda: saved(noise(50, 40), "WEBP"),
    "webp lossless": lambda: saved(noise(50, 40, "RGBA"), "WEBP", lossless=True),
    "one pixel": lambda: saved(noise(1, 1), "PNG"),
    "a line": lambda: saved(noise(1600, 1), "PNG"),
    "a column": lambda: saved(noise(1, 1600), "PNG"),
    "palette": lambda: saved(noise(50, 40).quantize(200), "PNG"),
    "palette with alpha": lambda: saved(noise(50, 40).quantize(9), "PNG", transparency=bytes(range(0, 90, 10))),
    "gray": lambda: saved(noise(50, 40, "L"), "PNG"),
    "gray with alpha": lambda: saved(noise(50, 40, "LA"), "PNG"),
    "gray with a transparent shade": lambda: saved(noise(50, 40, "L"), "PNG", transparency=7),
    "alpha": lambda: saved(noise(50, 40, "RGBA"), "PNG"),
    "one bit": lambda: saved(noise(50, 40, "L").convert("1"), "PNG"),
    "16 bit": lambda: saved(Image.frombytes("I;16", (50, 40), RANDOM.randbytes(4000)), "PNG"),
    "CMYK": lambda: saved(noise(50, 40, "CMYK"), "JPEG"),
    "gray JPEG": lambda: saved(noise(50, 40, "L"), "JPEG"),
    "progressive": lambda: saved(noise(500, 400), "JPEG", progressive=True),
    "profile": lambda: saved(noise(50, 40), "PNG", icc_profile=profile()),
    "damaged profile": lambda: saved(noise(50, 40), "PNG", icc_profile=b"none"),
    "profile of another mode": lambda: saved(noise(50, 40, "CMYK"), "JPEG", icc_profile=profile()),
    "GIF with a script": lambda: saved(noise(5, 4).quantize(4), "GIF", comment=b"*/=alert(1)/*"),
    "PNG with HTML after its end": lambda: saved(noise(5, 4), "PNG") + b"<script>alert(1)</script>",
    "interlaced": lambda: saved(noise(50, 40).quantize(16), "GIF", interlace=1),
}


@pytest.mark.parametrize("name", CORPUS)
def test_every_form_is_stored_as_plain_webp(name: str) -> None:
    content = CORPUS[name]()
    found = CODEC.convert(content)
    assert_plain(found)
    assert (found.width, found.height) == opened(content).size
    assert b"script" not in found.content
    assert b"alert" not in found.content
    # A stored file is read as it is.
    again = CODEC.read(found.content)
    assert (again.content, again.width, again.height) == (found.content, found.width, found.height)


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_animations_are_kept(form: str) -> None:
    found = CODEC.convert(animation(form))
    assert_plain(found)
    assert found.frames == 4
    image = opened(found.content)
    assert image.info["loop"] == 0
    for place in range(4):
        image.seek(place)
        image.load()
        assert image.info["duration"] == 70
        red, _, blue = image.convert("RGB").getpixel((5, 5))  # type: ignore[misc]  # a tuple in this mode
        assert abs(red - 60 * place) < 8
        assert blue > 190
    assert getattr(opened(found.thumbnail), "n_frames", 1) == 1


def test_small_drawings_are_lossless() -> None:
    drawing = noise(50, 40)
    assert opened(CODEC.convert(saved(drawing, "PNG")).content).convert("RGB").tobytes() == drawing.tobytes()
    photo = CODEC.convert(saved(noise(1100, 1100), "PNG"))
    assert opened(photo.content).size == (1100, 1100)
    assert photo.content[12:16] == b"VP8 "  # with a loss
    assert len(photo.content) > MAX_LOSSLESS


@pytest.mark.parametrize(
    ("colours", "ground"),
    [
        ([(0, 0, 0, 255)], "light"),
        ([(255, 255, 255, 255)], "dark"),
        ([(20, 30, 160, 255)], "light"),
        ([(255, 220, 0, 90)], "dark"),
        # Only visible colours count, weighted by their opacity.
        ([(255, 255, 255, 255), (0, 0, 0, 0), (0, 0, 0, 0)], "dark"),
        ([(0, 0, 0, 255), (255, 255, 255, 0), (255, 255, 255, 0)], "light"),
        ([(0, 0, 0, 255), (255, 255, 255, 60), (255, 255, 255, 60)], "light"),
    ],
)
@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_a_picture_has_the_ground_it_contrasts_with(
    colours: Sequence[tuple[int, int, int, int]], ground: str, form: str
) -> None:
    image = Image.new("RGBA", (40 * len(colours), 40))
    for place, colour in enumerate(colours):
        image.paste(colour, (40 * place, 0, 40 * place + 40, 40))
    found = CODEC.convert(saved(image, form))
    assert (found.ground, CODEC.read(found.content).ground) == (ground, ground)


@pytest.mark.slow("it encodes 16 million pixels")
def test_long_animations_are_scaled_further() -> None:
    many = CODEC.convert(animation("GIF", 10, (1400, 1400)))
    assert many.frames == 10
    assert 15_000_000 < many.width * many.height * many.frames <= 16_000_000


@pytest.mark.slow("it encodes millions of pixels")
@pytest.mark.parametrize(
    "make",
    [
        lambda: saved(noise(1600, 1600, "RGBA"), "PNG", compress_level=1),
        lambda: animation("PNG", shown=[noise(1000, 1000, "1") for _ in range(6)]),
    ],
    ids=["still", "animation"],
)
def test_the_stored_form_is_bounded_for_any_input(make: Callable[[], bytes]) -> None:
    found = CODEC.convert(make())
    assert_plain(found)
    assert 1.5 * 1024**2 < len(found.content) <= MAX_STORED
    assert len(found.thumbnail) <= MAX_THUMBNAIL
    assert CODEC.read(found.content).content == found.content


def test_a_larger_file_is_not_a_stored_picture() -> None:
    with pytest.raises(PictureRefused, match="at most 4 MiB"):
        CODEC.read(saved(noise(1600, 1600, "RGBA"), "WEBP", lossless=True, quality=0, method=0))


def test_large_pictures_are_scaled() -> None:
    found = CODEC.convert(saved(Image.new("RGB", (4096, 1024), "red"), "JPEG"))
    assert (found.width, found.height) == (1600, 400)
    assert opened(found.thumbnail).size == (320, 80)


MILLIONS: Final = pytest.mark.slow("it decodes 64 million pixels, which is the limit")


@pytest.mark.parametrize(
    ("form", "frames", "size", "kept"),
    [
        *((form, 101, (8, 4), 100) for form in ("GIF", "PNG", "WEBP")),
        pytest.param("GIF", 23, (2000, 1500), 21, marks=MILLIONS),
        pytest.param("GIF", 2, (5000, 3000), 1, marks=MILLIONS),
    ],
)
def test_the_first_frames_of_long_animations_are_kept(form: str, frames: int, size: tuple[int, int], kept: int) -> None:
    assert CODEC.convert(animation(form, frames, size)).frames == kept


def test_only_real_scans_are_counted() -> None:
    photo = saved(noise(90, 60), "JPEG")
    same = CODEC.convert(photo).content
    comment = b"\xff\xfe" + struct.pack(">H", 2 + 80) + b"\xff\xda" * 40
    for file in (photo[:2] + comment + photo[2:], photo + b"\0\0\0\x18ftypmp42" + b"\xff\xda" * 40):
        assert CODEC.convert(file).content == same


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_truncated_file_is_refused(form: str) -> None:
    content = saved(noise(200, 200).quantize(64) if form == "GIF" else noise(200, 200), form)
    for tenth in range(10):
        assert "cut off" in refusal(content[: len(content) * tenth // 10])


HOSTILE: Final[dict[Callable[[], bytes], str]] = {
    lambda: bomb(65_535, 65_535): "too many pixels; it should have at most 40 million",
    lambda: bomb(8000, 5001): "8000 by 5001 pixels; it should have at most 40 million",
    lambda: bomb(4096, 4096): "damaged or cut off",
    lambda: bomb(1, 40_000_000): "too much memory",
    lambda: b"GIF89a" + b"\xff\xff\xff\xff\x00\x00\x00;": "65535 by 65535 pixels|too many pixels|cut off",
    lambda: gif((65_535, 65_535), gif_frame((0, 0), (1, 1), [1])): "65535 by 65535 pixels",
    lambda: saved(Image.new("RGB", (4300, 4300)), "WEBP", method=0): "too much memory",
    lambda: b"\xef\xbb\xbf<SVG xmlns='http://www.w3.org/2000/svg'/>": "Convert SVG to PNG or WebP first",
    lambda: b"<!-- a --><svg/>": "Convert SVG to PNG or WebP first",
    lambda: b"%PDF-1.7": "not a PNG, JPEG, GIF or WebP",
    lambda: saved(Image.new("RGB", (9, 9)), "BMP"): "not a PNG, JPEG, GIF or WebP",
    lambda: saved(Image.new("RGB", (9, 9)), "TIFF"): "not a PNG, JPEG, GIF or WebP",
    lambda: saved(Image.new("RGB", (9, 9)), "JPEG")[:-2] + b"\xff\xda\0\x02" * 31: "too many scans",
    lambda: b"": "not a PNG",
}


@pytest.mark.parametrize(("make", "text"), HOSTILE.items())
def test_hostile_files_are_refused_with_the_reason(make: Callable[[], bytes], text: str) -> None:
    assert any(part in refusal(make()) for part in text.split("|"))


_MEASURED: Final = """
import sys
from logoadmin.adapters.pillow_pictures import PillowPictures
def peak(): return int(next(l for l in open("/proc/self/status") if "VmHWM" in l).split()[1]) / 1024
codec, content = PillowPictures(), sys.stdin.buffer.read()
codec.convert(codec.convert(open(sys.argv[1], "rb").read()).content)
before = peak()
codec.convert(content)
print(peak() - before)
"""

LARGEST: Final[dict[str, Callable[[], bytes]]] = {
    "PNG": lambda: saved(large("RGBA", 8000, 5000), "PNG", compress_level=1),
    "PNG of 16 bits with a transparent colour": lambda: png(
        (8000, 5000), 16, 2, [bytes(48_000)] * 5000, chunk(b"tRNS", bytes(6))
    ),
    "tall PNG": lambda: saved(large("RGB", 5, 8_000_000), "PNG", compress_level=1),
    "wide PNG": lambda: saved(large("RGB", 8_000_000, 5), "PNG", compress_level=1),
    "GIF": lambda: saved(large("RGB", 8000, 5000).quantize(4), "GIF"),
    "animated GIF": lambda: animation("GIF", shown=[large("L", 4000, 2500) for _ in range(5)]),
    "animated PNG": lambda: animation("PNG", shown=[large("RGBA", 4000, 2500) for _ in range(5)], disposal=2),
    "JPEG": lambda: saved(large("RGB", 8000, 5000), "JPEG"),
    "narrow JPEG": lambda: saved(large("RGB", 40_000, 1000), "JPEG"),
    "progressive": lambda: saved(large("RGB", 8000, 5000), "JPEG", progressive=True),
    "WEBP": lambda: saved(large("RGBA", 4096, 4096), "WEBP", method=0),
    "WEBP with metadata": lambda: saved(large("RGBA", 3700, 3700), "WEBP", method=0, xmp=bytes(7_500_000)),
}

# These use the most memory of each format; a release tests the others as well.
LARGEST_OF_ALL: Final = ("PNG of 16 bits with a transparent colour", "animated GIF", "JPEG", "WEBP with metadata")


def large(mode: str, width: int, height: int) -> Image.Image:
    return noise(64, 64, mode).resize((width, height), Image.Resampling.NEAREST)


@pytest.mark.slow("it encodes and decodes 40 million pixels in several formats")
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(
    "name", [name if name in LARGEST_OF_ALL else pytest.param(name, marks=pytest.mark.release) for name in LARGEST]
)
def test_the_largest_picture_takes_at_most_256_mib(name: str, tmp_path: Any) -> None:
    content = LARGEST[name]()
    assert len(content) <= MAX_PICTURE
    gc.collect()
    (tmp_path / "small").write_bytes(saved(noise(8, 8), "PNG"))
    run = [sys.executable, "-c", _MEASURED, str(tmp_path / "small")]
    done = subprocess.run(run, input=content, capture_output=True, timeout=120, check=True)
    assert float(done.stdout) <= 256


def mutated(content: bytes, source: random.Random) -> bytes:
    """Return a file with a few bytes changed, removed, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(source.randint(1, 6)):
        place = source.randrange(len(changed) or 1)
        kind = source.randrange(4)
        if kind == 0 and changed:
            changed[place] = source.randrange(256)
        elif kind == 1:
            del changed[place : place + source.randint(1, 9)]
        elif kind == 2:
            changed[place:place] = changed[place : place + source.randint(1, 30)]
        elif source.random() < 0.2:
            del changed[place:]
    return bytes(changed)


@pytest.mark.slow("it decodes 1,000 damaged files")
def test_damaged_files_are_converted_or_refused() -> None:
    sources = [make() for make in CORPUS.values()] + [animation(form) for form in ("GIF", "WEBP", "PNG")]
    source = random.Random(3)
    for _ in range(1000):
        content = mutated(source.choice(sources), source)
        try:
            assert_plain(CODEC.convert(content))
        except PictureRefused:
            continue
