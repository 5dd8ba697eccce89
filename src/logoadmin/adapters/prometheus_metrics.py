"""Metrics with prometheus-client (contract K2).

If ``PROMETHEUS_MULTIPROC_DIR`` is set before this module is imported, each process counts in files of that directory,
and :meth:`PrometheusMetrics.text` adds them up. Otherwise each instance counts in its own memory.

With prometheus-client, counting a response takes a quarter of the time of serving a cached one. Responses are therefore
queued, and counted some hundred at a time, and at least four times a second.
"""

import atexit
import os
import threading
import time
from collections import Counter as Multiset
from collections import deque
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.publication.publication_records import LeftOutReason
from logoadmin.ports.metrics import Metrics, Milestone, SignInOutcome

# The upper bounds of the buckets of all histograms, in seconds.
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_NAMESPACE: Final = "logoadmin"
# How the values of several processes are combined.
_Aggregation = Literal["livesum", "max", "mostrecent"]
_BATCH: Final = 256  # responses
_DELAY: Final = 0.25  # seconds
_MILESTONES: Final[Mapping[Milestone, str]] = {
    "last_backup": "Unix time of the last backup, 0 before the first; absent while the database is unavailable.",
    "published": "Unix time of the last publication into a folder, 0 before; absent while the database is unavailable.",
}
_PICTURES: Final = {
    "pictures": "Stored pictures; absent while the database is unavailable.",
    "picture_bytes": "Bytes of stored pictures and their thumbnails.",
    "picture_space_bytes": "Maximum bytes of stored pictures and their thumbnails.",
}


class PrometheusMetrics(Metrics):
    """Counts events in series of Prometheus."""

    enabled = True

    def __init__(self) -> None:
        self._directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        self._registry = CollectorRegistry()
        self._adding = threading.Lock()
        self._database_calls = self._counter("database_calls", "Database calls by outcome.", "outcome")
        self._database_seconds = self._histogram("database_call_seconds", "Time of a database call, including waits.")
        self._sign_ins = self._counter("sign_ins", "Sign-ins by password, by outcome.", "outcome")
        self._requests = self._counter("http_requests", "Requests by operation and status.", "operation", "status")
        self._seconds = self._histogram("http_request_seconds", "Time from a request to the end of its response.")
        self._in_flight = self._gauge("http_requests_in_flight", "Requests in progress.")
        self._received = self._counter("http_request_bytes", "Received bytes of request bodies.")
        self._sent = self._counter("http_response_bytes", "Sent bytes of response bodies.")
        self._cache = self._counter("response_cache", "Public responses: cached (hit) or not (miss).", "outcome")
        self._generations = self._counter("gallery_generations", "Generations of the published gallery.", "outcome")
        # All workers publish the same, so their numbers are not added up.
        self._generated_at = self._gauge("gallery_generated_timestamp_seconds", "Time of the last generation.", "max")
        self._left_out = self._gauge(
            "gallery_left_out", "Active records that are not published.", "mostrecent", "reason"
        )
        # All values of a single label are exposed from the start, so that a rate has a first value.
        self._by_outcome = {
            (counter, outcome): counter.labels(outcome)
            for counter, outcomes in (
                (self._database_calls, ("ok", *(cause.code for cause in Cause))),
                (self._sign_ins, ("ok", "failed", "refused")),
                (self._cache, ("hit", "miss")),
                (self._generations, ("ok", "failed")),
            )
            for outcome in outcomes
        }
        self._left_out_by_reason = {reason: self._left_out.labels(reason) for reason in get_args(LeftOutReason)}
        self._queued: deque[tuple[str, str, int, float, bool]] = deque()
        if self._directory is not None:  # other processes read these counts
            atexit.register(self._add_up)
            threading.Thread(target=self._add_up_regularly, name="metrics", daemon=True).start()

    def sign_in(self, outcome: SignInOutcome) -> None:
        self._by_outcome[self._sign_ins, outcome].inc()

    def database_call(self, outcome: str, seconds: float) -> None:
        self._by_outcome[self._database_calls, outcome].inc()
        self._database_seconds.observe(seconds)

    def request_started(self) -> None:
        self._in_flight.inc()

    def request_ended(self) -> None:
        self._in_flight.dec()

    def request_body(self, size: int) -> None:
        self._received.inc(size)

    def response(self, operation: str, status: str, size: int, seconds: float, *, from_cache: bool) -> None:
        self._queued.append((operation, status, size, seconds, from_cache))
        if len(self._queued) >= _BATCH:
            self._add_up()

    def response_stored(self) -> None:
        self._by_outcome[self._cache, "miss"].inc()

    def gallery_generated(self, left_out: Mapping[str, int]) -> None:
        self._by_outcome[self._generations, "ok"].inc()
        self._generated_at.set(time.time())
        for reason, gauge in self._left_out_by_reason.items():
            gauge.set(left_out.get(reason, 0))

    def gallery_failed(self) -> None:
        self._by_outcome[self._generations, "failed"].inc()

    def text(
        self,
        last_change: int | None,
        database: str,
        milestones: Mapping[Milestone, int] | None = None,
        proposals: tuple[int, int] | None = None,
        pictures: tuple[int, int, int] | None = None,
    ) -> str:
        self._add_up()
        series = [*self._series(), *_about(last_change, database, milestones or {}, proposals, pictures)]
        return generate_latest(_Collected(series)).decode()

    def _add_up(self) -> None:
        """Count the queued responses."""
        with self._adding:
            queued = [self._queued.popleft() for _ in range(len(self._queued))]
            if not queued:
                return
            requests = Multiset((operation, status) for operation, status, *_ in queued)
            for labels, count in requests.items():
                self._requests.labels(*labels).inc(count)
            for _, _, _, seconds, _ in queued:
                self._seconds.observe(seconds)
            self._sent.inc(sum(size for _, _, size, _, _ in queued))
            self._by_outcome[self._cache, "hit"].inc(sum(from_cache for *_, from_cache in queued))

    def _add_up_regularly(self) -> None:
        while True:
            time.sleep(_DELAY)
            self._add_up()

    def _series(self) -> Iterator[Metric]:
        counted: CollectorRegistry | MultiProcessCollector = self._registry
        if self._directory is not None:
            _forget_ended(Path(self._directory))
            counted = MultiProcessCollector(None, self._directory)
        for metric in counted.collect():
            if metric.name.startswith(_NAMESPACE):  # an embedding program may count in the same directory
                metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
                yield metric

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, namespace=_NAMESPACE, registry=self._registry)

    def _histogram(self, name: str, text: str) -> Histogram:
        return Histogram(name, text, namespace=_NAMESPACE, registry=self._registry, buckets=BUCKETS)

    def _gauge(self, name: str, text: str, aggregation: _Aggregation = "livesum", *labels: str) -> Gauge:
        return Gauge(name, text, labels, namespace=_NAMESPACE, registry=self._registry, multiprocess_mode=aggregation)


class _Collected(CollectorRegistry):
    """Metrics that were collected already."""

    def __init__(self, metrics: list[Metric]) -> None:
        super().__init__()
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _about(
    last_change: int | None,
    database: str,
    milestones: Mapping[Milestone, int],
    proposals: tuple[int, int] | None,
    pictures: tuple[int, int, int] | None,
) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        f"{_NAMESPACE}_last_change_id", "Id of the last change; absent while the database is unavailable.", last_change
    )
    for milestone, text in _MILESTONES.items():
        yield GaugeMetricFamily(f"{_NAMESPACE}_{milestone}_timestamp_seconds", text, milestones.get(milestone))
    waiting, seconds = proposals or (None, None)
    yield GaugeMetricFamily(f"{_NAMESPACE}_proposals_waiting", "Proposals that wait for a decision.", waiting)
    text = "Seconds that the oldest proposal has waited; 0 if none waits."
    yield GaugeMetricFamily(f"{_NAMESPACE}_oldest_proposal_seconds", text, seconds)
    for (name, text), value in zip(_PICTURES.items(), pictures or (None, None, None), strict=True):
        yield GaugeMetricFamily(f"{_NAMESPACE}_{name}", text, value)
    build = GaugeMetricFamily(
        f"{_NAMESPACE}_build_info", "Always 1; the version and the kind of database.", labels=("version", "database")
    )
    build.add_metric((version("logoadmin"), database), 1)
    yield build


def _forget_ended(directory: Path) -> None:
    """Remove the gauges of workers that have ended, and files that are empty because a worker was killed."""
    for file in directory.glob("*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):  # another user's process has this process ID now
            mark_process_dead(pid, str(directory))
            if file.exists() and not file.stat().st_size:
                file.unlink()
