"""Storage in memory, for ``memory:`` and for tests; it is the reference for other storages.

Records are lost when the process ends.

From the outside in: :mod:`storage` runs work on the repositories, which are in :mod:`records`, :mod:`sessions`,
:mod:`changes` and :mod:`publication`; :mod:`tables` is what they read, and the journal through which they change it.
What their methods do is said by the ports.
"""

from logoadmin.adapters.memory_storage.storage import MemoryStorage

__all__ = ["MemoryStorage"]
