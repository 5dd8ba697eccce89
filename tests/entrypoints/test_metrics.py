"""Metrics: the events that are counted, and their text."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Final

import httpx2
import pytest

import logoadmin
from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.changes.proposal_commands import DeclineProposal, ListProposals
from logoadmin.domain.gallery.picture_commands import GetPicture, ListPictures, RemovePicture
from logoadmin.domain.gallery.pictures import DEFAULT_SPACE
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.kernel.errors import SignInRefused, StorageUnavailable, TooManySignIns
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.cli.serve import _metrics_hosts
from logoadmin.entrypoints.server import listen, metrics_served, url_of
from logoadmin.extras import install_extra
from logoadmin.settings import settings_of
from tests.asgi import AppClient, ask
from tests.gallery import ADMIN_PASSWORD, stock
from tests.mariadb import free_port
from tests.series import Samples, all_series, samples
from tests.services import comes_true, service, workers_of

pytestmark = pytest.mark.rule("contract K2")

DOCS: Final = Path(__file__).parents[2] / "docs" / "watch.md"


def watched(gallery: LogoAdmin) -> Samples:
    return samples(logoadmin.metrics(gallery))


def outcomes(samples: Samples, name: str) -> Samples:
    """Return how often each outcome of a series was met, those that were not left out."""
    found = {key.partition('outcome="')[2][:-2]: value for key, value in samples.items() if key.startswith(f"{name}{{")}
    return {outcome: value for outcome, value in found.items() if value}


@pytest.fixture
def own() -> LogoAdmin:
    """A gallery whose counters nobody else has."""
    gallery = logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD)
    stock(gallery)
    return gallery


@pytest.fixture
def client(own: LogoAdmin) -> AppClient:
    return AppClient(logoadmin.asgi(own), "http://127.0.0.1:8000")


def test_requests_are_counted_by_operation_and_status_with_their_time_and_bytes(
    own: LogoAdmin, client: AppClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError

    read = [client.get("/api/logos/1").content for _ in range(3)]
    made = client.post("/api/authors", json={"user_id": 77, "username": "Zoe"})
    for method, path in (("GET", "/api/logos/999"), ("PUT", "/api/logos/1"), ("GET", "/nowhere")):
        client.request(method, path)
    with monkeypatch.context() as patch:
        patch.setattr(own, "data_version", fail)
        assert ask(client.app, "GET", "/api/logos").status_code == 500
    found = watched(own)
    requests = "logoadmin_http_requests_total"
    assert {key: value for key, value in found.items() if key.startswith(requests)} == {
        f'{requests}{{operation="get_logo",status="200"}}': 3,
        f'{requests}{{operation="get_logo",status="404"}}': 1,
        f'{requests}{{operation="create_author",status="201"}}': 1,
        f'{requests}{{operation="other",status="405"}}': 1,
        f'{requests}{{operation="other",status="404"}}': 1,
        f'{requests}{{operation="list_logos",status="500"}}': 1,
    }
    assert found["logoadmin_http_request_seconds_count"] == 8
    assert 0 < found["logoadmin_http_request_seconds_sum"] < 10
    assert found["logoadmin_http_requests_in_flight"] == 0
    assert found["logoadmin_http_request_bytes_total"] == len(made.request.content)
    assert found["logoadmin_http_response_bytes_total"] > len(made.content) + sum(map(len, read))


@pytest.mark.rule("contract F2")
def test_cached_responses_are_counted_separately(own: LogoAdmin, client: AppClient) -> None:
    for _ in range(3):
        client.get("/api/logos/1")
    for _ in range(2):  # no public reads, or without a record
        for path in ("/livez", "/openapi.json", "/api/users", "/api/logos/9", "/api/logos?limit=0"):
            client.get(path)
    assert outcomes(watched(own), "logoadmin_response_cache_total") == {"miss": 1, "hit": 2}


def test_sign_ins_are_counted_by_outcome(own: LogoAdmin) -> None:
    own.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
    for _ in range(10):
        with pytest.raises(SignInRefused):
            own.sessions.sign_in(SignIn(username="admin", password="wrong"))
    with pytest.raises(TooManySignIns):
        own.sessions.sign_in(SignIn(username="admin", password="wrong"))
    assert outcomes(watched(own), "logoadmin_sign_ins_total") == {"ok": 1, "failed": 10, "refused": 1}


def test_database_calls_are_counted_by_outcome(own: LogoAdmin, tmp_path: Path) -> None:
    with logoadmin.connect(f"sqlite:///{tmp_path / 'gallery.db'}") as gallery:
        before = watched(gallery)
        gallery.check()
        after = watched(gallery)
    assert set(outcomes(after, "logoadmin_database_calls_total")) == {"ok"}
    # The second look also counts the calls of the first: the last change, the last backup, publication, proposals and
    # pictures.
    for name in ('logoadmin_database_calls_total{outcome="ok"}', "logoadmin_database_call_seconds_count"):
        assert after[name] == before[name] + 5
    with closing(open_sql_storage(f"mysql+pymysql://a:b@127.0.0.1:{free_port()}/c", metrics=own.metrics)) as storage:
        for _ in range(2):
            with pytest.raises(StorageUnavailable):
                storage.check()
    found = watched(own)
    counts = outcomes(found, "logoadmin_database_calls_total"), found["logoadmin_database_call_seconds_count"]
    assert counts == ({"out_of_reach": 2}, 2)


def test_without_the_database_its_metrics_are_missing(own: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> int:
        raise StorageUnavailable("db.example:3306")

    monkeypatch.setattr(own.changes, "version", away)
    names = ("last_change_id", "last_backup_timestamp_seconds", "proposals_waiting", "pictures")
    assert not {f"logoadmin_{name}" for name in names} & watched(own).keys()


def test_waiting_proposals_and_pictures_are_counted_with_their_age_and_size(own: LogoAdmin) -> None:
    (proposal,), (picture,) = own.proposals.list(ListProposals()), own.pictures.list(ListPictures())
    files = [own.pictures.get(GetPicture(picture=picture.picture, thumbnail=which))[0] for which in (False, True)]
    names = ("proposals_waiting", "pictures", "picture_bytes", "picture_space_bytes")
    found = watched(own)
    assert [found[f"logoadmin_{name}"] for name in names] == [1, 1, sum(map(len, files)), DEFAULT_SPACE]
    assert 0 <= found["logoadmin_oldest_proposal_seconds"] < 60
    own.proposals.decline(DeclineProposal(proposal_id=proposal.proposal_id, reason="No"))
    own.pictures.remove(RemovePicture(picture=picture.picture))
    found = watched(own)
    assert [found[f"logoadmin_{name}"] for name in names] == [0, 0, 0, DEFAULT_SPACE]
    assert found["logoadmin_oldest_proposal_seconds"] == 0


def test_a_worker_has_ended_if_another_user_has_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    (tmp_path / "counter_1.db").touch()

    def kill(pid: int, _signal: int) -> None:
        raise PermissionError(pid)

    monkeypatch.setattr(os, "kill", kill)
    assert PrometheusMetrics().text(1, "Memory")
    assert not (tmp_path / "counter_1.db").exists()


@pytest.mark.server("processes")
def test_totals_of_ended_workers_are_kept_without_gauges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    count = (
        "from logoadmin.adapters.prometheus_metrics import PrometheusMetrics as Metrics; m = Metrics();"
        "m.sign_in('ok'); m.request_started(); m.response('get_logo', '200', 5, 0.002, from_cache=False)"
    )
    shared = PrometheusMetrics()
    (tmp_path / "counter_999999.db").touch()  # of a worker that was killed as it began to count
    for restart in range(1, 4):
        subprocess.run([sys.executable, "-c", count], check=True)
        after = samples(shared.text(1, "Memory"))
        assert after['logoadmin_sign_ins_total{outcome="ok"}'] == restart
        assert after['logoadmin_http_requests_total{operation="get_logo",status="200"}'] == restart
        assert after['logoadmin_http_request_seconds_bucket{le="0.0025"}'] == restart
        assert after.get("logoadmin_http_requests_in_flight", 0) == 0


def test_the_last_backup_and_publication_are_in_the_text(own: LogoAdmin) -> None:
    names = ("logoadmin_last_backup_timestamp_seconds", "logoadmin_published_timestamp_seconds")
    assert [watched(own)[name] for name in names] == [0, 0]
    version = own.changes.version()
    for _ in range(2):
        own.record_milestone("last_backup")
    own.record_milestone("published")
    assert all(abs(watched(own)[name] - time.time()) < 600 for name in names)
    assert own.changes.version() == version


def test_without_the_package_nothing_is_counted_and_the_metrics_page_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "logoadmin.adapters.prometheus_metrics", None)
    gallery = logoadmin.connect(access="open")
    assert ask(logoadmin.asgi(gallery), "GET", "/api/logos").status_code == 200
    with pytest.raises(logoadmin.StartError, match=re.escape(install_extra("metrics"))):
        logoadmin.metrics(gallery)


def test_the_docs_list_exactly_the_series() -> None:
    written = re.findall(r"`(logoadmin_\w+)`", DOCS.read_text(encoding="utf-8"))
    assert sorted(written) == sorted(all_series())


# Of a service.


@pytest.mark.slow("processes are started and killed")
def test_the_totals_cover_all_workers_and_survive_a_killed_one(tmp_path: Path) -> None:
    read = 'logoadmin_http_requests_total{operation="list_logos",status="200"}'
    with service(tmp_path, "--workers", "2", LOGOADMIN_METRICS_PORT="0") as served:
        (metrics,) = (line.split()[-1] for line in served.printed if "etrics" in line)
        for _ in range(20):
            httpx2.get(f"{served.address}/api/logos", timeout=60)  # the workers are still starting
        comes_true(lambda: samples(httpx2.get(metrics).text).get(read) == 20)
        workers = sorted(workers_of(served.process.pid))
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        comes_true(lambda: len(workers_of(served.process.pid) - {workers[0]}) == 2)
        found = samples(httpx2.get(metrics).text)
        assert (found[read], found["logoadmin_http_requests_in_flight"]) == (20, 0)
        assert httpx2.get(metrics.removesuffix("metrics")).status_code == 404


@pytest.mark.server("a server in a thread")
@pytest.mark.rule("contract A22")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("127.0.0.1:9100", 200), ("localhost", 200), ("[::1]:9100", 200), ("192.0.2.7:9100", 200)),
        *(("Gallery.example.", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421)),
    ],
)
def test_metrics_respond_to_their_own_host_names(own: LogoAdmin, host: str, status: int) -> None:
    """A page whose name was made to lead here must not read them (DNS rebinding)."""
    texts = partial(logoadmin.metrics, own)
    with listen("127.0.0.1", 0) as listener, metrics_served(listener, texts, ["gallery.example"]):
        response = httpx2.get(f"{url_of(listener)}/metrics", headers={"host": host}, timeout=60)
        assert (response.status_code, "logoadmin_build_info" in response.text) == (status, status == 200)


@pytest.mark.rule("contract A22")
@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ({}, ("127.0.0.1",)),
        ({"access": "guarded"}, ("127.0.0.1",)),
        ({"access": "guarded", "hosts": "g.example"}, ("g.example", "127.0.0.1")),
        ({"access": "guarded", "metrics_host": "0.0.0.0"}, ("*",)),
        ({"access": "guarded", "metrics_host": "0.0.0.0", "hosts": "g.example"}, ("g.example", "0.0.0.0")),
        ({"access": "open", "metrics_host": "0.0.0.0"}, ("0.0.0.0",)),
    ],
)
def test_hosts_are_checked_where_a_page_could_read_the_metrics(flags: dict[str, str], names: tuple[str, ...]) -> None:
    assert _metrics_hosts(settings_of(**flags)) == names


@pytest.mark.server("a server in a thread")
@pytest.mark.rule("contract H4")
def test_silent_clients_do_not_block_the_metrics(own: LogoAdmin) -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(listen("127.0.0.1", 0))
        stack.enter_context(metrics_served(listener, partial(logoadmin.metrics, own)))
        for _ in range(100):
            stack.enter_context(socket.create_connection(listener.getsockname()))
        assert "logoadmin_build_info" in httpx2.get(f"{url_of(listener)}/metrics", timeout=60).text
