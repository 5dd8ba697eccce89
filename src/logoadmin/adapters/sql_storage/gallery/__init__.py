"""The links between artworks and authors."""
