"""Storage in memory, for ``memory:`` and for tests; it is the reference for other storages.

Records are lost when the process ends.

From the outside in: :mod:`storage` runs functions on the repositories in :mod:`records`, :mod:`identity`,
:mod:`gallery` and :mod:`proposals`; :mod:`tables` has their data, and the journal that undoes changes. The ports
document their methods.
"""

from logoadmin.adapters.memory_storage.storage import MemoryStorage

__all__ = ["MemoryStorage"]
