"""The tables of the docs that are generated from the code; ``python -m tests.architecture.tables`` writes them."""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pydantic import ByteSize, SecretStr

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.command import fields_of
from logoadmin.domain.kernel.lists import Listing
from logoadmin.entrypoints.http_api.openapi_texts import errors_of
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.settings import Settings
from tests.architecture.test_evidence import rules

DOCS: Final = Path(__file__).parents[2] / "docs"
PACKAGE: Final = DOCS.parent / "src" / "logoadmin"
_SPEC_RULES: Final = re.compile(
    r"§(Resources|Endpoints|Rules|Authentication|Errors|Limits|Versioning)(?: (\d+))?(?:( to | and )(\d+))?"
)


def settings() -> str:
    """Return the list of all settings: name, default if there is one, and description."""
    lines = []
    for name, field in Settings.model_fields.items():
        of_lists = ["list"] if "tuple" in str(field.annotation) else []
        given = ", ".join([*default(field.default), *of_lists])
        lines.append(f"- `{name}`{given and f' ({given})'}: {field.description}")
    return "\n".join(lines)


def default(value: object) -> list[str]:
    """Return a default, if there is one, in the form of ``logoadmin.toml``."""
    value = value.get_secret_value() if isinstance(value, SecretStr) else value
    if isinstance(value, ByteSize):
        return [f"`{value // 2**20} MiB`"]
    if isinstance(value, bool):
        return [f"`{str(value).lower()}`"]
    return [] if value in (None, (), "", {}) else [f"`{value}`"]


def causes() -> str:
    """Return the list of all causes of database failures: code and cure."""
    return "\n".join(f"- `{cause.code}`: {cause.cure}" for cause in Cause)


def operations() -> str:
    """Return the list of all operations of the interface, whose diff shows changes of the interface."""
    lines = ["operation | body or query | response | scope | token under `open` | other statuses | source"]
    lines += [" | ".join(_operation_row(operation)) for operation in OPERATIONS]
    return "\n".join(lines).replace("`", "")


def _operation_row(operation: Operation) -> list[str]:
    permission, fields = operation.permission, fields_of(operation.command)
    given = {field.validation_alias or name: field for name, field in fields.items()}
    body = [f"`{n}`{'' if f.is_required() else '?'}" for n, f in given.items() if n not in operation.path_fields]
    body = ["`grant_type`?", *body] if operation.grants else body
    body += ["a picture"] if operation.takes_file else ["JSON Lines or CSV"] if operation.takes_jsonl else []
    scopes = " or ".join(f"`{scope.value}`" for scope in (permission.scope, *permission.or_else) if scope)
    answer = " or ".join(dict.fromkeys(_name_of(row.answer) for row in operation.variants))
    return [
        f"`{operation.route}`",
        "object" if operation.whole_body else ", ".join(body) or "-",
        f"{operation.success}, {answer}",
        f"{scopes}{', or oneself' if permission.self_field else ''}" or "-",
        "yes" if permission.needs_token(Policy.OPEN) else "no",
        ", ".join(map(str, errors_of(operation))) or "-",
        operation.source,
    ]


def _name_of(answer: Any) -> str:
    if get_origin(answer) in (tuple, Listing):
        return f"list of {_name_of(get_args(answer)[0])}"
    if get_origin(answer) is dict or answer is dict:
        return "object"
    return str(answer.__name__)


def spec_rules() -> str:
    """Return the list of all rules of the specification, with the modules that name them."""
    modules = defaultdict[str, set[str]](set)
    for module in PACKAGE.rglob("*.py"):
        for rule in _cited(module.read_text(encoding="utf-8")):
            modules[rule].add(module.relative_to(PACKAGE).as_posix())
    together = defaultdict[str, list[str]](list)
    for rule in (name.removeprefix("spec ") for name in rules() if name.startswith("spec ")):
        heading, _, number = rule.partition(" ")
        listed = together[", ".join(f"`{name}`" for name in sorted(modules[rule]))]
        listed.append(number if any(name.startswith(heading) for name in listed) else rule)
    return "\n".join(f"- {', '.join(listed)}: {names}" for names, listed in together.items())


def _cited(text: str) -> Iterator[str]:
    """Yield the rules of the specification that a text names; ``§Endpoints 6 and 7`` and ``1 to 4`` name several."""
    for heading, first, word, last in _SPEC_RULES.findall(text):
        if not first:
            yield f"§{heading}"
        elif word == " to ":
            yield from (f"§{heading} {number}" for number in range(int(first), int(last) + 1))
        else:
            yield from (f"§{heading} {number}" for number in (first, last) if number)


TABLES: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "settings": ("settings.md", settings),
    "causes": ("trouble.md", causes),
    "rules": ("spec.md", spec_rules),
    "operations": ("operations.txt", operations),
}


def with_table(page: str, name: str, table: str) -> str:
    """Return the text of a page with a table between its marks; the list of operations is a file of its own."""
    if name == "operations":
        return f"{table}\n"
    marked = re.compile(rf"(<!-- {name} -->\n\n).*?(\n\n<!-- end of {name} -->)", re.DOTALL)
    text, count = marked.subn(lambda match: f"{match[1]}{table}{match[2]}", page)
    if count != 1:
        raise ValueError(f"the page has {count} places for the table {name}")
    return text


if __name__ == "__main__":
    for name, (page, table) in TABLES.items():
        path = DOCS / page
        path.write_text(with_table(path.read_text(encoding="utf-8"), name, table()), encoding="utf-8")
    sys.exit(0)
