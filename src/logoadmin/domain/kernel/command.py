"""The base of all commands, and the JSON that they may come from (contract A4, A5).

A command is a request as typed values. It validates itself when it is created, so HTTP, the command line and Python
have the same limits and the same errors.
"""

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json

from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.limits import IdempotencyKey, Origin

# How deep JSON may be nested, the outermost counted as 1; no command needs more than 2 (contract A21).
MAX_DEPTH: Final = 16
# The size of a record with CSS in JSON, with every character escaped.
MAX_JSON: Final = 7 * 1024 * 1024  # bytes
# No command has more than ten fields: naming each of 200,000 others would take seconds.
MOST_FIELDS: Final = 100
# Nor does any need a fiftieth of these outside strings; a million of them would keep the garbage collector busy.
MOST_MARKS: Final = 10_000

_NO_MARKS: Final = bytes(set(range(256)) - set(b'"[{]}:,'))
# Messages that name types of Python, as those of JSON.
_IN_JSON: Final = {
    "tuple_type": ("Input should be a valid list", "list_type"),
    "model_type": ("Input should be a valid dictionary", "dict_type"),
}
# A bracket leads one deeper or, as a signed byte, one back.
_STEPS: Final = bytes.maketrans(b"[{]}:,", b"\x01\x01\xff\xff\0\0")


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:  # so that copies, also those of other processes, are the same object
        return "UNSET"


# The value of a field that an update leaves unchanged. `Any`, so that the field keeps the type of its value.
UNSET: Final[Any] = _Unset()


def _unset() -> Any:
    return UNSET


def request_option(default: Any) -> Any:
    """Declare a field that is an option of the request: it is in no body and in no JSON schema."""
    return Field(default=default, exclude=True, repr=False)


class Input(BaseModel):
    """Values from outside: frozen, strict, without unknown fields.

    Raises:
        InvalidInput: values are outside their limits; it has all problems. If pydantic creates the command, by
            ``model_validate`` or as a part of another model, its ValidationError has the same problems.
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
        # Raised outside the handler, so that it has no context: pydantic's own error has the input.
        raise InvalidInput(problems)

    # Only calls of the class raise our error. If a command is part of another model, such as the body of a FastAPI
    # route, this lets pydantic report its problems with all others, as its own __init__ does.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # no function declares it

    if not TYPE_CHECKING:  # type checkers know that it is frozen

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_"):  # pydantic's error would contain the value
                raise TypeError(f"{type(self).__name__} is frozen: model_copy returns one with other values")
            super().__setattr__(name, value)

    def __init_subclass__(cls, **options: Any) -> None:
        """Leave fields out of serialized forms while they are UNSET; pydantic collects them after this."""
        super().__init_subclass__(**options)
        for name in [name for name, default in vars(cls).items() if default is UNSET]:
            # A factory, since pydantic warns about defaults that are not JSON when it makes a schema.
            setattr(cls, name, Field(default_factory=_unset, exclude_if=lambda value: value is UNSET))

    def new_values(self) -> dict[str, Any]:
        """Return the fields that get a new value, by name: the given ones without the id."""
        new = [name for name, field in type(self).model_fields.items() if field.default_factory is _unset]
        return {name: getattr(self, name) for name in new if name in self.model_fields_set}


# The field of commands that can be tried without changing anything; over HTTP, it is in the query.
DRY_RUN: Final = "dry_run"


class Command(Input):
    """The base class of commands. None carries a right: that is the use case's (contract B6).

    These fields are options of the request. They are not part of its JSON schema or of :meth:`model_dump`; a request
    over HTTP has headers for most of them.

    Attributes:
        hashes: whether it hashes a password, which takes longer than a database call.
        asks_others: whether it asks other hosts, which may take many seconds.
        judges: whether it reads CSS of any form, which may take a second of computing.
        takes_long: whether it may change any number of records, and therefore has no time limit.
        keeps_answer: whether its answer is stored under an idempotency key (contract F3). Answers with a token, a key
            or a code are not stored, nor those to requests that anyone or any member may repeat without limit.
        origin: the origin of its changes in the history.
        if_match: of an update or a removal, the versions of the record, one of which must be current; otherwise
            Outdated is raised. None for any version (contract F1).
        if_none_match: of a read, the versions that the caller already has; NotModified is raised if one of them is
            current (contract F1).
        idempotency_key: of a write, identifies it if it is sent again within a day: its stored response is returned.
            InvalidInput is raised if another command had the key. Commands without ``keeps_answer`` ignore it
            (contract F3).
        on_replay: called when a write returns its stored response (contract F3).
    """

    hashes: ClassVar[bool] = False
    asks_others: ClassVar[bool] = False
    judges: ClassVar[bool] = False
    takes_long: ClassVar[bool] = False
    keeps_answer: ClassVar[bool] = True
    origin: ClassVar[Origin | None] = None

    if_match: SkipJsonSchema[frozenset[int] | None] = request_option(None)
    if_none_match: SkipJsonSchema[frozenset[int]] = request_option(frozenset())
    idempotency_key: SkipJsonSchema[IdempotencyKey | None] = request_option(None)
    on_replay: SkipJsonSchema[Callable[[], object] | None] = request_option(None)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which are validated like the first ones; UNSET leaves a field out."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in self.model_fields_set} | dict(update)
        return type(self)(**{name: value for name, value in values.items() if value is not UNSET})

    def copy(self, **options: Any) -> Self:
        """Return :meth:`model_copy`; pydantic's deprecated method would not validate the values."""
        return self.model_copy(**options)

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Return a command with these values, which are validated: storage relies on it."""
        return cls(**values)

    def own_values(self) -> dict[str, Any]:
        """Return the values of the fields, without the options of the request."""
        return {name: value for name, value in vars(self).items() if name not in REQUEST_OPTIONS}

    @property
    def is_dry_run(self) -> bool:
        """Whether its changes are undone at the end: those of commands with a field ``dry_run``, if it is set."""
        return bool(vars(self).get(DRY_RUN))  # pydantic takes long to miss an attribute

    @property
    def searches(self) -> bool:
        """Whether it may compare all records of a kind, which is slow."""
        return False


# The options of every command.
REQUEST_OPTIONS: Final = frozenset(Command.model_fields)


def fields_of(command: type[Command]) -> dict[str, FieldInfo]:
    """Return the fields of a command without its options, by name."""
    return {name: field for name, field in command.model_fields.items() if not field.exclude}


def strict_json(text: str | bytes, most_marks: int | None = None) -> Any:
    """Return the value of JSON in UTF-8, unless parsers may disagree about it (contract A21).

    Raises:
        ValueError: it is invalid, nested too deeply, has more than ``most_marks`` brackets, colons and commas outside
            strings, or an object in it has a field twice. The text has the place, and repeats none of the JSON.
    """
    try:
        encoded = text.encode() if isinstance(text, str) else text
        marks = _marks(encoded, most_marks)
        value = from_json(encoded, allow_inf_nan=False)
    except (TypeError, UnicodeError) as error:  # text that cannot be UTF-8
        raise ValueError("text is not UTF-8") from error
    # The parser silently accepts duplicate fields and keeps the last.
    if marks.count(b":") != _count_fields(value):
        raise ValueError("an object names a field twice")
    return value


def _marks(text: bytes, most: int | None) -> bytes:
    """Return the brackets, colons and commas outside strings, up to where the text stops being JSON.

    In a few passes of C, so that hostile texts are found cheaply: a ValueError if there are more than ``most``, or they
    are nested too deeply.
    """
    without_escapes = text.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = b"".join(without_escapes.translate(None, _NO_MARKS).split(b'"')[::2])
    if most is not None and len(marks) > most:
        raise ValueError(f"it has more than {most} brackets, colons and commas")
    if max(accumulate(memoryview(marks.translate(_STEPS)).cast("b")), default=0) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
    return marks


def _count_fields(value: object) -> int:
    """Return the number of fields of all objects in a value."""
    count, left = 0, [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            count += len(each)
            left += each.values()
        elif isinstance(each, list):
            left += each
    return count


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Return the problems in pydantic's error, without the input and in the words of JSON."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(Problem(entry["loc"], *_IN_JSON.get(entry["type"], (entry["msg"], entry["type"]))) for entry in found)
