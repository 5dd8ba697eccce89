"""README and docs are accurate: examples run, tables match the code, names and link targets exist."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest
from starlette.testclient import TestClient

import logoadmin
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.errors import LogoAdminError, NotModified
from logoadmin.entrypoints.cli import cli
from logoadmin.entrypoints.http_api.errors import STATUSES
from logoadmin.entrypoints.http_api.openapi_texts import errors_of
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.settings import Settings
from tests.architecture.tables import TABLES, with_table
from tests.services import service

ROOT: Final = Path(__file__).parent.parent.parent
README: Final = ROOT / "README.md"
PAGES: Final = (
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / "docs/decisions").glob("*"),
)
PASSWORD: Final = "correct horse battery staple"
_FENCED: Final = re.compile(r"^```(\w*|\{\w+\} [^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [body for found, body in _FENCED.findall(text(page)) if found == language]


def rows(page: str, first_cell: str) -> list[list[str]]:
    """Return the cells of the table rows whose first cell matches."""
    lines = [line for line in text(page).splitlines() if re.match(rf"\| {first_cell} \|", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


# Examples.


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize(
    ("page", "number"),
    [(page, number) for page in ("README.md", "docs/embed.md") for number in range(len(blocks(page, "python")))]
    + [("docs/extend.md", 0)],
)
def test_python_examples_run_twice(page: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # readers may run an example twice
        names: dict[str, Any] = {"__name__": "example"}
        exec(compile(blocks(page, "python")[number], f"{page}, example {number + 1}", "exec"), names)
        if "site" in names:
            with TestClient(names["site"]) as client:
                assert client.get("/gallery/api/logos").json() == []


@pytest.mark.server("a program is started")
@pytest.mark.rule("contract H6")
def test_the_suite_for_storages_runs_as_the_docs_show(tmp_path: Path) -> None:
    *_, block = blocks("docs/extend.md", "python")
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(block))
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", "test_mine.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert re.search(r"^11 passed", done.stdout, re.MULTILINE), done.stdout


def answers(script: str, folder: Path) -> list[Any]:
    """Run a script with requests to a new service; return what they print."""
    assert shutil.which("curl"), "this test needs curl"
    with service(folder, LOGOADMIN_ADMIN_PASSWORD=PASSWORD) as served:
        script = script.replace("http://127.0.0.1:8000", served.address).replace("the password of admin", PASSWORD)
        done = subprocess.run(["sh", "-e"], input=script, text=True, capture_output=True, timeout=120, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract H1", "contract H3", "contract I1", "contract I2")
def test_the_shell_examples_of_the_readme_and_the_start_page_run_in_order(tmp_path: Path) -> None:
    (script,) = (block for block in blocks("README.md", "sh") if "curl" in block)
    author, logo, link, read = answers(script, tmp_path)
    assert link == {"logo_author_id": 1, "logo_id": 1, "author_id": 1}
    assert read == {**logo, "authors": [author]}

    (script,) = (block for block in blocks("docs/start.md", "sh") if "import" in block)
    script = script.replace(".venv/bin/logoadmin", f"'{sys.executable}' -m logoadmin")
    script = script.replace(" tests/gallery.jsonl", f" '{ROOT}/tests/gallery.jsonl'")
    subprocess.run(["sh", "-e"], input=script, text=True, cwd=tmp_path, timeout=120, check=True)
    exported = [json.loads(line) for line in (tmp_path / "backup.jsonl").read_text(encoding="utf-8").splitlines()]
    del logo["authors"]
    assert {"kind": "author", **author} in exported
    assert {"kind": "logo", **logo, "author_ids": [author["author_id"]]} in exported


def exchanges(page: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the shell commands of a page, each with the JSON that they print according to the page."""
    parts = _FENCED.findall(text(page).partition("\n## An example\n")[2] or text(page))
    for (language, script), (shown, printed) in zip(parts, [*parts[1:], ("", "")], strict=True):
        if language == "sh":
            yield script, values_in(printed) if shown == "json" else []


def values_in(written: str) -> list[Any]:
    values, decoder, rest = [], json.JSONDecoder(), written.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        values.append(value)
        rest = rest[end:].strip()
    return values


def lasting(value: Any) -> Any:
    """Return a value without the fields that differ each time: times, request ids and links."""
    if isinstance(value, list):
        return [lasting(part) for part in value]
    if not isinstance(value, dict):
        return value
    passing = {"created_at", "expires_at", "at", "request_id", "url"}
    return {name: type(part) if name in passing else lasting(part) for name, part in value.items()}


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract B4", "contract C1", "contract C3", "contract C5", "contract G", "contract G2")
@pytest.mark.parametrize("page", ["docs/people.md", "docs/history.md"])
def test_each_example_prints_the_responses_shown_on_its_page(page: str, tmp_path: Path) -> None:
    shown = list(exchanges(page))
    assert len(shown) > 2
    answered = answers("\n".join(commands for commands, _ in shown), tmp_path)
    assert lasting(answered) == lasting([answer for _, printed in shown for answer in printed])


# Tables.


@pytest.mark.rule("contract H1", "contract K3")
@pytest.mark.parametrize("name", TABLES)
def test_the_generated_tables_match_the_code(name: str) -> None:
    page, table = TABLES[name]
    current = text(f"docs/{page}")
    assert current == with_table(current, name, table()), "run make tables"


@pytest.mark.rule("contract H6")
def test_the_table_of_errors_is_complete_with_statuses() -> None:
    table: dict[str, str] = {}
    for names, _, statuses in rows("docs/embed.md", "`[A-Z]\\w+`(?:, `\\w+`)*"):
        listed = re.findall(r"\w+", names)
        table |= zip(listed, statuses.split(", ") if "," in statuses else [statuses] * len(listed), strict=True)
    assert table == {error.__name__: status_of(error) for error in kinds_of(LogoAdminError)}


def test_the_readme_has_the_endpoints_of_the_specification_with_their_statuses() -> None:
    expected = []
    for operation in OPERATIONS:
        if operation.source.startswith("spec"):
            of_token = (401, 403) if operation.permission.needs_token(Policy.OPEN) else ()
            errors = ", ".join(map(str, (*of_token, *errors_of(operation))))
            expected.append([f"`{operation.route}`", str(operation.success), errors])
    assert len(expected) == 12
    assert [[route, success, errors] for route, _, success, errors in rows("README.md", "`[A-Z]+ /api/.+`")] == expected


def kinds_of(error: type[Exception]) -> Iterator[type[Exception]]:
    for kind in error.__subclasses__():
        if hasattr(logoadmin, kind.__name__):
            yield kind
        yield from kinds_of(kind)


def status_of(error: type[Exception]) -> str:
    """Return the status of an error, as the table writes it."""
    if error is NotModified:
        return "304"
    return next((str(STATUSES[kind]) for kind in error.__mro__ if kind in STATUSES), "-")


def test_the_table_of_statuses_is_complete() -> None:
    table = {int(status) for row in rows("docs/interface.md", r"\d{3}(?:, \d{3})*") for status in row[0].split(", ")}
    refusals = (path.read_text(encoding="utf-8") for path in (ROOT / "src/logoadmin/entrypoints").rglob("*.py"))
    in_code = {
        int(status) for text in refusals for status in re.findall(r"(?:HttpError\(|_refuse\(\s*\")(\d{3})", text)
    }
    of_rows = {status for operation in OPERATIONS for status in errors_of(operation)}
    assert table == in_code | of_rows | set(STATUSES.values())


# Names.


def code() -> Iterator[str]:
    for page in PAGES:
        written = page.read_text(encoding="utf-8")
        yield from (body for language, body in _FENCED.findall(written) if language == "sh")
        yield from re.findall(r"`([^`\n]+)`", _FENCED.sub("", written))


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    named = {target for snippet in code() for target in re.findall(r"\bmake ([\w-]+)", snippet)}
    assert {"run", "test"} <= named
    assert named <= targets


def test_subcommands_and_their_options_exist() -> None:
    lines = (line.split("#")[0].strip() for snippet in code() for line in snippet.splitlines())
    matches = (re.match(r"(?:\.venv/bin/)?logoadmin ((?:[a-z]\S*|-\S*)(?: .*)?)$", line) for line in lines)
    named = [f"{match[1]} " for match in matches if match]
    assert len(named) > 10
    for line in named:
        (command,) = [command for typed, command in commands(cli) if line.startswith(f"{typed} ")]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in line.split() if word.startswith("--")} <= options, line


def test_modules_that_the_architecture_names_exist_and_every_package_is_listed() -> None:
    source = ROOT / "src" / "logoadmin"
    named = set(re.findall(r"`([\w/]+\.py)`", text("docs/architecture.md")))
    known = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known)} == set()
    packages = {f"`{path.parent.relative_to(source.parent)}`" for path in source.glob("*/*/__init__.py")}
    assert {name for name in packages if name not in text("docs/modules.md")} == set()


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command that is not a group, with its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield " ".join((*path, name)), command


def test_subcommands_and_their_options_are_in_the_docs() -> None:
    written = "\n".join(code())
    of_settings = {f"--{name.replace('_', '-')}" for name in Settings.model_fields}
    for typed, command in commands(cli):
        assert re.search(rf"\blogoadmin {typed}\b", written), typed
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        assert [option for option in options - of_settings if option not in written] == [], typed


def slugs(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", _FENCED.sub("", page.read_text(encoding="utf-8"))):
        assert "://" not in target, "the docs must be readable without the network"
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        if anchor:
            assert anchor in slugs(file), target


def words(*pages: Path) -> int:
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def test_the_docs_stay_short() -> None:
    assert words(README) <= 900
    assert words(*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/decisions").glob("*.md")) <= 32_000
    for page in ("install", "settings", "proxy", "backup", "upgrade", "watch"):
        assert words(ROOT / f"docs/{page}.md") <= 1_200, page
