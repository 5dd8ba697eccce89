"""The hexagon, in addition to import-linter: modules that choose adapters, names, and imports."""

import ast
import itertools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path
from typing import Final

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.rule("contract H6")

ROOT = Path(__file__).parents[2]

# The dependencies of the domain besides the standard library. All others belong in an adapter.
DOMAIN_STANDS_ON = {
    *("pydantic", "pydantic_core"),  # commands and their limits
    *("tinycss2", "can_ada", "cachetools"),  # the verdict on CSS, URLs as browsers read them, cached verdicts
    "pyotp",  # codes of apps
}
TECHNOLOGY = {
    *("alembic", "argon2", "click", "cryptography", "fastapi", "fido2", "httpcore2", "httptools", "httpx2", "jwt"),
    *("limits", "pymysql", "sqlalchemy", "starlette", "uvicorn", "uvloop"),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("logoadmin", include_external_packages=True, cache_dir=None)


def of(graph: grimp.ImportGraph, package: str) -> set[str]:
    return {package, *graph.find_descendants(package)}


def test_only_the_composition_root_chooses_adapters(graph: grimp.ImportGraph) -> None:
    adapters = of(graph, "logoadmin.adapters")
    importers = {importer for each in adapters for importer in graph.find_modules_that_directly_import(each)} - adapters
    # The clock of the demo is that of the system, set to each moment of its week.
    assert importers == {f"logoadmin.{name}" for name in ("bootstrap", "demo.stock", "maintenance", "starting")}


def test_an_adapter_is_named_after_its_port(graph: grimp.ImportGraph) -> None:
    ports = {name.rsplit(".", 1)[1] for name in graph.find_descendants("logoadmin.ports")}
    for adapter in graph.find_children("logoadmin.adapters"):
        assert adapter.rsplit(".", 1)[1].partition("_")[2] in ports


def external(graph: grimp.ImportGraph, modules: set[str]) -> set[str]:
    """Return the packages outside of the standard library and logoadmin that modules import."""
    imported_by_them = {
        each.partition(".")[0] for module in modules for each in graph.find_modules_directly_imported_by(module)
    }
    return imported_by_them - sys.stdlib_module_names - {"logoadmin"}


def test_the_domain_imports_only_what_it_may(graph: grimp.ImportGraph) -> None:
    assert external(graph, of(graph, "logoadmin.domain") | of(graph, "logoadmin.ports")) == DOMAIN_STANDS_ON


def test_every_imported_package_is_declared(graph: grimp.ImportGraph) -> None:
    """A package that comes along with another one leaves with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = itertools.chain.from_iterable(project["optional-dependencies"].values())
    declared = {canonicalize_name(Requirement(each).name) for each in (*project["dependencies"], *extras)}
    distributions = packages_distributions()
    for package in external(graph, of(graph, "logoadmin")):
        assert {canonicalize_name(name) for name in distributions.get(package, [package])} & declared, package


# In sequence in one process: a step also reports the packages that earlier steps loaded.
STEPS = {
    "package": "import logoadmin",
    "command": "logoadmin.CreateAuthor(user_id=1, username='Ann')",
    "memory": "gallery = logoadmin.connect('memory:', access='open')",
    "web": "logoadmin.asgi(gallery); gallery.close()",
}


@pytest.fixture(scope="module")
def loaded_by() -> dict[str, set[str]]:
    """The top-level packages that a new process has loaded after each of the steps."""
    return dict(zip(STEPS, loaded_after(*STEPS.values()), strict=True))


def loaded_after(*steps: str) -> Iterator[set[str]]:
    """Yield the top-level packages that a new process has loaded after each step."""
    look = "print(*{name.split('.')[0] for name in sys.modules})"
    code = "\n".join(["import sys", *(f"{step}\n{look}" for step in steps)])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    yield from ({*line.split()} for line in run.stdout.splitlines())


DATABASE: Final = {"sqlalchemy", "pymysql", "alembic"}
# What a step imports, and what it must not import.
LOADS: Final[tuple[tuple[str, str, set[str]], ...]] = (
    ("package", "logoadmin", TECHNOLOGY | {"pydantic", "pydantic_core", "asyncio", "json"}),
    ("command", "pydantic", TECHNOLOGY - {"jwt"}),
    ("memory", "pydantic", DATABASE | {"starlette", "uvicorn", "click", "httpcore2", "httpx2", "fido2"}),
    ("web", "starlette", DATABASE | {"uvicorn", "click", "httptools", "uvloop", "fido2"}),
)


@pytest.mark.parametrize(("step", "needed", "unneeded"), LOADS)
def test_each_step_imports_only_what_it_needs(
    loaded_by: dict[str, set[str]], step: str, needed: str, unneeded: set[str]
) -> None:
    assert needed in loaded_by[step]
    assert loaded_by[step] & unneeded == set()


def test_the_help_of_the_command_line_imports_only_click() -> None:
    (loaded,) = loaded_after("from logoadmin.entrypoints.cli import cli")
    assert not loaded & (TECHNOLOGY - {"click"} | {"pydantic", "asyncio", "ssl"})


# Modules that can open a connection, besides database drivers and the server.
NETWORK = {"aiohttp", "ftplib", "httpcore2", "http.client", "httpx", "httpx2", "requests"}
NETWORK |= {"smtplib", "socket", "urllib.request", "urllib3", "xmlrpc.client"}
REASONS = {
    "adapters/httpcore_outgoing/": "the guarded way out",
    "adapters/sql_storage/databases/mysql_connections.py": "the codes of a driver's errors",
    "entrypoints/cli/checks.py": "commands that ask the service itself",
    "entrypoints/cli/serve.py": "the service's own listener",
    "entrypoints/server/": "the service's own listeners",
    "reader/": "a client, for other programs",
}


@pytest.mark.lint
@pytest.mark.rule("contract L8")
def test_only_listed_modules_send_requests_to_other_hosts() -> None:
    source = ROOT / "src" / "logoadmin"
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        found = {module for module in imported(path) if any(f"{module}.".startswith(f"{each}.") for each in NETWORK)}
        assert not found or any(name.startswith(prefix) for prefix in REASONS), f"{name} imports {found}"


def imported(path: Path) -> Iterator[str]:
    """Yield each module that a file imports, and each of their names, wherever the import is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# The domain mentions no adapter: no path, header or method of HTTP, no OAuth, no HTML, no installer.
WORDS: Final = re.compile(
    r"/api/|/console/|grant_type|pip install|\b(GET|POST|PUT|PATCH|HEAD)\b|\bDELETE /"
    r"|</?(a|body|br|div|head|html|link|p|script|span|svg|title)\b[^>\n]*>"
    r"|\b(Authorization: |Cache-Control|Content-Security-Policy|Content-Type|ETag|Idempotency-Key"
    r"|If-Match|If-None-Match|Retry-After|Set-Cookie|User-Agent|WWW-Authenticate|X-Change-Note|X-Request-Id)"
)
# Signing in uses the client's ``User-Agent``, and returns to the console.
REMAINING: Final = {
    *(f"identity/{name}.py" for name in ("records", "callers", "sign_in_events", "issuer_sign_in")),
}


def test_the_domain_mentions_no_adapter() -> None:
    domain = Path(str(files("logoadmin"))) / "domain"
    found = {
        path.relative_to(domain).as_posix()
        for path in domain.rglob("*.py")
        if WORDS.search(path.read_text(encoding="utf-8"))
    }
    assert found - REMAINING == set()
