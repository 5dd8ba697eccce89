"""Pictures as Chromium shows them, and files that Pillow does not write."""

import base64
import io
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Page

_SHOW: Final = """async ([content, type, animated]) => {
  const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  const drawn = (image, width, height) => {
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    let text = "";
    for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
    return { width, height, data: btoa(text) };
  };
  if (!animated) {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([bytes], { type }));
    await image.decode();
    return { frames: [drawn(image, image.naturalWidth, image.naturalHeight)], loops: 0 };
  }
  const decoder = new ImageDecoder({ data: bytes, type });
  await Promise.all([decoder.completed, decoder.tracks.ready]);
  const { frameCount, repetitionCount } = decoder.tracks.selectedTrack, frames = [];
  for (let frameIndex = 0; frameIndex < frameCount; frameIndex++) {
    const { image } = await decoder.decode({ frameIndex });
    frames.push({ ...drawn(image, image.displayWidth, image.displayHeight), duration: image.duration / 1000 });
    image.close();
  }
  return { frames, loops: repetitionCount === Infinity ? "forever" : repetitionCount };
}"""
_TYPES: Final = {b"\x89PNG": "image/png", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


@dataclass(frozen=True)
class Shown:
    """What Chromium shows of a file: its frames, how long each is shown in milliseconds, and how often it repeats."""

    frames: tuple[Image.Image, ...]
    durations: tuple[float, ...]
    loops: int | str

    @property
    def size(self) -> tuple[int, int]:
        return self.frames[0].size


def shown(page: Page, content: bytes, *, animated: bool = False) -> Shown:
    """Return what a page shows; a still in an ``<img>``, an animation frame by frame."""
    kind = _TYPES.get(content[:4], "image/jpeg")
    found: Any = page.evaluate(_SHOW, [base64.b64encode(content).decode(), kind, animated])
    frames = [
        Image.frombytes("RGBA", (each["width"], each["height"]), base64.b64decode(each["data"]))
        for each in found["frames"]
    ]
    durations = tuple(each.get("duration") or 0 for each in found["frames"])
    return Shown(tuple(frames), durations, found["loops"])


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(size: tuple[int, int], depth: int, colour: int, rows: Iterable[bytes], *chunks: bytes) -> bytes:
    """Return a PNG of packed rows, with chunks before its pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows)))
    return b"".join((b"\x89PNG\r\n\x1a\n", head, *chunks, pixels, chunk(b"IEND", b"")))


def gif_frame(
    place: tuple[int, int],
    size: tuple[int, int],
    colours: Iterable[int],
    dispose: int = 0,
    transparent: int | None = None,
) -> bytes:
    """Return a frame of a GIF with four colours, one index for each pixel, in codes that are not compressed."""
    flags = dispose << 2 | (transparent is not None)
    bits, written = 0, 0
    for number, colour in enumerate(colours):
        if number % 2 == 0:  # the decoder's table stays as it is, and its codes have three bits
            bits |= 4 << written
            written += 3
        bits |= colour << written
        written += 3
    bits |= 5 << written
    data = bits.to_bytes((written + 10) // 8, "little")
    blocks = b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255))
    control = b"\x21\xf9\x04" + struct.pack("<BHBB", flags, 7, transparent or 0, 0)
    return control + b"\x2c" + struct.pack("<HHHHB", *place, *size, 0) + b"\x02" + blocks + b"\0"


def gif(size: tuple[int, int], *frames: bytes, loops: int | None = None, ground: int = 1) -> bytes:
    """Return a GIF of black, red, green and blue."""
    table = bytes((0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255))
    loop = b"" if loops is None else b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", loops) + b"\0"
    return b"GIF89a" + struct.pack("<HHBBB", *size, 0x81, ground, 0) + table + loop + b"".join(frames) + b";"


def exif(orientation: int, kind: int = 3, count: int = 1, order: str = "<") -> bytes:
    """Return EXIF data with an orientation, by default in its own form, one unsigned short."""
    value = struct.pack(f"{order}H2x" if kind == 3 else f"{order}I", orientation)
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(f"{order}IHHHI", 8, 1, 0x0112, kind, count) + value + struct.pack(f"{order}I", 0)


def with_segment(jpeg: bytes, *segments: tuple[int, bytes]) -> bytes:
    """Return a JPEG with segments at its start."""
    made = b"".join(bytes((0xFF, kind)) + struct.pack(">H", len(text) + 2) + text for kind, text in segments)
    return jpeg[:2] + made + jpeg[2:]


def with_chunk(webp: bytes, kind: bytes, content: bytes) -> bytes:
    """Return a WebP in the extended form with one more chunk at its end."""
    body = webp[12:] + kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body
