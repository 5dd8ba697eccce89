"""Many changes as one request: their commands, and making all of them or none (contract J7)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import PrivateAttr

from logoadmin.domain.changes.change_list import Undone, changes_between
from logoadmin.domain.gallery.artworks import LOGO_USE_CASES, THEME_USE_CASES
from logoadmin.domain.gallery.audited_artworks import artworks_of, check_authors
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, RemoveAuthor
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.roles import AmendRole, CreateRole, RemoveRole
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser, creation
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller
from logoadmin.domain.kernel.command import DRY_RUN, UNSET, Command, Input
from logoadmin.domain.kernel.details import Tags
from logoadmin.domain.kernel.errors import (
    Conflict,
    DuplicateEntry,
    InvalidInput,
    NotFound,
    NotPermitted,
    Outdated,
    Problem,
    TooManyChanges,
)
from logoadmin.domain.kernel.gate import Gate, Transactions, WriteWork
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, USERS, AnyKind, ArtworkKind
from logoadmin.domain.kernel.limits import AuthorIds, Flag, Id, Origin, RequestId, described, examples
from logoadmin.domain.kernel.lists import CHANGE_PAGE_SIZES, EVERY_CHANGE, Listing, text_length
from logoadmin.domain.kernel.records import Change, Kind, ListedKind, version_of
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, change_log_of, history_in
from logoadmin.domain.kernel.use_cases import Service, gate_of, use_case, work_of

# The maximum number of changes in one request.
MOST_CHANGES: Final = 1_000
# The maximum length of the response to a dry run, in characters, which is held in memory.
MOST_TEXT: Final = 67_108_864
# Errors whose message begins with the place of their change.
_PLACED: Final = (Conflict, DuplicateEntry, NotFound, NotPermitted, Outdated)

# The name of a use case that changes one record.
Verb = Literal["create", "amend", "block", "remove"]

_COMMANDS: Final[Mapping[Kind, Mapping[Verb, type[Command]]]] = {
    Kind.ROLE: {"create": CreateRole, "amend": AmendRole, "remove": RemoveRole},
    Kind.USER: {"create": CreateUser, "amend": AmendUser, "remove": RemoveUser},
    Kind.AUTHOR: {"create": CreateAuthor, "amend": AmendAuthor, "remove": RemoveAuthor},
    Kind.THEME: {verb: THEME_USE_CASES[verb][0] for verb in get_args(Verb)},
    Kind.LOGO: {verb: LOGO_USE_CASES[verb][0] for verb in get_args(Verb)},
}
_EXAMPLE: Final = {"kind": "author", "create": {"user_id": 2042, "username": "Bea"}}


_Values = dict[str, Any]
_Set = Annotated[
    _Values,
    described(
        "The fields to change, with their new values; for a theme or logo also `author_ids`, in order, and `add_tags` "
        "and `remove_tags`, which keep its other tags.",
        {"active": True, "author_ids": [7], "add_tags": ["winter"]},
    ),
]
_Block = Annotated[
    _Values, described("Blocks a theme or logo, with this reason.", {"reason": "It covers the sign-in form"})
]
_CREATED: Final = "The fields of a new record; for a theme or logo also `author_ids`."
_Create = Annotated[_Values, described(_CREATED, {"user_id": 1042, "username": "Ann"})]


class BulkChange(Input):
    """A change in a list: it creates, amends, blocks or removes a record."""

    model_config = examples(
        _EXAMPLE,
        {"kind": "logo", "id": 12, "version": 57, "set": {"active": True, "author_ids": [7]}},
        {"kind": "theme", "id": 7, "version": 57, "block": {"reason": "It covers the sign-in form"}},
        {"kind": "author", "id": 7, "version": 57, "remove": True},
    )

    kind: Annotated[ListedKind, described("The kind of record.", "logo")]
    id: Annotated[Id, described("The id of an existing record.", 12)] | None = None
    version: Annotated[Id, described("The version of the record, or of a list that contains it.", 57)] | None = None
    set: _Set | None = None
    block: _Block | None = None
    remove: Annotated[Flag, described("Whether to remove the record.", True)] = False
    create: _Create | None = None

    def step(self, others: Iterable[Problem] = ()) -> "Step":
        """Return the command of this change, or raise InvalidInput with ``others`` and all its problems."""
        row = KINDS[self.kind]
        given = [each for each in (self.set, self.block, self.create) if each is not None]
        problems = [*others]
        if len(given) + self.remove != 1:
            text = "Input should have one of set, block, remove and create"
            raise InvalidInput([*problems, Problem((), text, "value_error")])
        if self.create is not None:
            if self.id is not None or self.version is not None:
                problems.append(Problem(("create",), "A new record has no id and no version", "value_error"))
            return step_of(row, "create", self.create, {}, problems)
        problems += [
            Problem((name,), "Field required", "missing") for name in ("id", "version") if getattr(self, name) is None
        ]
        options = {row.id_field: self.id or 0, "if_match": frozenset({self.version or 0})}
        verb: Verb = "remove" if self.remove else "amend" if self.block is None else "block"
        if verb not in _COMMANDS[self.kind]:
            raise InvalidInput([*problems, Problem(("block",), "Only a theme or logo can be blocked", "value_error")])
        return step_of(row, verb, self.block or self.set or {}, options, problems)


class _ExtraFields(Input):
    """Fields of the change of an artwork that its command lacks."""

    author_ids: AuthorIds = UNSET
    add_tags: Tags = UNSET
    remove_tags: Tags = UNSET


# A new artwork has no tags that others could be added to or removed from.
_EXTRA_FIELDS: Final[Mapping[Verb, Collection[str]]] = {"create": ["author_ids"], "amend": [*_ExtraFields.model_fields]}


@dataclass(frozen=True, slots=True)
class Step:
    """The command of a change; for a theme or logo, its new authors, None to keep them, and changes of its tags."""

    kind: AnyKind
    verb: Verb
    command: Command
    author_ids: tuple[int, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


def step_of(
    kind: AnyKind, verb: Verb, given: Mapping[str, Any], options: Mapping[str, Any], problems: Sequence[Problem] = ()
) -> Step:
    """Return the step for these values, or raise InvalidInput with ``problems`` and those of the values."""
    values, field, problems = dict(given), "set" if verb == "amend" else verb, [*problems]
    for name in [name for name in values if name in {*options, *Command.model_fields, DRY_RUN}]:
        del values[name]
        problems.append(Problem((field, name), "Extra inputs are not permitted", "extra_forbidden"))
    named = [name for name in _EXTRA_FIELDS.get(verb, ()) if name in values and kind in ARTWORK_KINDS]
    extras: dict[str, Any] = {}
    made: Command | None = None
    try:
        if named:
            extras = _ExtraFields(**{name: values.pop(name) for name in named}).new_values()
    except InvalidInput as error:
        problems += error.at(field)
    try:
        made = _COMMANDS[kind.kind][verb](**values, **options)
    except InvalidInput as error:
        problems += error.at(field)
    if made is None or problems:
        raise InvalidInput(problems)
    return Step(kind, verb, made, **extras)


class WithSteps(Command):
    """A command with changes."""

    _steps: tuple[Step, ...] = PrivateAttr(())

    def model_post_init(self, _context: object, /) -> None:
        """Create the commands of the changes, or raise InvalidInput with all problems."""
        changes: Any = getattr(self, "changes", UNSET)
        self._steps = () if changes is UNSET else self._steps_of(changes)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The commands of the changes."""
        return self._steps

    def _steps_of(self, changes: Sequence[BulkChange]) -> tuple[Step, ...]:
        steps: list[Step] = []
        problems: list[Problem] = []
        for place, change in enumerate(changes):
            try:
                steps.append(change.step(self._problems_of(change)))
            except InvalidInput as error:
                problems += error.at("changes", place)
        if problems:
            raise InvalidInput(problems)
        return tuple(steps)

    def _problems_of(self, _change: BulkChange) -> Iterable[Problem]:
        """Return problems of a change that its own command does not have."""
        return ()


class ApplyChanges(WithSteps):
    """Many changes, all or nothing; each requires the right of its own operation."""

    model_config = examples({"changes": [_EXAMPLE]})

    hashes = True
    takes_long = True
    origin = Origin.BULK

    changes: Annotated[
        tuple[BulkChange, ...],
        described("The changes, in the order in which they are made; at most 1,000.", [_EXAMPLE]),
    ]
    continues: Annotated[
        RequestId,
        described(
            "The id of your request with the first changes of this act, if the act has more than 1,000 changes.",
            "5f0c2b7e",
        ),
    ] = UNSET
    dry_run: Annotated[Flag, described("Whether to return the changes without making them.", True)] = False

    def _steps_of(self, changes: Sequence[BulkChange]) -> tuple[Step, ...]:
        if len(changes) > MOST_CHANGES:
            raise TooManyChanges(f"A request can have at most {MOST_CHANGES:,} changes")
        return super()._steps_of(changes)


class BulkService(Service):
    """The use case of many changes, which calls the use cases of their kinds."""

    def __init__(
        self, transactions: Transactions, new_passwords: NewPasswords, services: Mapping[Kind, Service]
    ) -> None:
        super().__init__(transactions)
        self._new_passwords, self._services = new_passwords, services

    @use_case(SIGNED_IN)
    def apply(self, gate: Gate, command: ApplyChanges, caller: Caller = OWNER) -> Listing[Change]:
        """Make all changes, or none, and return them as the history has them (contract J7).

        Each requires the write scope of its kind, under any policy, as undoing it does.

        Consecutive changes of a record are one change in the history; changes without effect are not in it. A dry run
        returns the same and stores nothing. Changes that continue an earlier request of the caller form one act with it
        (contract G5), which is undone as a whole, unless something was changed in between.

        Raises:
            InvalidInput: passwords of new users are not accepted (contract O5); the error has all problems.
            NotFound, NotPermitted, Outdated, Conflict, DuplicateEntry: of the first change that cannot be made; the
                message begins with its place, such as ``Change 3:``, counted from 0.
            TooManyChanges: the response to a dry run would be too long.
        """
        gate.require_token(caller)
        if not command.changes:  # nothing is stored, since any member can repeat this without limit
            gate.check(command, caller)
            return Listing((), attrgetter("change_id"))
        if problems := [*self._password_problems(command)]:
            raise InvalidInput(problems)
        creations = dict(self._creations(command, caller))

        def apply(uow: AuditedUnitOfWork, command: ApplyChanges) -> Undone | tuple[Change, ...]:
            last = history_in(uow).last_id()
            if command.continues is not UNSET:
                _continue(uow, command.continues)
            for place, step in enumerate(command.steps):
                with placed(place):
                    uow.held.require([step.kind.write_scope])
                    make(uow, self._services, step, creations.get(place))
            return _unstored(uow, last) if command.dry_run else Undone(last, change_log_of(uow).last_id)

        applied = gate.write(command, caller, apply)
        if isinstance(applied, tuple):
            return Listing(applied, attrgetter("change_id"))
        return changes_between(self, applied.after, applied.last)

    def _password_problems(self, command: ApplyChanges) -> Iterator[Problem]:
        """Yield the problems of the passwords of new users."""
        for place, step in enumerate(command.steps):
            if isinstance(step.command, CreateUser):
                for problem in self._new_passwords.problems(step.command.password, step.command.username):
                    yield Problem(("changes", place, step.verb, *problem.loc), problem.msg, problem.type)

    def _creations(self, command: ApplyChanges, caller: Caller) -> Iterator[tuple[int, WriteWork[Any, Any]]]:
        """Yield the work that creates each new user, by place: passwords are hashed before the transaction."""
        for place, step in enumerate(command.steps):
            if isinstance(step.command, CreateUser):
                with placed(place):
                    gate_of(self._services[Kind.USER], step.verb, step.command).check(step.command, caller)
                yield place, creation(self._new_passwords.hasher, step.command.password)


def _continue(uow: AuditedUnitOfWork, request_id: str) -> None:
    """Make the next changes part of the act of an earlier request, if nothing was changed since."""
    last = history_in(uow).get(history_in(uow).last_id())
    # Changes of an import or a proposal would be undone with these, and shown under another user's name.
    expected = (request_id, uow.held.user_id, Origin.BULK)
    if last is not None and (last.request_id, last.user_id, last.origin) == expected:
        change_log_of(uow).continue_request(request_id)


def make(
    uow: AuditedUnitOfWork, services: Mapping[Kind, Service], step: Step, work: WriteWork[Any, Any] | None = None
) -> Any:
    """Make a change whose right was checked before, and return the result of its command.

    ``work`` makes it, which creating a user requires; by default, the use case of its kind does.
    """
    kind, author_ids = step.kind, step.author_ids
    if isinstance(kind, ArtworkKind) and author_ids is not None and step.verb == "create":
        # Together with its authors, which saves looking for its links.
        check_authors(uow, author_ids)
        artworks = artworks_of(uow, kind)
        added = {kind.id_field: artworks.next_id(), "authors": (), "created_at": uow.now}
        return artworks.add_with_authors(kind.record(**step.command.own_values(), **added), author_ids)
    work = work or work_of(services[kind.kind], step.verb, step.command)
    record = work(uow, _with_tags(uow, step, _at_current_version(uow, step)))
    if isinstance(kind, ArtworkKind) and author_ids is not None:
        check_authors(uow, author_ids)
        artworks_of(uow, kind).assign_authors(kind.id_of(record), author_ids)
    return record


def _unstored(uow: AuditedUnitOfWork, after: int) -> tuple[Change, ...]:
    """Return the changes of a dry run, after an id, as the history would show them."""
    change_log_of(uow).store()
    caller = None if uow.held.user_id is None else uow.records(USERS).get(uow.held.user_id)
    found: list[Change] = []
    length = 0
    while page := history_in(uow).page(after, CHANGE_PAGE_SIZES.most, EVERY_CHANGE, "asc"):
        length += text_length(page)
        if length > MOST_TEXT:
            # They are held in memory.
            raise TooManyChanges("A dry run of these changes has too long a response; send fewer of them at once")
        found += (replace(change, user_name=None if caller is None else caller.username) for change in page)
        after = page[-1].change_id
    return tuple(found)


def _at_current_version(uow: AuditedUnitOfWork, step: Step) -> Command:
    """Return the command of a step, for the current version of a record that is unchanged since the given version.

    A list has the version of its last change, so no record in it has a later one.
    """
    command = step.command
    record = uow.records(step.kind).get(step.kind.id_of(command)) if command.if_match else None
    if not command.if_match or record is None or version_of(record) > max(command.if_match):
        return command
    return command.model_copy(update={"if_match": frozenset({version_of(record)})})


def _with_tags(uow: AuditedUnitOfWork, step: Step, command: Command) -> Command:
    """Return the command of a step, with the tags of its artwork after adding and removing some."""
    record: Any = uow.records(step.kind).get(step.kind.id_of(command)) if step.add_tags or step.remove_tags else None
    if record is None:
        return command
    patch = getattr(command, "details")  # noqa: B009 (the kinds with tags have them)
    details = record.details if patch is UNSET else record.details.merged(patch)
    try:
        return command.model_copy(update={"details": details.retagged(step.add_tags, step.remove_tags)})
    except InvalidInput as error:
        raise InvalidInput([Problem(("set", "add_tags"), each.msg, each.type) for each in error.problems]) from None


@contextmanager
def placed(place: int) -> Iterator[None]:
    """Begin the message of errors, and the location of problems, with the place of their change."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.at("changes", place)) from None
    except _PLACED as error:
        error.args = (f"Change {place}: {error}",)
        raise
