"""Pinned imports: the copies that readers get of the style sheets that artworks import (contract L5).

:mod:`trees` fetches an imported sheet with everything that it imports, :mod:`pins` decides what a record keeps of it,
:mod:`pinned` puts the copies into the CSS of a record, and :mod:`differences` compares two of them.
"""
