"""When the gallery was last backed up, and published into a folder, for those who watch its age (contract K2)."""

from typing import get_args

from logoadmin.ports.kernel.metrics import Milestone
from logoadmin.ports.storage import Storage, UnitOfWork


def record(storage: Storage, milestone: Milestone, now: int) -> None:
    """Record that something was done at a Unix time, among the secrets, where every process finds it.

    Raises:
        StorageUnavailable: the database is out of reach.
    """
    name = f"{milestone}_at"

    def write(uow: UnitOfWork) -> None:
        if uow.secrets.get(name) is None:
            uow.secrets.put(name, str(now))
        else:
            uow.secrets.replace(name, str(now))

    storage.write(write)


def recorded(storage: Storage) -> dict[Milestone, int]:
    """Return the Unix time of each milestone, 0 before the first.

    Raises:
        StorageUnavailable: the database is out of reach.
    """
    milestones: tuple[Milestone, ...] = get_args(Milestone)
    return storage.read(lambda uow: {each: int(uow.secrets.get(f"{each}_at") or 0) for each in milestones})
