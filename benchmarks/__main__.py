"""How fast logoadmin is: ``make bench``, or ``python -m benchmarks [--only NAME] [--seconds N] [--strict]``.

What it does
    In one run it starts logoadmin as its users do (``logoadmin serve``, one process) and, on the same web server with
    the same data, two others to compare it with:

    - *the usual way* (``usual/``): FastAPI, sessions of SQLAlchemy's ORM, pydantic models for what goes in and out;
    - *a bare route* (``bare.py``): Starlette answering the same bytes, which lie ready. Nobody is faster than that.

    wrk, with 32 connections, drives them by turns, on SQLite and, where mariadbd is installed, on MariaDB. Both write
    with the same durability and hash passwords at the same cost. Everything stays on the loopback interface and in a
    temporary directory; it ends what it started.

What it measures
    =========  =======================================================================================================
    logo       reading one logo with two authors, which the response cache has
    user       reading one user, which is no public answer and so is read each time
    list       reading 200 logos with two authors each
    users      reading 100,000 users: how much memory the service takes for it, when the first byte comes, how long
               it takes as a whole
    create     creating authors
    record     the same with a token, against the service without rights and history (``without.py``)
    unchanged  reading what the reader has already, against a 200 that is made anew (``without.py``) and one from the
               response cache
    follow     reading the history from its beginning
    sign-in    signing in with the right password, which is mostly Argon2id
    page       reading pages of 100 among a million users, at the end and with ``q``, against the first page; it takes
               some minutes to fill the databases
    import     ``logoadmin import`` of a whole gallery into a new database, the start of the program included; the file
               that LOGOADMIN_GALLERY names, or 3,700 records that are made. Beside it, for the same file: parsing the
               lines and inserting them in bulk, unchecked
    start      importing the package in a fresh interpreter; importing pydantic is what it is compared with
    watched    reading one logo with metrics, and with the access log as well, against without
    gzip       reading all logos of the gallery above, compressed against plain: the processor's time at the server
    workers    reading one user from two processes, against one; how much of a processor wrk takes is said beside it
    cluster    creating authors on a Galera cluster of three servers on this machine, against one server; takes
               galera-4, haproxy and rsync
    =========  =======================================================================================================

How to read it
    ``4.2 x usual`` says that logoadmin answers 4.2 times as many requests in a second as the usual way does, or
    answers one in so much less time. Only such ratios mean something: seconds and requests depend on the machine
    and on what else it does. Each is the median of the ratios of several rounds. The load generator shares the
    machine with the servers, so a ratio below 100 % of a bare route contains the load generator's work, too.

A target that is missed is shown as such; with ``--strict`` the exit code is then 1. So it always is when a measurement
fails; what the others found is printed all the same.
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
    """Measure what is asked for, print it, and return the exit code."""
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
        print(table(results))  # before the environment is taken down, which may fail, too
    missed = sum(result.is_missed for result in results)
    targets = sum(result.target is not None for result in results)
    print(f"\n{targets - missed} of {targets} targets are reached.")
    if failed:
        print(f"Failed, so that lines are missing: {', '.join(failed)}")
    return 1 if failed or (missed and arguments.strict) else 0


def _measured(names: Sequence[str], environment: Environment, rounds: Rounds) -> tuple[list[Result], list[str]]:
    """Return what measurements found, and which of them failed: one that fails takes nothing from the others."""
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
