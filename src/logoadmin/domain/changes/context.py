"""The context of changes: its services, and its additions to every write (contract G, I, J7, R)."""

from collections.abc import Mapping
from typing import Any, Final

from logoadmin.domain.changes import change_list, import_export, member_notices, proposal_commands
from logoadmin.domain.changes.acts import ActService
from logoadmin.domain.changes.bulk_changes import BulkService
from logoadmin.domain.changes.history import ChangeService
from logoadmin.domain.changes.import_export import ImportExportService
from logoadmin.domain.changes.member_notices import MemberNoticeService
from logoadmin.domain.changes.notices import Notices, NoticeSender
from logoadmin.domain.changes.proposal_states import forget_unapplied
from logoadmin.domain.changes.proposals import DAY, ProposalService
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Auditing
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.storage import Storage, UnitOfWork

# The modules with the results of its use cases, which are stored for repeated commands.
ANSWERS: Final = (change_list, import_export, proposal_commands, member_notices)


class ChangesContext:
    """The services of the history, of proposals, and of imports and exports."""

    changes: ChangeService
    acts: ActService
    bulk: BulkService
    proposals: ProposalService
    notices: NoticeSender
    member_notices: MemberNoticeService
    import_export: ImportExportService

    def connect_changes(
        self,
        transactions: Transactions,
        of_kinds: Mapping[Kind, Any],
        notices: Notices,
        new_passwords: NewPasswords,
        ports: Ports,
        public_url: PublicUrl,
    ) -> None:
        """Create the services, which change records through the services of their kinds."""
        own_host = public_url.origin.partition("://")[2]
        self.changes = ChangeService(transactions, notices)
        self.acts = ActService(transactions)
        self.bulk = BulkService(transactions, new_passwords, of_kinds)
        self.proposals = ProposalService(transactions, of_kinds, notices, own_host)
        self.notices = NoticeSender(transactions, notices, ports.receivers)
        self.member_notices = MemberNoticeService(transactions)
        self.import_export = ImportExportService(transactions, new_passwords)


def auditing(notices: Notices) -> Auditing:
    """Return the additions to every write: notices of blocks."""
    return Auditing(subscribers=[notices.follow])


def sweep(storage: Storage, now: int, most: int, proposal_days: int) -> bool:
    """Remove the texts of up to ``most`` proposals that were not applied; return whether more may be left."""
    decided_until, swept = now - proposal_days * DAY, False

    def work(uow: UnitOfWork) -> None:
        nonlocal swept
        swept = forget_unapplied(uow, decided_until, most)

    if storage.read(lambda uow: bool(uow.proposals.unapplied(decided_until, 1))):
        storage.try_write(work)
    return swept
