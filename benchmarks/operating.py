"""The costs of operation: metrics and logs, compression, several processes, and a cluster."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from benchmarks import load
from benchmarks.environment import ALL_LOGOS, MARIADB, NEW_AUTHORS, ONE_LOGO, ONE_USER, SQLITE, Environment
from benchmarks.interleaving import Rounds, interleave, median_ratio
from benchmarks.results import Result, at_least, at_most
from tests.galera import galera_missing_reason

_KB: Final = 1000


def watching(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read a cached logo with metrics, and with the access log."""
    servers = {
        "off": environment.logoadmin[SQLITE],
        "metrics": environment.served(SQLITE, metrics_port=0),
        "metrics and access log": environment.served(SQLITE, metrics_port=0, log_level="info", log_format="json"),
    }
    rates = interleave(servers, lambda server: load.rate(server, ONE_LOGO, rounds.seconds), rounds.count)
    for what, wanted in (("metrics", at_least(90)), ("metrics and access log", None)):
        share = 100 * median_ratio(rates[what], rates["off"])
        yield Result(f"one logo with {what}", SQLITE, share, "% of without", wanted)


def compressing(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read all logos of a whole gallery, compressed and plain; compare the server's processor time."""
    server = environment.whole
    ways = {
        way: partial(load.processor, server, ALL_LOGOS, rounds.slower(3).seconds, headers={"Accept-Encoding": way})
        for way in ("gzip", "identity")
    }
    used = interleave(ways, lambda measure: measure(), rounds.slower(1).count)
    size = {way: len(load.read(server, ALL_LOGOS, {"Accept-Encoding": way}).answer) for way in ways}
    yield Result("all logos of a gallery, plain", SQLITE, size["identity"] / _KB, "KB")
    yield Result("all logos of a gallery, in gzip", SQLITE, size["gzip"] / _KB, "KB", at_most(110))
    cost = median_ratio(used["gzip"], used["identity"])
    yield Result("the processor's time for it, stored", SQLITE, cost, "x plain", at_most(1))


def two_processes(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read one user from two processes, compared with one."""
    servers = {
        (kind, count): environment.served(kind, workers=count) if count > 1 else environment.logoadmin[kind]
        for kind in environment.databases
        for count in (1, 2)
    }
    reached = interleave(servers, lambda server: load.wrk_load(server, ONE_USER, rounds.seconds), rounds.count)
    for kind in environment.databases:
        one, two = ([each.rate for each in reached[kind, count]] for count in (1, 2))
        yield Result("one user from two processes", kind, median_ratio(two, one), "x one process", at_least(1.7))
        share = sum(each.share for each in reached[kind, 2]) / len(reached[kind, 2])
        yield Result("what wrk takes meanwhile", kind, 100 * share, "% of a processor")


def clustered(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Create authors on three Galera servers, compared with one server."""
    reason = galera_missing_reason()
    if reason is not None:
        print(f"Without a cluster: {reason}")
        return
    servers = {"one": environment.logoadmin[MARIADB], "three": environment.clustered}
    rates = interleave(
        servers,
        lambda server: load.rate(server, "/api/authors", rounds.seconds, "create_author.lua", next(NEW_AUTHORS)),
        rounds.count,
    )
    share = 100 * median_ratio(rates["three"], rates["one"])
    yield Result("creating an author on three servers", "Galera", share, "% of one server")
