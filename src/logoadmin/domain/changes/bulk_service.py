"""Many changes as one request: making all of them, or none (contract J7)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.changes.bulk_changes import ApplyChanges, Step
from logoadmin.domain.changes.change_list import changes_between
from logoadmin.domain.gallery.audited_artworks import AuditedLinks
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.users import CreateUser, creation
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller
from logoadmin.domain.kernel.command import UNSET, Command
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
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, USERS
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.lists import CHANGE_PAGE_SIZES, EVERY_CHANGE, Listing, text_length
from logoadmin.domain.kernel.records import Change, Kind, Undone, version_of
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, change_log_of, get_existing, history_in
from logoadmin.domain.kernel.use_cases import Service, gate_of, use_case, work_of

# The most characters that the response to a dry run has, which is held in memory.
_MOST_TEXT: Final = 67_108_864
# The errors of a change that name its place.
_PLACED: Final = (Conflict, DuplicateEntry, NotFound, NotPermitted, Outdated)


class BulkService(Service):
    """The use case of many changes, which are made by the use cases of their kinds."""

    def __init__(
        self, transactions: Transactions, new_passwords: NewPasswords, services: Mapping[Kind, Service]
    ) -> None:
        super().__init__(transactions)
        self._new_passwords, self._services = new_passwords, services

    @use_case(SIGNED_IN)
    def apply(self, gate: Gate, command: ApplyChanges, caller: Caller = OWNER) -> Listing[Change]:
        """Make all changes, or none, and return them as the history has them (contract J7).

        Each requires the write scope of its kind, under any policy, as undoing it does.

        Changes of a record that follow each other are one change in the history. A change that finds the record as it
        should be is none. A dry run returns the same and stores nothing. Changes that continue an earlier request of
        the caller are one act with it (contract G5), so that one undo is for all, unless something was changed since.

        Raises:
            InvalidInput: passwords of new users are not accepted (contract O5); it has all problems.
            NotFound, NotPermitted, Outdated, Conflict, DuplicateEntry: of the first change that cannot be made; the
                text begins with its place, such as ``Change 3:``, counted from 0.
            TooManyChanges: what a dry run would return is too long.
        """
        gate.require_token(caller)
        if problems := [*self._password_problems(command)]:
            raise InvalidInput(problems)
        works = [self._work(place, step, caller) for place, step in enumerate(command.steps)]

        def apply(uow: AuditedUnitOfWork, command: ApplyChanges) -> Undone | tuple[Change, ...]:
            last = history_in(uow).last_id()
            if command.continues is not UNSET:
                _continue(uow, command.continues)
            for place, (step, work) in enumerate(zip(command.steps, works, strict=True)):
                with placed(place):
                    uow.held.require(self._gate(step).permission.scopes)
                    _make(uow, step, work)
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

    def _work(self, place: int, step: Step, caller: Caller) -> WriteWork[Any, Any]:
        """Return what a step does in the transaction; a password is hashed before it."""
        if isinstance(step.command, CreateUser):
            with placed(place):
                self._gate(step).check(step.command, caller)
            return creation(self._new_passwords, step.command.password)
        return work_of(self._services[step.kind.kind], step.verb, step.command)

    def _gate(self, step: Step) -> Gate:
        """Return the gate of the use case that makes a step, whose right it requires as well."""
        return gate_of(self._services[step.kind.kind], step.verb, step.command)


def _continue(uow: AuditedUnitOfWork, request_id: str) -> None:
    """Make the next changes part of the act of an earlier request, if nothing was changed since."""
    last = history_in(uow).get(history_in(uow).last_id())
    user_id = uow.held.user_id
    # What an import or a proposal did would be undone with these, and be shown under the name of somebody else.
    if last is not None and (last.request_id, last.user_id, last.origin) == (request_id, user_id, Origin.BULK):
        change_log_of(uow).continue_request(request_id)


def make(uow: AuditedUnitOfWork, services: Mapping[Kind, Service], place: int, step: Step) -> Any:
    """Make a change whose right was judged before, and return the answer to its command; no user is created.

    Raises:
        NotFound, NotPermitted, Outdated, Conflict, DuplicateEntry: see :meth:`BulkService.apply`.
    """
    with placed(place):
        return _make(uow, step, work_of(services[step.kind.kind], step.verb, step.command))


def _make(uow: AuditedUnitOfWork, step: Step, work: WriteWork[Any, Any]) -> Any:
    record = work(uow, _with_tags(uow, step, _at_present_version(uow, step)))
    if step.author_ids is not None:
        _set_authors(uow, step, record)
    return record


def _unstored(uow: AuditedUnitOfWork, after: int) -> tuple[Change, ...]:
    """Return the changes of a dry run, which follow an id, as the history would have them.

    Raises:
        TooManyChanges: they are too long to be held.
    """
    change_log_of(uow).store()
    caller = None if uow.held.user_id is None else uow.records(USERS).get(uow.held.user_id)
    found: list[Change] = []
    length = 0
    while page := history_in(uow).page(after, CHANGE_PAGE_SIZES.most, EVERY_CHANGE, "asc"):
        length += text_length(page)
        if length > _MOST_TEXT:
            raise TooManyChanges("A dry run of these changes has too long a response; send fewer of them at once")
        found += (replace(change, user_name=None if caller is None else caller.username) for change in page)
        after = page[-1].change_id
    return tuple(found)


def _at_present_version(uow: AuditedUnitOfWork, step: Step) -> Command:
    """Return the command of a step, for the present version of a record that has not changed since the given one.

    The version of a list is that of its last change, so no record in it has a later one.
    """
    command = step.command
    record = uow.records(step.kind).get(step.kind.id_of(command)) if command.if_match else None
    if not command.if_match or record is None or version_of(record) > max(command.if_match):
        return command
    return command.model_copy(update={"if_match": frozenset({version_of(record)})})


def _with_tags(uow: AuditedUnitOfWork, step: Step, command: Command) -> Command:
    """Return the command of a step, which also adds and removes the tags of its artwork.

    Raises:
        InvalidInput: there would be too many tags.
    """
    record: Any = uow.records(step.kind).get(step.kind.id_of(command)) if step.add_tags or step.remove_tags else None
    if record is None:
        return command
    patch = getattr(command, "details")  # noqa: B009 (the kinds with tags have them)
    details = record.details if patch is UNSET else record.details.merged(patch)
    try:
        return command.model_copy(update={"details": details.retagged(step.add_tags, step.remove_tags)})
    except InvalidInput as error:
        problems = [Problem(("set", "add_tags"), each.msg, each.type) for each in error.problems]
    raise InvalidInput(problems)


def _set_authors(uow: AuditedUnitOfWork, step: Step, record: Any) -> None:
    """Give an artwork its new authors, which must exist."""
    for author_id in step.author_ids or ():
        get_existing(uow, AUTHORS, author_id)
    kind = next(kind for kind in ARTWORK_KINDS if kind is step.kind)
    AuditedLinks(kind, uow).assign(kind.id_of(record), step.author_ids or ())


@contextmanager
def placed(place: int) -> Iterator[None]:
    """Begin the text of errors, and where their problems are, with the place of their change."""
    problems: Sequence[Problem] = ()
    try:
        yield
    except InvalidInput as error:
        problems = error.at("changes", place)
    except _PLACED as error:
        error.args = (f"Change {place}: {error}",)
        raise
    if problems:
        raise InvalidInput(problems)
