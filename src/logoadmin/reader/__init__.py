"""Read a published gallery from anywhere, and trust only data signed by its key (contract L6).

``reader.js`` in this package does the same in browsers, extensions and Node::

    from logoadmin import reader

    gallery = reader.open("https://gallery.example/gallery/", key={"kty": "OKP", "crv": "Ed25519", "x": "..."})
    for theme in gallery.themes(target="forum"):
        print(theme["name"], gallery.css(theme))

It needs the packages cryptography and httpx2, which the extra ``client`` of logoadmin includes. The package
logoadmin-reader has the same modules as ``logoadmin_reader``, without the rest of logoadmin.
"""

# Relative imports, so that the modules work under both names.
from .gallery import Gallery, open_gallery
from .signatures import ReaderError

# The name that the contract requires.
open = open_gallery

__all__ = ["Gallery", "ReaderError", "open"]
