"""The base of all commands, and the JSON that they may come from (contract A4, A5).

A command is what somebody asks for, as typed values. It validates itself when it is made, so every way in, HTTP,
command line or Python, meets the same limits and the same errors.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json

from logoadmin.domain.model.access import PUBLIC, Permission
from logoadmin.domain.model.errors import InvalidInput, Problem
from logoadmin.domain.model.limits import IdempotencyKey

# How deep JSON may be nested, the outermost counted as 1; no command needs more than 2 (contract A21).
MAX_DEPTH: Final = 16
# What a record with CSS takes in JSON, every character escaped.
MAX_JSON: Final = 3_584 * 1024  # bytes
# No command has more than ten fields: naming each of 200,000 others would take seconds.
MOST_FIELDS: Final = 100
# Nor does any need a fiftieth of these outside strings; a million of them would keep the garbage collector busy.
MOST_MARKS: Final = 10_000

_NO_MARKS: Final = bytes(set(range(256)) - set(b'"[{]}:,'))
# A bracket leads one deeper or, as a signed byte, one back.
_STEPS: Final = bytes.maketrans(b"[{]}:,", b"\x01\x01\xff\xff\0\0")


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


# The value of a field that an amendment leaves alone. `Any`, so that the field keeps the type of its value.
UNSET: Final[Any] = _Unset()


def request_option(default: Any) -> Any:
    """Declare a field that says how something is asked for, not what: it is in no body and in no JSON schema."""
    return Field(default=default, exclude=True, repr=False)


class Input(BaseModel):
    """Values from outside: frozen, strict, without unknown fields.

    Raises:
        InvalidInput: when it is made of values outside the limits, with every problem at once. Where pydantic makes it,
            by ``model_validate`` or as a part of something else, pydantic's ValidationError has the same problems.
    """

    # Inputs stay hidden in errors: one of them may be a password.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            problems = problems_of(error)
        else:
            return
        # Raised out here so that the error does not drag pydantic's own, which knows the input, along.
        raise InvalidInput(problems)

    # Only who calls the class gets an error of ours. Where a command is part of something that pydantic makes, such as
    # the body of a route of FastAPI, this has pydantic report its problems with all others, as its own __init__ does.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # no function declares it

    def changes(self) -> dict[str, Any]:
        """Return the fields that are to get a new value, by name: those that were given and are not the id."""
        fields = type(self).model_fields
        return {name: getattr(self, name) for name in fields if name in self.model_fields_set and _is_new(fields[name])}


def _is_new(field: FieldInfo) -> bool:
    return field.default is UNSET


class Command(Input):
    """Something to be done.

    The fields are options of the request. They are no part of what is asked for: neither of a JSON schema nor of
    :meth:`model_dump`, and a request over HTTP has headers for most of them.

    Attributes:
        permission: the right that it takes, see :class:`~logoadmin.domain.model.access.Permission`.
        hashes: whether it works on a password, which takes longer than any database.
        takes_long: whether it may change so much that nobody can say how long it takes.
        changes_records: whether a write changes records, and not sessions, keys or sign-in attempts alone, which do not
            wait for other writes of records.
        if_match: of an amendment or a removal, the versions of the record of which it must have one; else Outdated
            is raised. None if it does not matter (contract F1).
        if_none_match: of a read, the versions that the caller has already; NotModified is raised where the record or
            the list has one of them (contract F1).
        idempotency_key: of a write, what makes it the same one when it is sent again within a day: it gets its stored
            response then. InvalidInput is raised if another command had the key (contract F3). A response with tokens
            is stored for a minute, and returned again only while the tokens are unused.
        on_replay: called when a write returns its stored response (contract F3).
    """

    permission: ClassVar[Permission] = PUBLIC
    hashes: ClassVar[bool] = False
    takes_long: ClassVar[bool] = False
    changes_records: ClassVar[bool] = True

    if_match: SkipJsonSchema[frozenset[int] | None] = request_option(None)
    if_none_match: SkipJsonSchema[frozenset[int]] = request_option(frozenset())
    idempotency_key: SkipJsonSchema[IdempotencyKey | None] = request_option(None)
    on_replay: SkipJsonSchema[Callable[[], object] | None] = request_option(None)

    @property
    def searches(self) -> bool:
        """Whether it may take a look at all records of a kind, which is no quick one."""
        return False


# The options that every command has beside what it asks for.
REQUEST_OPTIONS: Final = frozenset(Command.model_fields)


def fields_of(command: type[Command]) -> dict[str, FieldInfo]:
    """Return the fields of what is asked for, by name."""
    return {name: field for name, field in command.model_fields.items() if not field.exclude}


def strict_json(text: str | bytes, most_marks: int | None = None) -> Any:
    """Return what JSON in UTF-8 says, and nothing that only some readers would understand like this (contract A21).

    Args:
        text: the JSON.
        most_marks: how many brackets, colons and commas it may have outside strings, if not any number.

    Raises:
        ValueError: it is broken, nested too deeply, has too many marks, or an object in it names a field twice; the
            text says where, and repeats none of it.
    """
    try:
        encoded = text.encode() if isinstance(text, str) else text
        marks = _marks(encoded)
        _check_marks(marks, most_marks)
        value = from_json(encoded, allow_inf_nan=False)
    except (TypeError, UnicodeError) as error:  # text that cannot be UTF-8
        raise ValueError("text is not UTF-8") from error
    # Of a field that is given twice the parser silently takes the later.
    if marks.count(b":") != _count_fields(value):
        raise ValueError("an object names a field twice")
    return value


def _marks(text: bytes) -> bytes:
    """Return the brackets, colons and commas outside strings, up to where the text stops being JSON.

    In a few passes of C, because this is what keeps a hostile text from costing more.
    """
    without_escapes = text.replace(rb"\\", b"").replace(rb"\"", b"")
    return b"".join(without_escapes.translate(None, _NO_MARKS).split(b'"')[::2])


def _check_marks(marks: bytes, most: int | None) -> None:
    if most is not None and len(marks) > most:
        raise ValueError(f"it has more than {most} brackets, colons and commas")
    if max(accumulate(memoryview(marks.translate(_STEPS)).cast("b")), default=0) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}")


def _count_fields(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_fields, value.values()))
    return sum(map(_count_fields, value)) if isinstance(value, list) else 0


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Return what pydantic found, without the input it found it in."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(Problem(entry["loc"], entry["msg"], entry["type"]) for entry in found)
