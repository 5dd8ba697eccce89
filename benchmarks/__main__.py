"""The speed of logoadmin: ``make bench``, or ``python -m benchmarks [--only NAME] [--seconds N] [--strict]``.

What it does
    In one run it starts logoadmin as usual (``logoadmin serve``, one process) and, on the same web server with the
    same data, two others for comparison:

    - *the usual way* (``usual/``): FastAPI, sessions of SQLAlchemy's ORM, pydantic models for requests and responses;
    - *a bare route* (``bare.py``): Starlette returning the same bytes, prepared. Nothing is faster than that.

    wrk, with 32 connections, drives them in turns, on SQLite and, if mariadbd is installed, on MariaDB. Both write
    with the same durability and hash passwords at the same cost. Everything stays on the loopback interface and in a
    temporary directory, and all processes are stopped at the end.

What it measures
    =========  =======================================================================================================
    logo       reading one logo with two authors, from the response cache
    user       reading one user, which is not public and therefore not cached
    list       reading 200 logos with two authors each
    users      reading 100,000 users: the memory of the service, and the time until the first and the last byte
    create     creating authors
    record     the same with a token, against the service without rights and history (``without.py``)
    unchanged  a 304, against a rendered 200 (``without.py``) and a 200 from the response cache
    follow     reading the history from the beginning
    sign-in    signing in with the correct password, which is mostly Argon2id
    page       reading pages of 100 among a million users, at the end and with ``q``, against the first page; it takes
               some minutes to fill the databases
    import     ``logoadmin import`` of a whole gallery into a new database, including the start of the program: the file
               LOGOADMIN_GALLERY, or 3,700 generated records. For comparison: parsing the same lines and inserting
               them in bulk without checks
    start      importing the package in a fresh interpreter, against importing pydantic
    watched    reading one logo with metrics, and also with the access log, against neither
    gzip       reading all logos of the gallery above, compressed against plain: the server's processor time
    workers    reading one user from two processes, against one, with wrk's share of a processor
    gallery    the published gallery: polling it unchanged against a bare route, the sizes of its files, and publishing
               100,000 logos to a folder, which takes some minutes to fill a database
    cluster    creating authors on a Galera cluster of three servers on this machine, against one server; needs
               galera-4, haproxy and rsync
    =========  =======================================================================================================

How to read it
    ``4.2 x usual`` means that logoadmin handles 4.2 times as many requests per second as the usual way, or needs less
    than a quarter of the time for one request. Only ratios are meaningful: seconds and requests depend on the machine
    and its other load. Each is the median of the ratios of several rounds. The load generator shares the machine with
    the servers, so a ratio below 100 % of a bare route includes the load generator's work.

Missed targets are marked; with ``--strict`` the exit code is then 1. If a measurement fails, the exit code is always 1,
and the results of the others are printed.
"""

import argparse
import sys
import traceback
from collections.abc import Sequence

from benchmarks import load
from benchmarks.environment import MARIADB, SQLITE, Environment
from benchmarks.interleaving import Rounds
from benchmarks.measurements import MEASUREMENTS
from benchmarks.results import Result, table
from tests.mariadb import missing_reason


def main() -> int:
    """Run the requested measurements, print the results, and return the exit code."""
    arguments = _arguments()
    if not load.is_installed():
        print("benchmarks: wrk is missing; install it with: apt-get install wrk", file=sys.stderr)
        return 2
    reason = missing_reason()
    if reason:
        print(f"Without MariaDB: {reason}")
    with Environment(*([SQLITE] if reason else [SQLITE, MARIADB])) as environment:
        rounds = Rounds(arguments.rounds, arguments.seconds)
        results, failed = _measured(arguments.only or list(MEASUREMENTS), environment, rounds)
        print(table(results))  # before the environment is removed, which may fail
    missed = sum(result.is_missed for result in results)
    targets = sum(result.target is not None for result in results)
    print(f"\n{targets - missed} of {targets} targets are reached.")
    if failed:
        print(f"Failed, so that lines are missing: {', '.join(failed)}")
    return 1 if failed or (missed and arguments.strict) else 0


def _measured(names: Sequence[str], environment: Environment, rounds: Rounds) -> tuple[list[Result], list[str]]:
    """Return the results, and the names of failed measurements; a failure does not affect the others."""
    results: list[Result] = []
    failed: list[str] = []
    for name in names:
        print(f"Measuring: {name}", file=sys.stderr)
        try:
            results.extend(MEASUREMENTS[name](environment, rounds))
        except Exception:
            traceback.print_exc()
            failed.append(name)
    return results, failed


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare logoadmin with others.")
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, help="measure this; may be repeated")
    parser.add_argument(
        "--seconds", type=_positive, default=1, help="how long each round under load lasts (%(default)s)"
    )
    parser.add_argument("--rounds", type=_positive, default=7, help="how often each is measured (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a target is missed")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


if __name__ == "__main__":
    sys.exit(main())
