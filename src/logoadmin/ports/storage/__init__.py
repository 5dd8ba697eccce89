"""Storage: the unit of work and its repositories.

Adapters of these ports behave identically: order, ids, errors and their texts are specified here, and
``tests/contracts`` tests them on every adapter.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).

There is one write of records at a time: no other write changes a record between its first and its last step, and it
sees all earlier writes. Therefore the records that it has read stay the same until its end, changes are numbered in the
order in which they are stored, and no record has to be locked. The same holds for sessions, which have a lock of their
own: a write of records sees them as they were at its beginning.

:mod:`storage` runs work on a unit of work, which has the repositories of :mod:`records`, :mod:`sessions`,
:mod:`signing_in`, :mod:`changes` and :mod:`publication`.
"""

from logoadmin.ports.identity.session_storage import (
    Preferences,
    Secrets,
    ServiceKeys,
    Session,
    Sessions,
    SignInAttempts,
)
from logoadmin.ports.identity.sign_in_storage import (
    Challenge,
    ChallengePurpose,
    Challenges,
    Events,
    Factor,
    FactorKind,
    Factors,
    Identities,
    Identity,
    RecoveryCodes,
    SecondFactorSince,
)
from logoadmin.ports.kernel.change_storage import Changes, StoredResponse, StoredResponses
from logoadmin.ports.kernel.record_storage import Credentials, Links, Passwords, Records
from logoadmin.ports.publication.publication_storage import Indexes, Pin, Pins, PublishedIndex, Withdrawal, Withdrawals
from logoadmin.ports.storage.storage import RecordsOf, Storage, StorageLifecycle, UnitOfWork, WriteLock

__all__ = [
    "Challenge",
    "ChallengePurpose",
    "Challenges",
    "Changes",
    "Credentials",
    "Events",
    "Factor",
    "FactorKind",
    "Factors",
    "Identities",
    "Identity",
    "Indexes",
    "Links",
    "Passwords",
    "Pin",
    "Pins",
    "Preferences",
    "PublishedIndex",
    "Records",
    "RecordsOf",
    "RecoveryCodes",
    "SecondFactorSince",
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
    "Withdrawal",
    "Withdrawals",
    "WriteLock",
]
