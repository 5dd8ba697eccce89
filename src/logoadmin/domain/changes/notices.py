"""Notices in Discord, Slack, Mattermost and others, about proposals and blocks (contract R6).

A notice is stored in the transaction of its event, one row for each receiver, and sent later by one process.
Members read their own in :mod:`~logoadmin.domain.changes.member_notices`.
"""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from logoadmin.domain.isolated_names import isolated
from logoadmin.domain.kernel.access import stored_hash
from logoadmin.domain.kernel.act_log import BLOCKED, BLOCKED_FIELD
from logoadmin.domain.kernel.change_log import ChangeLog
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.kinds import KINDS, USERS
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, history_in, notices_in
from logoadmin.domain.kernel.use_cases import Service, behind, for_program, storage_of
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.outgoing import PostingOutgoing
from logoadmin.ports.proposal_storage import NoticeEvent, ProposalState, StoredNotice, StoredProposal
from logoadmin.ports.storage import UnitOfWork

log = logging.getLogger("logoadmin.notices")

# Decisions can be undone in the console for this many seconds before notices of them are sent (contract R4).
NOTICE_DELAY: Final = 10
# The seconds from each attempt to the next; after the last one, until a crash during that attempt is noticed.
_RETRIES: Final = (60, 300, 300)
_SECONDS: Final = 5.0  # for a request
# How long notices for a receiver wait after it failed.
_PAUSE: Final = 10
_PROPOSAL: Final = "proposal"
_EVENTS: Final[Mapping[ProposalState, NoticeEvent]] = {
    ProposalState.WAITING: "proposal.waiting",
    ProposalState.APPLIED: "proposal.applied",
    ProposalState.DECLINED: "proposal.declined",
}
# Discord accepts at most 2,000 characters: the URL, and these, which escapes may double.
_MOST_SHOWN: Final = 900
_TRIAL: Final = "A trial of logoadmin: notices arrive here"
# Characters that begin a mention or format text in Discord and Mattermost.
_HARMLESS: Final = str.maketrans({"@": "@\u200b", "#": "#\u200b", "<": "\u2039", ">": "\u203a"})
_FORMATTING: Final = str.maketrans({mark: f"\\{mark}" for mark in "\\*_~`|[]()"})
# Mattermost reads ``text`` as Markdown: with this, brackets begin neither links nor pictures.
_TEXT: Final = str.maketrans({"&": "&amp;", "]": "]\u200b"})


class Notices:
    """The notices for some receivers; without receivers, nothing is stored."""

    def __init__(self, urls: Sequence[str], console_url: str) -> None:
        """Send notices to these URLs, each of which is a secret, with links to the console."""
        self.receivers: Mapping[str, str] = {stored_hash("receiver", url): url for url in urls}
        self._console = console_url

    def of_proposal(self, uow: AuditedUnitOfWork, proposal: StoredProposal) -> None:
        """Store a notice that a proposal waits, or was applied or declined."""
        event = _EVENTS.get(proposal.state)
        if event is None or not self.receivers:
            return
        submitter, title = _name(uow, proposal.user_id, proposal.user_since), f"“{isolated(proposal.title)}”"
        if proposal.state is ProposalState.WAITING:
            undoing = None if proposal.undone_change is None else history_in(uow).get(proposal.undone_change)
            text = f"{submitter} submitted {title}"
            if undoing is not None:
                text = f"{_name(uow, undoing.user_id)} undid {title} by {submitter}, which waits again"
        else:
            text = f"{_name(uow, proposal.decided_by)} {proposal.state} {title} by {submitter}"
        self._add(uow, event, _PROPOSAL, proposal.proposal_id, text, uow.now)

    def follow(self, uow: UnitOfWork, _log: ChangeLog, changes: Sequence[Change], *, final: bool) -> None:  # noqa: ARG002 (as the protocol says)
        """Store a notice of blocked artworks, one for all that were blocked together."""
        blocked = [each for each in changes if each.action == f"{each.kind}.{BLOCKED}" and each.after is not None]
        if not blocked or not self.receivers:
            return
        first = blocked[0]
        names = ", ".join(f"{each.kind} “{isolated((each.after or {})['name'])}”" for each in blocked)
        text = f"{_name(uow, first.user_id)} blocked {names}: {(first.after or {})[BLOCKED_FIELD]}"
        self._add(uow, "artwork.blocked", first.kind, first.id, text, first.at)

    def body(self, event: str, text: str, path: str) -> bytes:
        """Return the body for any receiver: Discord shows ``content``, Slack and others show ``text``."""
        url = f"{self._console}{path}"
        plain = " ".join(text.split()).translate(_HARMLESS)
        shown = {"content": f"{plain.translate(_FORMATTING)}\n{url}", "text": f"{plain.translate(_TEXT)}\n{url}"}
        return json.dumps({**shown, "event": event, "url": url}).encode()

    def _add(self, uow: AnyUnitOfWork, event: NoticeEvent, kind: str, id_: int, text: str, now: int) -> None:
        for receiver in self.receivers:
            new = StoredNotice(
                notice_id=notices_in(uow).next_id(),
                receiver=receiver,
                event=event,
                kind=kind,
                id=id_,
                text=text[:_MOST_SHOWN],
                due_at=now + NOTICE_DELAY,
                attempts=0,
            )
            notices_in(uow).add(new)


class NoticeSender(Service):
    """Sends notices that are due. Several processes may do so: a write claims each attempt before it is made."""

    def __init__(self, transactions: Transactions, notices: Notices, outgoing: PostingOutgoing | None) -> None:
        super().__init__(transactions)
        self._notices, self._outgoing = notices, outgoing

    @property
    def is_needed(self) -> bool:
        """Whether there are receivers, and a way to send."""
        return bool(self._notices.receivers) and self._outgoing is not None

    @for_program
    def send_due(self) -> None:
        """Send the notices that are due, one after the other (contract R6).

        After a failure, a receiver waits for a later round, so that one that hangs delays the others only once.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        failed: set[str] = set()
        while storage_of(self).read(lambda uow: uow.notices.due(behind(self).clock.now())) is not None:
            notice = storage_of(self).write(partial(self._claim, failed=failed))
            if notice is not None and not self._send(notice):
                failed.add(notice.receiver)

    @for_program
    def trials(self) -> Iterator[str]:
        """Send a test notice to each receiver in turn; yield why it failed, or an empty text."""
        for url in self._notices.receivers.values():
            yield self._post(url, self._notices.body("trial", _TRIAL, ""))

    def _claim(self, uow: UnitOfWork, failed: Collection[str]) -> StoredNotice | None:
        """Claim the next notice, which is retried later unless it is removed; None if it need not be sent."""
        notice = uow.notices.due(behind(self).clock.now())
        if notice is None:
            return None
        is_wanted = notice.attempts < len(_RETRIES) and notice.receiver in self._notices.receivers
        if not (is_wanted and _is_current(uow, notice)):
            uow.notices.remove(notice.notice_id)
            return None
        has_failed, now = notice.receiver in failed, behind(self).clock.now()
        due_at = now + (_PAUSE if has_failed else _RETRIES[notice.attempts])
        uow.notices.attempt(notice.notice_id, due_at, notice.attempts + (not has_failed))
        return None if has_failed else notice

    def _send(self, notice: StoredNotice) -> bool:
        """Send a notice; return whether its receiver accepted it."""
        path = f"{'submissions' if notice.kind == _PROPOSAL else KINDS[Kind(notice.kind)].plural}/{notice.id}"
        body = self._notices.body(notice.event, notice.text, path)
        failure = self._post(self._notices.receivers[notice.receiver], body)
        is_last = notice.attempts + 1 == len(_RETRIES)
        if failure:
            number = [*self._notices.receivers].index(notice.receiver) + 1
            log.warning("A notice to URL %d of notify_urls failed: %s%s", number, failure, "; giving up" * is_last)
        if not failure or is_last:
            storage_of(self).write(lambda uow: uow.notices.remove(notice.notice_id))
        return not failure

    def _post(self, url: str, body: bytes) -> str:
        """Return why a receiver did not accept a body; an empty text if it did."""
        if self._outgoing is None:
            return "logoadmin[client] is not installed"
        try:
            status = self._outgoing.post(url, body, seconds=_SECONDS)
        except OutgoingError as error:
            return str(error)
        return "" if 200 <= status < 300 else f"it responds with status {status}"


def _name(uow: AnyUnitOfWork, user_id: int | None, since: int | None = None) -> str:
    """Return the name of a user; ``since`` is the change that created them, unless they are the caller."""
    user = None if user_id is None else uow.records(USERS).get(user_id)
    is_known = user is not None and since in (None, creation_of(history_in(uow), user.user_id))
    return isolated(user.username) if user is not None and is_known else "Somebody"


def _is_current(uow: UnitOfWork, notice: StoredNotice) -> bool:
    """Return whether a notice still describes its subject: the decision or block may have been undone in time."""
    if notice.kind != _PROPOSAL:
        kind = Kind(notice.kind)
        return any(each.reason is not None for each in uow.withdrawals.get_many(kind, [notice.id]))
    proposal = uow.proposals.get(notice.id)
    return proposal is not None and _EVENTS.get(proposal.state) == notice.event
