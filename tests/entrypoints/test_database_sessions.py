"""MariaDB whose sessions begin with other variables than a new server's, as hosters set them."""

import json
from pathlib import Path

import pytest

from tests.entrypoints.command_line import Run, assert_one_line
from tests.mariadb import MariaDbServer

pytestmark = [
    pytest.mark.rule("contract H2"),
    pytest.mark.slow("init on a server, for each variable"),
    pytest.mark.own_mariadb,
]

_HOSTERS_MODE = "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI,STRICT_ALL_TABLES"
TURNED = (
    f"sql_mode = '{_HOSTERS_MODE}'",
    "sql_mode = 'ORACLE,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE'",
    "autocommit = 0, completion_type = 2",
    "sql_mode = ''",
    "sql_safe_updates = 1",
    "sql_select_limit = 1",
    "sql_big_selects = 0, max_join_size = 1",
    "sql_auto_is_null = 1, sql_quote_show_create = 0",
    "tx_isolation = 'READ-UNCOMMITTED', tx_read_only = 1",
    "foreign_key_checks = 0, unique_checks = 0",
    "time_zone = '+11:00', lc_messages = 'ru_RU', lc_time_names = 'ru_RU'",
    "NAMES latin1 COLLATE latin1_german1_ci",
    "max_statement_time = 0.000001, innodb_lock_wait_timeout = 1",
    "group_concat_max_len = 4, max_sort_length = 64, div_precision_increment = 0",
    "default_storage_engine = MEMORY",
)
RECORDS = [
    {"kind": "author", "author_id": 1, "user_id": 101, "username": 'Ann "A" \\ Ö'},
    {"kind": "author", "author_id": 2, "user_id": 102, "username": "Боб"},
    {
        "kind": "logo",
        "logo_id": 1,
        "name": "Two || 'three'",
        "preview_url": "https://example.org/a.png",
        "target": "forum",
        "custom_css": 'a::before { content: "\\201c" }',
        "active": True,
        "author_ids": [2, 1],
    },
]


# Each change is tried with those that turn the most, a release with all.
@pytest.mark.parametrize(
    "turned", [*TURNED[:3], *(pytest.param(each, marks=pytest.mark.release) for each in TURNED[3:])]
)
def test_init_reads_and_writes_do_not_depend_on_session_defaults(
    running: MariaDbServer, run: Run, tmp_path: Path, turned: str
) -> None:
    running.execute(f'SET GLOBAL init_connect = "SET {turned}"')
    url = running.url_of(running.new_database())
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    for command in (("init",), ("import", str(file)), ("export", str(out), "--kind", "author", "--kind", "logo")):
        ended = run(*command, "--database", url)
        assert (ended.code, "Traceback" in ended.err) == (0, False), (command, ended)
    exported = [json.loads(line) for line in out.read_text().splitlines()]
    assert [{key: value for key, value in each.items() if key != "created_at"} for each in exported] == RECORDS
    file.write_text(json.dumps({**RECORDS[0], "username": "Anna"}))
    assert "1 author (1 amended)" in run("import", str(file), "--database", url).out
    assert run("user", "remove", "admin", "--database", url).code == 1  # the last administrator stays


def test_a_variable_that_cannot_be_set_is_named(mariadb_server: MariaDbServer, run: Run) -> None:
    mariadb_server.stop()
    mariadb_server.start("--skip-innodb", "--default-storage-engine=Aria")
    try:
        ended = run("init", "--database", mariadb_server.url)
    finally:
        mariadb_server.stop()
        mariadb_server.start()
    assert_one_line(
        ended, 1, "it refuses a setting that every session", "innodb_lock_wait_timeout", "let sessions change it"
    )
