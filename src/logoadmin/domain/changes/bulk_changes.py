"""Many changes as one request: their commands (contract J7)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import PrivateAttr

from logoadmin.domain.gallery.artworks import (
    AmendLogo,
    AmendTheme,
    BlockLogo,
    BlockTheme,
    CreateLogo,
    CreateTheme,
    RemoveLogo,
    RemoveTheme,
)
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, RemoveAuthor
from logoadmin.domain.identity.roles import AmendRole, CreateRole, RemoveRole
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser
from logoadmin.domain.kernel.command import DRY_RUN, UNSET, Command, Input
from logoadmin.domain.kernel.details import Tags
from logoadmin.domain.kernel.errors import (
    InvalidInput,
    Problem,
    TooManyChanges,
)
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, AnyKind
from logoadmin.domain.kernel.limits import AuthorIds, Flag, Id, Origin, RequestId, described, examples
from logoadmin.domain.kernel.records import Kind, ListedKind

# The most changes of one request.
MOST_CHANGES: Final = 1_000

# The name of a use case that changes one record.
Verb = Literal["create", "amend", "block", "remove"]

_COMMANDS: Final[Mapping[Kind, Mapping[Verb, type[Command]]]] = {
    Kind.ROLE: {"create": CreateRole, "amend": AmendRole, "remove": RemoveRole},
    Kind.USER: {"create": CreateUser, "amend": AmendUser, "remove": RemoveUser},
    Kind.AUTHOR: {"create": CreateAuthor, "amend": AmendAuthor, "remove": RemoveAuthor},
    Kind.THEME: {"create": CreateTheme, "amend": AmendTheme, "block": BlockTheme, "remove": RemoveTheme},
    Kind.LOGO: {"create": CreateLogo, "amend": AmendLogo, "block": BlockLogo, "remove": RemoveLogo},
}


_EXAMPLE: Final = {"kind": "author", "create": {"user_id": 2042, "username": "Bea"}}


class BulkChange(Input):
    """One of many changes: the creation of a record, new values for it, its blocking, or its removal."""

    model_config = examples(
        _EXAMPLE,
        {"kind": "logo", "id": 12, "version": 57, "set": {"active": True, "author_ids": [7]}},
        {"kind": "theme", "id": 7, "version": 57, "block": {"reason": "It covers the sign-in form"}},
        {"kind": "author", "id": 7, "version": 57, "remove": True},
    )

    kind: Annotated[ListedKind, described("The kind of record.", "logo")]
    id: Annotated[Id, described("The id of an existing record.", 12)] | None = None
    version: Annotated[Id, described("The version of an existing record, or of a list that has it.", 57)] | None = None
    set: (
        Annotated[
            dict[str, Any],
            described(
                "New values, as when such a record is amended; for a theme or logo also its `author_ids`, in order, "
                "and `add_tags` and `remove_tags`, which leave its other tags as they are.",
                {"active": True, "author_ids": [7], "add_tags": ["winter"]},
            ),
        ]
        | None
    ) = None
    block: (
        Annotated[
            dict[str, Any],
            described("The reason, as when a theme or logo is blocked.", {"reason": "It covers the sign-in form"}),
        ]
        | None
    ) = None
    remove: Annotated[Flag, described("True to remove the record.", True)] = False
    create: (
        Annotated[
            dict[str, Any],
            described(
                "The values of a new record, as when one is created; for a theme or logo also `author_ids`.",
                {"user_id": 1042, "username": "Ann"},
            ),
        ]
        | None
    ) = None

    def step(self) -> "Step":
        """Return the command of this change.

        Raises:
            InvalidInput: values are outside their limits, an id or a version is missing, or there is not exactly one of
                ``set``, ``block``, ``remove`` and ``create``.
        """
        row = KINDS[self.kind]
        given = [each for each in (self.set, self.block, self.create) if each is not None]
        if len(given) + self.remove != 1:
            raise InvalidInput([Problem((), "Input should have one of set, block, remove and create", "value_error")])
        problems: list[Problem] = []
        if self.create is not None:
            if self.id is not None or self.version is not None:
                problems.append(Problem(("create",), "A new record has no id and no version", "value_error"))
            return _step(row, "create", self.create, {}, problems)
        problems += [
            Problem((name,), "Field required", "missing") for name in ("id", "version") if getattr(self, name) is None
        ]
        options = {row.id_field: self.id or 0, "if_match": frozenset({self.version or 0})}
        verb: Verb = "remove" if self.remove else "amend" if self.block is None else "block"
        if verb not in _COMMANDS[self.kind]:
            raise InvalidInput([*problems, Problem(("block",), "Only a theme or logo can be blocked", "value_error")])
        return _step(row, verb, self.block or self.set or {}, options, problems)


class _Beside(Input):
    """What a change of an artwork may have beside the fields of its command."""

    author_ids: AuthorIds = UNSET


class _AmendedBeside(_Beside):
    """The same, when it exists; tags that are added and removed are added."""

    add_tags: Tags = UNSET
    remove_tags: Tags = UNSET


@dataclass(frozen=True, slots=True)
class Step:
    """The command of a change, the new authors of a theme or logo, None where they stay, and changes of its tags."""

    kind: AnyKind
    verb: Verb
    command: Command
    author_ids: tuple[int, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


def _step(
    kind: AnyKind, verb: Verb, given: Mapping[str, Any], options: Mapping[str, Any], problems: list[Problem]
) -> Step:
    """Return a step of the given values.

    Raises:
        InvalidInput: with these problems and those of the values.
    """
    values, field = dict(given), "set" if verb == "amend" else verb
    beside = _AmendedBeside if verb == "amend" else _Beside
    named = beside.model_fields.keys() & values.keys() if kind in ARTWORK_KINDS and verb != "block" else set()
    found: _Beside = beside()
    for name in [name for name in values if name in {*options, *Command.model_fields, DRY_RUN}]:
        del values[name]
        problems.append(Problem((field, name), "Extra inputs are not permitted", "extra_forbidden"))
    try:
        found = beside(**{name: values.pop(name) for name in named})
    except InvalidInput as error:
        problems += error.at(field)
    made: Command | None = None
    try:
        made = _COMMANDS[kind.kind][verb](**values, **options)
    except InvalidInput as error:
        problems += error.at(field)
    if made is None or problems:
        raise InvalidInput(problems)
    return Step(kind, verb, made, **found.new_values())


def steps_of(changes: Iterable[BulkChange]) -> tuple[Step, ...]:
    """Return the commands of changes.

    Raises:
        InvalidInput: some of them are not valid; it has all problems.
    """
    steps: list[Step] = []
    problems: list[Problem] = []
    for place, change in enumerate(changes):
        try:
            steps.append(change.step())
        except InvalidInput as error:
            problems += error.at("changes", place)
    if problems:
        raise InvalidInput(problems)
    return tuple(steps)


class ApplyChanges(Command):
    """Many changes, all or nothing; each requires the right of its own operation."""

    model_config = examples({"changes": [_EXAMPLE]})

    hashes = True
    takes_long = True
    origin = Origin.BULK

    changes: Annotated[
        tuple[BulkChange, ...],
        described(
            "The changes, in the order in which they are made; at most 1,000.",
            [_EXAMPLE],
        ),
    ]
    continues: Annotated[
        RequestId,
        described("The request of yours with the first changes of this act, if it has more than 1,000.", "5f0c2b7e"),
    ] = UNSET
    dry_run: Annotated[Flag, described("Whether to return the changes without making them.", True)] = False
    _steps: tuple[Step, ...] = PrivateAttr(())

    def model_post_init(self, _context: object, /) -> None:
        """Make the commands of the changes.

        Raises:
            TooManyChanges: there are more than :data:`MOST_CHANGES`.
            InvalidInput: some of them are not valid; it has all problems.
        """
        if len(self.changes) > MOST_CHANGES:
            raise TooManyChanges(f"A request can have at most {MOST_CHANGES:,} changes")
        self._steps = steps_of(self.changes)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The commands of the changes."""
        return self._steps
