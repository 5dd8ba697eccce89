"""Pictures with Pillow, an optional package (contract P1)."""

from threading import Lock

from logoadmin.ports.pictures import ConvertedPicture


class PillowPictures:
    """Implements :class:`~logoadmin.ports.pictures.PictureCodec`."""

    def __init__(self) -> None:
        self._lock = Lock()

    def cost(self, content: bytes) -> int:
        from logoadmin.adapters.pillow_pictures import codec

        return codec.cost(content)

    def convert(self, content: bytes) -> ConvertedPicture:
        from logoadmin.adapters.pillow_pictures import codec

        with self._lock:
            return codec.convert(content)

    def read(self, content: bytes) -> ConvertedPicture:
        from logoadmin.adapters.pillow_pictures import codec

        with self._lock:
            return codec.read(content)
