"""The ports behind a unit of work, for the contexts that own them (contract G).

A use case is given records alone, and changes them through the history. What is not in the history, such as sessions
and events, is reached through these functions; what is in it has wrappers in the contexts. Which
context uses which is a table in ``tests/domain/kernel/test_audit.py``.
"""

from logoadmin.domain.kernel.audited_unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, written_to
from logoadmin.domain.kernel.read_unit_of_work import ReadUnitOfWork, read_from
from logoadmin.ports.changes.notice_storage import Notices
from logoadmin.ports.changes.proposal_storage import Proposals
from logoadmin.ports.gallery.gallery_storage import GalleryStorage
from logoadmin.ports.identity.identity_storage import IdentityStorage
from logoadmin.ports.kernel.act_storage import Acts
from logoadmin.ports.kernel.change_storage import ReadsChanges
from logoadmin.ports.kernel.secret_storage import Secrets
from logoadmin.ports.publication.publication_storage import PublicationStorage
from logoadmin.ports.storage import UnitOfWork


def repositories_in(uow: AnyUnitOfWork) -> UnitOfWork:
    """Return the repositories of a transaction."""
    if isinstance(uow, AuditedUnitOfWork):
        return written_to(uow)
    return read_from(uow) if isinstance(uow, ReadUnitOfWork) else uow


def history_in(uow: AnyUnitOfWork) -> ReadsChanges:
    """Return the history, to be read."""
    return repositories_in(uow).changes


def acts_in(uow: AnyUnitOfWork) -> Acts:
    """Return the acts of the history, which the change log stores."""
    return repositories_in(uow).acts


def secrets_in(uow: AnyUnitOfWork) -> Secrets:
    """Return the secrets of the service."""
    return repositories_in(uow).secrets


def identity_in(uow: AnyUnitOfWork) -> IdentityStorage:
    """Return the repositories of identity."""
    return repositories_in(uow).identity


def gallery_in(uow: AnyUnitOfWork) -> GalleryStorage:
    """Return the repositories of the gallery."""
    return repositories_in(uow).gallery


def publication_in(uow: AnyUnitOfWork) -> PublicationStorage:
    """Return the repositories of the published gallery."""
    return repositories_in(uow).publication


def proposals_in(uow: AnyUnitOfWork) -> Proposals:
    """Return the proposals."""
    return repositories_in(uow).proposals


def notices_in(uow: AnyUnitOfWork) -> Notices:
    """Return the notices that are still to be sent."""
    return repositories_in(uow).notices
