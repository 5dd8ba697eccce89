"""The measurements. Candidates take turns, so that other load on the machine affects all of them alike."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import gallery, load, operating, published
from benchmarks.environment import ALL_LOGOS, MARIADB, NEW_AUTHORS, ONE_LOGO, ONE_USER, SQLITE, Environment
from benchmarks.interleaving import Rounds, interleave, median_ratio
from benchmarks.results import Result, Target, at_least, at_most
from benchmarks.servers import Server

# The name of a candidate, and its kind of database.
Candidate = tuple[str, str]
Targets = Mapping[str, Target]

_OURS: Final = "logoadmin"
_USUAL: Final = "usual"
_BARE: Final = ("bare", "")
_WITHOUT: Final = "without"
_USERS: Final = "/api/users?limit=500"
_MIB: Final = 1024 * 1024
_FRESH_INTERPRETERS: Final = 9
_SIGNING_IN: Final = 1000  # users


def one_logo(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read one logo with two authors."""
    what, usual = "one logo with two authors", {SQLITE: at_least(3), MARIADB: at_least(4)}
    yield from _reads(what, ONE_LOGO, usual, {SQLITE: at_least(70), MARIADB: at_least(45)}, environment, rounds)


def one_user(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read one user, which is not public and therefore not cached."""
    servers = {(_OURS, kind): server for kind, server in environment.logoadmin.items()} | {_BARE: environment.bare}
    paths = {candidate: ONE_LOGO if candidate == _BARE else ONE_USER for candidate in servers}
    ways = {
        candidate: partial(load.rate, server, paths[candidate], rounds.seconds) for candidate, server in servers.items()
    }
    rates = interleave(ways, lambda measure: measure(), rounds.count)
    wanted = {SQLITE: at_least(30), MARIADB: at_least(20)}
    for kind in environment.databases:
        share = 100 * median_ratio(rates[_OURS, kind], rates[_BARE])
        yield Result("one user", kind, share, "% of a bare route", wanted[kind])


def all_logos(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read a list of logos with two authors each."""
    what = f"a list of {gallery.LOGOS} logos with authors"
    return _reads(what, ALL_LOGOS, {SQLITE: at_least(8), MARIADB: at_least(8)}, {}, environment, rounds.slower(3))


def creating(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Create authors."""

    def rate(server: Server) -> float:
        return load.rate(server, "/api/authors", rounds.seconds, "create_author.lua", next(NEW_AUTHORS))

    rates = interleave(_servers(environment), rate, rounds.count)
    yield from _against_usual("creating an author", environment, rates, {SQLITE: at_least(5), MARIADB: at_least(3.3)})


def signing_in(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Sign users in with the correct password."""
    rounds = rounds.slower(4)

    def rate(server: Server) -> float:
        arguments = (_SIGNING_IN, gallery.PASSWORD)
        return load.rate(server, "/api/auth/token", rounds.seconds, "sign_in.lua", *arguments)

    rates = interleave(_servers(environment), rate, rounds.count)
    yield from _against_usual("signing in", environment, rates, {})


def all_users(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read all users in one response."""
    what = f"all users, {gallery.USERS:,}"
    servers = _servers(environment)
    before = {candidate: server.forget_peak_memory() for candidate, server in servers.items()}
    readings = interleave(servers, partial(load.read, path="/api/users"), rounds.slower(1).count)
    for kind in environment.databases:
        ours, usual = (readings[who, kind] for who in (_OURS, _USUAL))
        growth = servers[_OURS, kind].peak_memory() - before[_OURS, kind]
        first = median(reading.first / reading.whole for reading in ours)
        yield Result(f"{what}: memory", kind, growth / _MIB, "MiB more", at_most(32))
        yield Result(f"{what}: first byte", kind, 100 * first, "% of the time", at_most(2))
        yield Result(
            f"{what}: as a whole", kind, median_ratio([r.whole for r in usual], [r.whole for r in ours]), "x usual"
        )


def recording(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Create authors with a token, compared with a service without history and rights."""
    tokens = {kind: _token(server) for kind, server in environment.logoadmin.items()}
    signed_in = {
        (_OURS, kind): partial(_signed_in_rate, server, rounds, tokens[kind])
        for kind, server in environment.logoadmin.items()
    }
    without = {
        (_WITHOUT, kind): partial(_anonymous_rate, server, rounds)
        for kind, server in environment.without_history.items()
    }
    rates = interleave(signed_in | without, lambda measure: measure(), rounds.count)
    for kind in environment.databases:
        cost = median_ratio(rates[_WITHOUT, kind], rates[_OURS, kind])
        yield Result("creating an author: token, rights, history", kind, cost, "x without", at_most(1.3))


def unchanged(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read responses that the client has cached."""
    for what, path in (("one logo", ONE_LOGO), (f"a list of {gallery.LOGOS} logos", ALL_LOGOS), ("500 users", _USERS)):
        ways = {
            (kind, way): partial(load.rate, server, path, rounds.seconds, headers=headers)
            for kind in environment.databases
            for way, server, headers in (
                ("made", environment.without_cache[kind], {}),
                ("stored", environment.logoadmin[kind], {}),
                (
                    "304",
                    environment.logoadmin[kind],
                    {"If-None-Match": load.entity_tag(environment.logoadmin[kind], path)},
                ),
            )
        }
        rates = interleave(ways, lambda measure: measure(), rounds.count)
        for kind in environment.databases:
            made, stored = (100 * median_ratio(rates[kind, way], rates[kind, "304"]) for way in ("made", "stored"))
            yield Result(f"304 for {what}", kind, made, "% of making it", at_most(100 / 3))
            if path != _USERS:
                yield Result(f"304 for {what}", kind, stored, "% of a stored 200")


def following(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read the history from the beginning."""
    for kind, server in environment.logoadmin.items():
        load.rate(server, "/api/authors", 10, "create_author.lua", next(NEW_AUTHORS))
        headers = {"Authorization": f"Bearer {_token(server)}"}
        readings = [load.read(server, "/api/changes", headers) for _ in range(rounds.count)]
        entries = readings[0].answer.count(b'"change_id"')
        rate = entries / median(reading.whole for reading in readings)
        target = at_least(20_000) if kind == SQLITE else None
        yield Result("following the history", kind, rate, "changes/s", target)


def paging(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Read pages of a hundred among a million users, compared with the first page."""
    pages = {
        "at the end": f"after={gallery.MANY_USERS - 101}",
        "q begins all names": "q=USER",
        "q begins 100,000 of them": "q=user1",
        "q begins 1,000": "q=user123",
        "q begins 100": "q=user1234",
        "q begins 10": "q=user12345",
        "q begins none": "q=users",
        "q in the middle of about 5,000": "q=234",
        "q in the middle of about 400": "q=2345",
        "q beside a filter that all meet": "q=user123&role_id=1",
    }
    paths = {
        "first": "/api/users?limit=100",
        **{what: f"/api/users?limit=100&{query}" for what, query in pages.items()},
    }
    ways = {
        (kind, what): partial(load.rate, server, path, rounds.seconds)
        for kind, server in environment.with_many_users.items()
        for what, path in paths.items()
    }
    rates = interleave(ways, lambda measure: measure(), rounds.count)
    for kind in environment.databases:
        for what in pages:
            cost = median_ratio(rates[kind, "first"], rates[kind, what])
            yield Result(f"100 of {gallery.MANY_USERS:,} users, {what}", kind, cost, "x the first", at_most(1.5))


def importing(environment: Environment, rounds: Rounds) -> Iterator[Result]:
    """Import a gallery into an empty database."""
    file = environment.whole_gallery
    what = f"importing {sum(1 for _ in file.open('rb')):,} records"
    ways = {
        (who, kind): partial(_into_new_database, environment, kind, way, file)
        for who, way in ((_OURS, gallery.import_gallery), (_BARE[0], gallery.insert_gallery))
        for kind in environment.databases
    }
    seconds = interleave(ways, lambda way: way(), rounds.slower(1).count)
    for kind in environment.databases:
        ours = seconds[_OURS, kind]
        yield Result(what, kind, median(ours), "seconds", at_most(5))
        yield Result(what, kind, median_ratio(ours, seconds[_BARE[0], kind]), "x the time of bare inserts")


def starting(_: Environment, __: Rounds) -> Iterator[Result]:
    """Import the package in a fresh interpreter, and open a gallery with it."""
    programs = {
        (statement, ""): f"import time; began = time.perf_counter(); {statement}; print(time.perf_counter() - began)"
        for statement in ("import pydantic", "import logoadmin", "import logoadmin; logoadmin.connect('memory:')")
    }
    seconds = interleave(programs, _printed_by_fresh_interpreter, _FRESH_INTERPRETERS)
    pydantic, ours, opened = seconds.values()
    yield Result("import logoadmin", "", median_ratio(ours, pydantic), "x import pydantic", at_most(1.5))
    yield Result("the same, and a gallery opened in memory", "", median_ratio(opened, pydantic), "x import pydantic")


def _reads(
    what: str, path: str, usual: Targets, bare: Targets, environment: Environment, rounds: Rounds
) -> Iterator[Result]:
    servers = _servers(environment) | {_BARE: environment.bare}
    results = interleave(servers, lambda server: load.wrk_load(server, path, rounds.seconds), rounds.count)
    rates = {candidate: [each.rate for each in found] for candidate, found in results.items()}
    latencies = {candidate: [each.latency for each in found] for candidate, found in results.items()}
    yield from _against_usual(what, environment, rates, usual)
    for kind in environment.databases:
        share = 100 * median_ratio(rates[_OURS, kind], rates[_BARE])
        yield Result(what, kind, share, "% of a bare route", bare.get(kind))
        if bare:
            ratio = median_ratio(latencies[_OURS, kind], latencies[_BARE])
            yield Result(f"{what}: 99 % within", kind, ratio, "x a bare route's", at_most(3))


def _signed_in_rate(server: Server, rounds: Rounds, token: str) -> float:
    arguments = (next(NEW_AUTHORS), token)
    return load.rate(server, "/api/authors", rounds.seconds, "create_author_signed_in.lua", *arguments)


def _anonymous_rate(server: Server, rounds: Rounds) -> float:
    return load.rate(server, "/api/authors", rounds.seconds, "create_author.lua", next(NEW_AUTHORS))


def _token(server: Server) -> str:
    return load.access_token(server, "admin", gallery.PASSWORD)


def _servers(environment: Environment) -> dict[Candidate, Server]:
    return {
        (who, kind): server
        for who, on in ((_OURS, environment.logoadmin), (_USUAL, environment.usual))
        for kind, server in on.items()
    }


def _against_usual(
    what: str, environment: Environment, rates: Mapping[Candidate, list[float]], wanted: Targets
) -> Iterator[Result]:
    for kind in environment.databases:
        times = median_ratio(rates[_OURS, kind], rates[_USUAL, kind])
        yield Result(what, kind, times, "x usual", wanted.get(kind))


def _into_new_database(environment: Environment, kind: str, way: Callable[[Path, str], float], file: Path) -> float:
    return way(file, environment.new_database(kind))


def _printed_by_fresh_interpreter(program: str) -> float:
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)


MEASUREMENTS: Final[Mapping[str, Callable[[Environment, Rounds], Iterator[Result]]]] = {
    "users": all_users,  # first, before the servers' memory has grown by other work
    "logo": one_logo,
    "user": one_user,
    "list": all_logos,
    "create": creating,
    "record": recording,
    "unchanged": unchanged,
    "follow": following,
    "sign-in": signing_in,
    "page": paging,
    "import": importing,
    "start": starting,
    "watched": operating.watching,
    "gzip": operating.compressing,
    "workers": operating.two_processes,
    "gallery": published.publishing,
    "cluster": operating.clustered,
}
