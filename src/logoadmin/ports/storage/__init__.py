"""Storing records.

Two adapters of these ports cannot be told apart by what they answer: the order, the ids, the errors and their texts
are all said here, and ``tests/contracts`` holds every adapter to them.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).

There is one write of records at a time: from the first to the last step of its work nobody else changes a record, and
it sees all that was stored before. So what a write has read of records stays true until its end, changes are numbered
in the order in which they are stored, and no record has to be locked. The same holds for sessions, which have a lock of
their own: what a write of records has read of them counts from its beginning.

From the outside in: :mod:`storage` runs work on a unit of work, which holds the repositories, which are in
:mod:`records`, :mod:`sessions` and :mod:`changes`.
"""

from logoadmin.ports.storage.changes import Changes, StoredResponse, StoredResponses
from logoadmin.ports.storage.records import Credentials, Links, Passwords, Records
from logoadmin.ports.storage.sessions import Secrets, ServiceKeys, Session, Sessions, SignInAttempts
from logoadmin.ports.storage.storage import RecordsOf, Storage, StorageLifecycle, UnitOfWork, WouldBlock, WriteLock

__all__ = [
    "Changes",
    "Credentials",
    "Links",
    "Passwords",
    "Records",
    "RecordsOf",
    "Secrets",
    "ServiceKeys",
    "Session",
    "Sessions",
    "SignInAttempts",
    "Storage",
    "StorageLifecycle",
    "StoredResponse",
    "StoredResponses",
    "UnitOfWork",
    "WouldBlock",
    "WriteLock",
]
