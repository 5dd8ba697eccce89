"""Pictures with Pillow, an optional package (contract P1)."""

from logoadmin.adapters.pillow_pictures.codec import PillowPictures

__all__ = ["PillowPictures"]
