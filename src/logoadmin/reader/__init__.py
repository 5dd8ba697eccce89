"""Reads a published gallery from anywhere, and believes only what its key signed (contract L6).

``reader.js`` beside this module is the same for browsers, extensions and Node::

    from logoadmin import reader

    gallery = reader.open("https://gallery.example/gallery/", key={"kty": "OKP", "crv": "Ed25519", "x": "..."})
    for theme in gallery.themes(target="forum"):
        print(theme["name"], gallery.css(theme))

It needs the packages cryptography and httpx2: the extra ``client`` of logoadmin includes them. The package
logoadmin-reader has the same modules without the rest of logoadmin, as ``logoadmin_reader``.
"""

# Relative imports, so that the modules work under both names.
from .gallery import Gallery, open_gallery
from .signatures import ReaderError

# The name is that of the contract.
open = open_gallery

__all__ = ["Gallery", "ReaderError", "open"]
