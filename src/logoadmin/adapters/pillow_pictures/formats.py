"""The structure of PNG, GIF and JPEG files, found without decoding them, as Chromium understands it (contract P1).

Decoders differ in how they compose animations, and in what they accept as an orientation or a profile. An animation is
therefore split into separate pictures, which are composed in one way.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

PNG: Final = b"\x89PNG\r\n\x1a\n"
_OF_COLOURS: Final = (b"iCCP", b"sRGB", b"gAMA", b"cHRM")
_EXIF: Final = b"Exif\0"
_ORIENTATION: Final = 0x0112
_SHORT: Final = 3
# A marker in the data of a scan, other than a restart.
_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
_SOS, _EOI, _APP1 = 0xDA, 0xD9, 0xE1
_NO_FRAME: Final = {0xC4, 0xC8, 0xCC}
_FULL_FRAME: Final = {0xC0, 0xC1}
# Of sRGB and Rec. 709: white, red, green and blue.
_SRGB_CHROMATICITIES: Final = (0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)
_D50: Final = (0.9642, 1.0, 0.8249)
_BRADFORD: Final = ((0.8951, 0.2664, -0.1614), (-0.7502, 1.7135, 0.0367), (0.0389, -0.0685, 1.0296))

Size = tuple[int, int]


class Disposal(Enum):
    """The treatment of the area of a frame before the next one is drawn."""

    KEEP = "it stays"
    CLEAR = "it becomes transparent"
    RESTORE = "it becomes what it was before the frame"


@dataclass(frozen=True, slots=True)
class Part:
    """A frame as stored in its file.

    Attributes:
        content: a file with only this frame; that of the first frame has the colour space.
        duration: how long it is shown, in milliseconds.
        disposal: the treatment of its area afterwards.
        over: whether earlier frames show through.
    """

    content: bytes
    place: Size
    size: Size
    duration: float
    disposal: Disposal
    over: bool


@dataclass(frozen=True, slots=True)
class Animation:
    """Frames, up to a number, and how often all of them are played, 0 for endlessly."""

    size: Size
    parts: tuple[Part, ...]
    loops: int


def gif_animation(content: bytes, most: int) -> Animation:
    """Return up to ``most`` frames of a GIF (GIF89a, appendix B); IndexError or struct.error if it is cut off."""

    def past_table(at: int, flags: int) -> int:
        return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)

    def past_blocks(at: int) -> int:
        while content[at]:
            at += content[at] + 1
        return at + 1

    screen, flags = struct.unpack_from("<HH", content, 6), content[10]
    at = past_table(13, flags)
    table, control, loops, parts = content[13:at], b"", 1, list[Part]()
    while len(parts) < most and at < len(content) and (kind := content[at]) != 0x3B:
        if kind == 0x21:
            following = past_blocks(at + 2)
            if content[at + 1] == 0xF9:
                control = content[at:following]
            elif content[at + 3 : at + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0") and content[at + 15] == 1:
                (repeated,) = struct.unpack_from("<H", content, at + 16)
                loops = min(repeated + 1, 0xFFFF) if repeated else 0  # the first time is not counted
            at = following
        elif kind == 0x2C:
            x, y, width, height, local = struct.unpack_from("<HHHHB", content, at + 1)
            following = past_blocks(past_table(at + 10, local) + 1)
            frame = b"\x2c\0\0\0\0" + content[at + 5 : following]
            head = content[:6] + struct.pack("<HH", width, height) + content[10:13]
            disposal, hundredths = _of_control(control)
            alone = head + table + control + frame + b";"
            parts.append(Part(alone, (x, y), (width, height), 10 * hundredths, disposal, over=True))
            at, control = following, b""
        else:  # decoders stop at unknown blocks
            break
    if parts:  # the first frame may be larger than the screen
        screen = tuple(map(max, screen, map(sum, zip(parts[0].place, parts[0].size, strict=True))))
    return Animation((screen[0], screen[1]), tuple(parts), loops)


def _of_control(control: bytes) -> tuple[Disposal, int]:
    if len(control) < 8:
        return Disposal.KEEP, 0
    of_numbers = {2: Disposal.CLEAR, 3: Disposal.RESTORE, 4: Disposal.RESTORE}
    return of_numbers.get(control[3] >> 2 & 7, Disposal.KEEP), int.from_bytes(control[4:6], "little")


def png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG up to its end."""
    at = len(PNG)
    while at + 8 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        kind = content[at + 4 : at + 8]
        yield kind, content[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at += length + 12


def png_animation(content: bytes, most: int) -> Animation | None:
    """Return up to ``most`` frames of an APNG; None for a still; struct.error if it is damaged."""
    head, loops = b"", None
    shared, colours = list[tuple[bytes, bytes]](), list[tuple[bytes, bytes]]()
    controls, data = list[tuple[int, ...]](), list[list[bytes]]()
    for kind, text in png_chunks(content):
        if kind == b"IHDR":
            head = text
        elif kind == b"acTL":
            (loops,) = struct.unpack_from(">4xI", text)
        elif kind == b"fcTL":
            if len(controls) == most:
                break
            controls.append(struct.unpack(">4xIIIIHHBB", text))
            data.append([])
        elif kind in (b"IDAT", b"fdAT"):
            if data:  # otherwise a default image, for decoders without animations
                data[-1].append(text[4:] if kind == b"fdAT" else text)
        elif kind in (b"PLTE", b"tRNS"):
            shared.append((kind, text))
        elif kind in _OF_COLOURS:
            colours.append((kind, text))
    if loops is None or not controls:
        return None
    parts = list[Part]()
    for (width, height, x, y, part, whole, disposal, blend), pixels in zip(controls, data, strict=True):
        frame = (b"IHDR", struct.pack(">II", width, height) + head[8:])
        chunks = (frame, *([] if parts else colours), *shared, (b"IDAT", b"".join(pixels)), (b"IEND", b""))
        alone = PNG + b"".join(_chunk(*each) for each in chunks)
        disposed = (Disposal.KEEP, Disposal.CLEAR, Disposal.RESTORE)[min(disposal, 2)]
        parts.append(Part(alone, (x, y), (width, height), 1000 * part / (whole or 100), disposed, over=blend == 1))
    width, height = struct.unpack_from(">II", head)
    return Animation((width, height), tuple(parts), min(loops, 0xFFFF))


def _chunk(kind: bytes, text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + kind + text + struct.pack(">I", zlib.crc32(kind + text))


def png_orientation(content: bytes) -> int:
    """Return the orientation of a PNG, from an ``eXIf`` before its pixels."""
    for kind, text in png_chunks(content):
        if kind == b"eXIf":
            return exif_orientation(text)
        if kind == b"IDAT":
            break
    return 1


@dataclass(frozen=True, slots=True)
class Jpeg:
    """The scans of a JPEG, and the orientation in its first EXIF segment.

    ``held`` are the bytes that a decoder holds besides the picture: of all scans, unless one has everything.
    """

    scans: int
    held: int
    orientation: int


def jpeg_segments(content: bytes) -> Jpeg:
    """Read the segments of a JPEG up to its end, which videos of phones follow."""
    at, scans, held, exif = 2, 0, 0, b""
    components, is_full = 0, True
    while (found := _MARKER.search(content, at)) and found.end() + 2 <= len(content):
        marker, at = content[found.end() - 1], found.end()
        if marker == _EOI:
            break
        if marker in (0x01, 0xD8, 0xFF):
            at -= marker == 0xFF  # the fill byte may begin another marker
            continue
        text = content[at + 2 : at + int.from_bytes(content[at : at + 2], "big")]
        at += len(text) + 2
        if marker == _SOS:
            scans += 1
            is_full = is_full and text[:1] == bytes([components])
        elif marker == _APP1 and text.startswith(_EXIF) and not exif and not scans:
            exif = text
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME and len(text) > 5:
            is_full, components = marker in _FULL_FRAME, text[5]
            held = _coefficients(text)
    return Jpeg(scans, 0 if is_full else held, exif_orientation(exif[6:]))


def _coefficients(frame: bytes) -> int:
    """Return the bytes of all coefficients of a frame, two for each sample."""
    height, width = struct.unpack_from(">HH", frame, 1)
    sampling = [(each >> 4, each & 15) for each in frame[7::3]]
    widest, highest = (max(column, default=1) or 1 for column in zip(*sampling, strict=True))
    held: int = 2 * height * width * sum(across * down for across, down in sampling) // (widest * highest)
    return held


def exif_orientation(exif: bytes) -> int:
    """Return the orientation of EXIF data, which is one unsigned short in the first directory; 1 without one."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(exif[:4])
    if order is None:
        return 1
    try:
        (at,) = struct.unpack_from(f"{order}I", exif, 4)
        (entries,) = struct.unpack_from(f"{order}H", exif, at)
        for entry in range(entries):
            found = struct.unpack_from(f"{order}HHIH", exif, at + 2 + 12 * entry)
            if found[:3] == (_ORIENTATION, _SHORT, 1):
                return int(found[3])
    except struct.error:
        pass
    return 1


def profile_of(gamma: float, chromaticities: tuple[float, ...] | None) -> bytes | None:
    """Return the ICC profile of a PNG's gamma and chromaticities; None if browsers treat them as sRGB.

    Chromaticities without a gamma are ignored, as is a gamma alone if it is sRGB's within libpng's tolerance.
    """
    if gamma <= 0 or (chromaticities is None and abs(gamma * 2.2 - 1) <= 0.05):
        return None
    found = chromaticities or _SRGB_CHROMATICITIES
    white, *primaries = ((x / y, 1.0, (1 - x - y) / y) for x, y in zip(found[::2], found[1::2], strict=True))
    scales = _times(_inverted([*zip(*primaries, strict=True)]), white)
    # The white is adapted to that of profiles.
    cones = [there / here for there, here in zip(_times(_BRADFORD, _D50), _times(_BRADFORD, white), strict=True)]
    columns = []
    for primary, scale in zip(primaries, scales, strict=True):
        seen = [cone * each for cone, each in zip(cones, _times(_BRADFORD, primary), strict=True)]
        columns.append([scale * each for each in _times(_inverted(_BRADFORD), seen)])
    tags = {
        name: b"XYZ \0\0\0\0" + _fixed(*column) for name, column in zip(("rXYZ", "gXYZ", "bXYZ"), columns, strict=True)
    }
    tags |= dict.fromkeys(("rTRC", "gTRC", "bTRC"), b"para\0\0\0\0\0\0\0\0" + _fixed(1 / gamma))
    tags["wtpt"] = b"XYZ \0\0\0\0" + _fixed(*_D50)
    table, body, at = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, text in tags.items():
        table += name.encode() + struct.pack(">II", at + len(body), len(text))
        body += text
    head = struct.pack(
        ">I4xI4s4s4s12x4s28x12s48x", at + len(body), 0x04200000, b"mntr", b"RGB ", b"XYZ ", b"acsp", _fixed(*_D50)
    )
    return head + table + body


_Row = tuple[float, ...] | list[float]


def _fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def _times(matrix: "tuple[_Row, ...] | list[_Row]", column: _Row) -> list[float]:
    return [sum(a * b for a, b in zip(row, column, strict=True)) for row in matrix]


def _inverted(matrix: "tuple[_Row, ...] | list[_Row]") -> "list[_Row]":
    (a, b, c), (d, e, f), (g, h, i) = matrix
    whole = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return [
        [(e * i - f * h) / whole, (c * h - b * i) / whole, (b * f - c * e) / whole],
        [(f * g - d * i) / whole, (a * i - c * g) / whole, (c * d - a * f) / whole],
        [(d * h - e * g) / whole, (b * g - a * h) / whole, (a * e - b * d) / whole],
    ]
