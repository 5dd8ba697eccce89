"""Reads a published gallery from anywhere, and believes only what its key signed (contract L6).

``reader.js`` beside this module is the same for browsers, extensions and Node::

    from logoadmin import reader

    gallery = reader.open("https://gallery.example/gallery/", key={"kty": "OKP", "crv": "Ed25519", "x": "..."})
    for theme in gallery.themes(target="forum"):
        print(theme["name"], gallery.css("theme", theme["theme_id"]))

It needs the package httpx2, which the extra ``client`` of logoadmin includes.
"""

from logoadmin.reader.gallery import Gallery, open_gallery
from logoadmin.reader.signatures import ReaderError

# The name is that of the contract.
open = open_gallery

__all__ = ["Gallery", "ReaderError", "open"]
