"""Notices about proposals and blocks: content, timing, number and receivers (contract R6)."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from logoadmin import ActingAs, AmendLogo, AmendUser, ApplyChanges, BlockLogo, CreateLogo, Policy, RevertRequest
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import proposal_commands as commands
from logoadmin.domain.kernel.errors import OutgoingError, StorageUnavailable
from logoadmin.domain.kernel.use_cases import behind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.conftest import STORAGES
from tests.gallery import ADMIN_ID, ARTWORK, FrozenClock, failure, gallery_on, stock

pytestmark = pytest.mark.rule("contract R6")

DISCORD: Final = "https://discord.test/api/webhooks/1/secret-of-discord"
SLACK: Final = "https://slack.test/services/T/B/secret-of-slack"
CHANGE: Final[dict[str, Any]] = {"kind": "author", "create": {"user_id": 90, "username": "New"}}
ADMIN: Final = ActingAs(ADMIN_ID)


@dataclass
class Receivers:
    """Stands in for the receivers, which respond as a test wants."""

    answers: dict[str, Callable[[], int]] = field(default_factory=dict)
    got: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def post(self, url: str, content: bytes, *, seconds: float) -> int:
        assert seconds <= 10
        self.got.append((url, json.loads(content)))
        return self.answers.get(url, lambda: 204)()

    def events(self, url: str = DISCORD) -> list[str]:
        return [body["event"] for to, body in self.got if to == url]


@pytest.fixture
def receivers() -> Receivers:
    return Receivers()


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock, receivers: Receivers) -> LogoAdmin:
    """A stocked gallery that notifies two receivers, without notices yet."""
    return notifying(storage, clock, receivers)


def opened(storage: Storage, clock: FrozenClock, receivers: Receivers, *urls: str) -> LogoAdmin:
    return gallery_on(storage, clock, Policy.GUARDED, receivers=receivers, notify_urls=urls)


def notifying(storage: Storage, clock: FrozenClock, receivers: Receivers) -> LogoAdmin:
    gallery = opened(storage, clock, receivers, DISCORD, SLACK)
    stock(gallery)
    clock.pass_by(60)
    gallery.notices.send_due()
    receivers.got.clear()
    return gallery


def later(gallery: LogoAdmin, clock: FrozenClock, seconds: int = 11) -> None:
    clock.pass_by(seconds)
    gallery.notices.send_due()


def proposed(gallery: LogoAdmin, title: str = "For the wiki") -> int:
    values: dict[str, Any] = {"title": title, "changes": [CHANGE]}
    return gallery.proposals.propose(commands.ProposeChanges(**values), ADMIN).proposal_id


@pytest.mark.parametrize("kind", STORAGES)
def test_each_step_of_a_proposal_and_each_block_is_announced_once(
    request: pytest.FixtureRequest, kind: str, receivers: Receivers
) -> None:
    clock = FrozenClock()
    gallery = notifying(request.getfixturevalue(f"{kind}_storage"), clock, receivers)
    id_ = proposed(gallery)
    later(gallery, clock)
    gallery.proposals.decline(commands.DeclineProposal(proposal_id=id_, reason="not now"), ADMIN)
    later(gallery, clock)
    gallery.proposals.amend(commands.AmendProposal(proposal_id=id_, note="better"), ADMIN)
    later(gallery, clock)
    gallery.proposals.apply(commands.ApplyProposal(proposal_id=id_), ActingAs(ADMIN_ID, "applied"))
    later(gallery, clock)
    gallery.changes.revert_request(RevertRequest(request_id="applied"), ADMIN)
    later(gallery, clock)
    gallery.logos.block(BlockLogo(logo_id=1, reason="It covers the form"))
    later(gallery, clock)
    later(gallery, clock, 3_600)
    steps = ("waiting", "declined", "waiting", "applied", "waiting")
    expected = [*(f"proposal.{step}" for step in steps), "artwork.blocked"]
    assert receivers.events(DISCORD) == receivers.events(SLACK) == expected
    bodies = [body for to, body in receivers.got if to == DISCORD]
    assert [body["text"].splitlines()[0] for body in bodies] == [
        "admin submitted “For the wiki”",
        "admin declined “For the wiki” by admin",
        "admin submitted “For the wiki”",
        "admin applied “For the wiki” by admin",
        "admin undid “For the wiki” by admin, which waits again",
        "Somebody blocked logo “Aurora”: It covers the form",
    ]
    for body, path in zip(bodies, (*5 * (f"submissions/{id_}",), "logos/1"), strict=True):
        assert set(body) == {"content", "text", "event", "url"}
        assert body["url"] == f"{gallery.public_url.base}/console/{path}"
        assert body["content"].endswith(body["url"])
        assert body["text"].endswith(body["url"])


def test_a_decision_that_is_undone_within_ten_seconds_is_not_announced(
    gallery: LogoAdmin, clock: FrozenClock, receivers: Receivers
) -> None:
    withdrawn = proposed(gallery)
    gallery.proposals.withdraw(commands.WithdrawProposal(proposal_id=withdrawn), ADMIN)
    applied = proposed(gallery)
    later(gallery, clock)
    receivers.got.clear()
    gallery.proposals.apply(commands.ApplyProposal(proposal_id=applied), ActingAs(ADMIN_ID, "the request"))
    later(gallery, clock, 5)
    gallery.changes.revert_request(RevertRequest(request_id="the request"), ADMIN)
    gallery.logos.block(BlockLogo(logo_id=1, reason="by mistake"))
    gallery.logos.amend(AmendLogo(logo_id=1, active=True, unblock=True))
    later(gallery, clock)
    assert receivers.got == []


def unreachable() -> int:
    raise OutgoingError("discord.test", "cannot be reached")


@pytest.mark.parametrize("answer", [lambda: 500, lambda: 404, lambda: 302, unreachable])
def test_a_failing_receiver_is_tried_three_times_in_ten_minutes_without_delaying_others(
    gallery: LogoAdmin, clock: FrozenClock, receivers: Receivers, caplog: pytest.LogCaptureFixture, answer: Any
) -> None:
    receivers.answers[DISCORD] = answer
    caplog.clear()
    proposed(gallery)
    with caplog.at_level(logging.WARNING, "logoadmin.notices"):
        for _ in range(300):
            later(gallery, clock, 2)
        assert len(receivers.events(DISCORD)) == 3
        for _ in range(300):
            later(gallery, clock, 60)
    assert len(receivers.events(DISCORD)) == 3
    assert receivers.events(SLACK) == ["proposal.waiting"]
    assert len(caplog.records) == 3
    assert caplog.messages[-1].endswith("giving up")
    assert "secret" not in caplog.text


def test_a_failing_receiver_is_tried_once_a_round_and_gets_every_notice(
    gallery: LogoAdmin, clock: FrozenClock, receivers: Receivers
) -> None:
    receivers.answers[DISCORD] = unreachable
    for _ in range(5):
        proposed(gallery)
    later(gallery, clock)
    assert (len(receivers.events(DISCORD)), len(receivers.events(SLACK))) == (1, 5)
    receivers.answers.clear()
    later(gallery, clock, 60)
    assert (len(receivers.events(DISCORD)), len(receivers.events(SLACK))) == (6, 5)


class Crash(BaseException):
    """The end of a process."""


def test_after_a_crash_a_notice_is_sent_at_most_once_more_and_never_lost(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, receivers: Receivers
) -> None:
    proposed(gallery)

    def crash() -> int:
        raise Crash

    receivers.answers[DISCORD] = crash
    clock.pass_by(11)
    with pytest.raises(Crash):
        gallery.notices.send_due()
    receivers.answers.clear()
    another = opened(storage, clock, receivers, DISCORD)
    later(another, clock, 600)
    later(another, clock, 600)
    assert len(receivers.events()) == 2


def test_two_processes_send_a_notice_once(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, receivers: Receivers
) -> None:
    other = opened(storage, clock, receivers, DISCORD)
    proposed(gallery)
    clock.pass_by(11)

    def meanwhile() -> int:
        other.notices.send_due()
        return 204

    receivers.answers[DISCORD] = meanwhile
    gallery.notices.send_due()
    assert len(receivers.events()) == 1


def test_mentions_and_formatting_are_harmless_and_long_texts_are_cut(
    gallery: LogoAdmin, clock: FrozenClock, receivers: Receivers
) -> None:
    gallery.users.amend(AmendUser(user_id=7, username="@everyone"))
    proposed(gallery, "<!channel> @here <@123> [x](https://evil.test) **b** & " + "x" * 100)
    gallery.logos.amend(AmendLogo(logo_id=1, name="@all " + "y" * 120))
    gallery.logos.block(BlockLogo(logo_id=1, reason="<script> & @channel"))
    names = ["*" * 128] * 20
    made = [gallery.logos.create(CreateLogo(**{**ARTWORK, "name": name})).logo_id for name in names]
    blocks = [{"kind": "logo", "id": id_, "version": 10**6, "block": {"reason": "_" * 200}} for id_ in made]
    gallery.bulk.apply(ApplyChanges(changes=blocks))  # type: ignore[arg-type]  # as from JSON
    later(gallery, clock)
    assert len(receivers.got) >= 3
    for _, body in receivers.got:
        text, content = (body[name].rpartition("\n")[0] for name in ("text", "content"))
        mentions = [f"@{name}" for name in ("everyone", "here", "all", "channel", "123")]
        assert not [each for each in (*mentions, "<", "](") if each in text or each in content]
        assert ("**" in content, " & " in text, len(body["content"]) < 2_000) == (False, False, True)


def test_without_urls_nothing_is_stored_or_sent_to_a_former_url(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, receivers: Receivers
) -> None:
    proposed(gallery)
    silent = opened(storage, clock, receivers)
    assert not silent.notices.is_needed
    proposed(silent)
    later(opened(storage, clock, receivers, "https://other.test/"), clock)
    assert receivers.got == []
    assert storage.read(lambda uow: uow.notices.due(2**40)) is None


def test_no_secret_is_in_a_body_in_storage_or_in_a_repr(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, receivers: Receivers
) -> None:
    gallery.proposals.decline(commands.DeclineProposal(proposal_id=proposed(gallery), reason="a private reason"), ADMIN)
    stored = storage.read(lambda uow: uow.notices.due(2**40))
    assert stored is not None
    later(gallery, clock)
    sent = json.dumps([body for _, body in receivers.got])
    assert "secret" not in f"{stored}{gallery._rules!r}{sent}"
    assert "private reason" not in sent


def test_a_database_outage_does_not_count_as_a_failure_of_the_receiver(
    gallery: LogoAdmin, clock: FrozenClock, receivers: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed(gallery)
    clock.pass_by(11)

    class Away(MemoryStorage):
        def read(self, work: Callable[[UnitOfWork], Any]) -> Any:  # noqa: ARG002 (it is away)
            raise StorageUnavailable("db:1")

    monkeypatch.setattr(behind(gallery.notices), "storage", Away())
    assert failure(gallery.notices.send_due) is StorageUnavailable
    assert receivers.got == []


def test_a_trial_reaches_every_url(gallery: LogoAdmin, receivers: Receivers) -> None:
    receivers.answers[SLACK] = lambda: 404
    assert [*gallery.notices.trials()] == ["", "it responds with status 404"]
    assert [urlsplit(to).hostname for to, _ in receivers.got] == ["discord.test", "slack.test"]
