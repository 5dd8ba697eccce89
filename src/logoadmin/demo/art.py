"""Pictures for the demo, drawn from shapes: emblems, word marks, portraits and small pages (contract Q4)."""

import io
from collections.abc import Callable
from math import cos, pi, sin
from random import Random
from typing import Final

from PIL import Image, ImageColor, ImageDraw, ImageFont

# Ground, shape, accent.
PALETTES: Final = (
    ("#10243e", "#5cc8ff", "#ffd166"),
    ("#fff4e6", "#d9480f", "#1864ab"),
    ("#1b1b2f", "#e43f5a", "#f5f5f5"),
    ("#e6fcf5", "#087f5b", "#f08c00"),
    ("#2b2118", "#f4a259", "#bc4b51"),
    ("#f3f0ff", "#5f3dc4", "#e64980"),
    ("#0b3d2e", "#9ae66e", "#fefae0"),
    ("#fdf0f3", "#a61e4d", "#495057"),
    ("#22223b", "#c9ada7", "#f2e9e4"),
    ("#e7f5ff", "#1971c2", "#2f9e44"),
)
# Shapes are drawn larger and scaled down, which smooths their edges.
_SCALE: Final = 2
# The lightness, of 255, of words that must be readable on any ground.
_DARKEST: Final = 108
_LIGHTEST: Final = 145
_Draw = ImageDraw.ImageDraw


def emblem(number: int) -> bytes:
    """Return a square picture, different for each number."""
    return _png(_emblem(number, 288, round_corners=number % 3 == 0))


def word_mark(number: int, name: str) -> bytes:
    """Return a wide transparent picture: an emblem with a name next to it."""
    mark = _emblem(number, 200, round_corners=True)
    font = ImageFont.load_default(92)
    width = round(font.getlength(name))
    picture = Image.new("RGBA", (200 + 36 + width + 12, 200))
    picture.paste(mark, (0, 0), mark)
    color = _readable(PALETTES[number % len(PALETTES)][1])
    ImageDraw.Draw(picture).text((236, 98), name, color, font, anchor="lm")
    return _png(picture)


def portrait(number: int) -> bytes:
    """Return the picture of an author: a head and shoulders, in three colours."""
    ground, shape, accent = PALETTES[(number * 3 + 1) % len(PALETTES)]
    full = 192 * _SCALE
    picture = Image.new("RGB", (full, full), ground)
    draw, random = ImageDraw.Draw(picture), Random(number)
    draw.ellipse((full * 0.16, full * 0.66, full * 0.84, full * 1.4), shape)
    draw.circle((full / 2, full * 0.42), full * 0.2, accent)
    hair = random.randrange(200, 260)
    draw.pieslice((full * 0.29, full * 0.2, full * 0.71, full * 0.62), hair - 70, hair + 90, shape)
    return _png(picture.resize((192, 192), Image.Resampling.LANCZOS))


def page(palette: tuple[str, str, str], number: int) -> bytes:
    """Return a small page in the colours of a theme: a bar, a list and cards."""
    ground, shape, accent = palette
    random, paper = Random(number), _mixed(ground, shape, 0.1)
    picture = Image.new("RGB", (960, 600), ground)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 960, 84), shape)
    draw.ellipse((36, 24, 72, 60), accent)
    for left in (640, 736, 832):
        _line(draw, left, 34, 68, _mixed(shape, ground, 0.75))
    for row in range(9):
        _line(draw, 36, 128 + row * 48, random.randint(90, 180), _mixed(ground, shape, 0.45))
    for row in range(2):
        for column in range(3):
            left, top = 260 + column * 226, 124 + row * 224
            draw.rounded_rectangle((left, top, left + 204, top + 200), 14, paper)
            color = (shape, accent)[(row + column + number) % 2]
            draw.rounded_rectangle((left + 16, top + 16, left + 188, top + 104), 10, color)
            _line(draw, left + 16, top + 124, random.randint(100, 160), _mixed(ground, shape, 0.8))
            _line(draw, left + 16, top + 156, random.randint(60, 120), _mixed(ground, shape, 0.4))
    return _png(picture)


def in_use(number: int) -> bytes:
    """Return a small page with an emblem in its header."""
    picture = Image.open(io.BytesIO(page(PALETTES[(number * 3 + 2) % len(PALETTES)], number)))
    mark = _emblem(number, 72, round_corners=True)
    picture.paste(mark, (24, 6), mark)
    return _png(picture)


def _line(draw: _Draw, left: int, top: int, length: int, color: str) -> None:
    """Draw a bar in place of a line of text."""
    draw.rounded_rectangle((left, top, left + length, top + 16), 8, color)


def _emblem(number: int, size: int, *, round_corners: bool) -> Image.Image:
    ground, shape, accent = PALETTES[number % len(PALETTES)]
    full = size * _SCALE
    picture = Image.new("RGBA", (full, full))
    draw = ImageDraw.Draw(picture)
    if round_corners:
        draw.rounded_rectangle((0, 0, full, full), full * 0.22, ground)
    else:
        draw.ellipse((0, 0, full, full), ground)
    _SHAPES[number % len(_SHAPES)](draw, full, shape, accent, Random(number))
    return picture.resize((size, size), Image.Resampling.LANCZOS)


def _petals(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    count, middle = random.choice((5, 6, 8)), full / 2
    for each in range(count):
        x, y = _at(full, 0.24, each / count)
        draw.circle((x, y), full * 0.13, shape)
    draw.circle((middle, middle), full * 0.13, accent)


def _rings(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    for each, color in enumerate((shape, accent, shape)):
        edge, start = full * (0.16 + 0.11 * each), random.randrange(360)
        draw.arc((edge, edge, full - edge, full - edge), start, start + 250, color, round(full * 0.055))


def _peaks(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    draw.circle((full * random.uniform(0.62, 0.7), full * 0.33), full * 0.1, accent)
    draw.polygon([(full * x, full * y) for x, y in ((0.14, 0.72), (0.4, 0.3), (0.66, 0.72))], shape)
    draw.polygon([(full * x, full * y) for x, y in ((0.46, 0.72), (0.64, 0.47), (0.84, 0.72))], accent)


def _star(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    points = random.choice((5, 6, 7, 8))
    corners = [_at(full, 0.36 if each % 2 == 0 else 0.17, each / points / 2) for each in range(points * 2)]
    draw.polygon(corners, shape)
    draw.circle((full / 2, full / 2), full * 0.085, accent)


def _bars(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    lit = random.randrange(4)
    for each, top in enumerate(random.sample((0.24, 0.34, 0.44, 0.54), 4)):
        left = full * (0.22 + 0.15 * each)
        color = accent if each == lit else shape
        draw.rounded_rectangle((left, full * top, left + full * 0.1, full * 0.76), full * 0.05, color)


def _waves(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    phase = random.random()
    for each, color in enumerate((shape, accent, shape)):
        level, begin = 0.35 + 0.15 * each, phase + each / 4
        line = [(0.2 + 0.01 * x, level + 0.05 * sin(2 * pi * (x / 30 + begin))) for x in range(61)]
        draw.line([(full * x, full * y) for x, y in line], color, round(full * 0.06), joint="curve")


def _facets(draw: _Draw, full: int, shape: str, accent: str, random: Random) -> None:
    corners = [_at(full, 0.36, each / 6) for each in range(6)]
    colors = [shape, accent, _mixed(shape, accent, 0.5)] * 2
    turn = random.randrange(3)
    for each in range(6):
        draw.polygon([(full / 2, full / 2), corners[each], corners[(each + 1) % 6]], colors[(each + turn) % 6])


_Shape = Callable[[_Draw, int, str, str, Random], None]
_SHAPES: Final[tuple[_Shape, ...]] = (_petals, _rings, _peaks, _star, _bars, _waves, _facets)


def _at(full: int, radius: float, turn: float) -> tuple[float, float]:
    """Return a point on a circle around the middle, clockwise from the top."""
    return full / 2 + full * radius * sin(2 * pi * turn), full / 2 - full * radius * cos(2 * pi * turn)


def _mixed(first: str, second: str, part: float) -> str:
    pairs = zip(bytes.fromhex(first[1:]), bytes.fromhex(second[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * part) for a, b in pairs).hex()


def _readable(color: str) -> str:
    """Return a similar color that is readable on dark and on light pages."""
    red, green, blue = ImageColor.getrgb(color)[:3]
    lightness = 0.3 * red + 0.59 * green + 0.11 * blue
    if lightness < _DARKEST:
        return _mixed(color, "#ffffff", (_DARKEST - lightness) / (255 - lightness))
    return _mixed(color, "#000000", max(0, 1 - _LIGHTEST / lightness))


def _png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()
