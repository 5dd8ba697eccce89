"""A right belongs to a use case, which accepts only commands of exactly its type (contract B6)."""

from collections.abc import Callable, Iterator
from enum import Enum
from inspect import signature
from typing import Any, Final

import pytest

from logoadmin import ApplyChanges, ApplyProposal, BulkChange, GetUser, ImportRecords, Logo, LogoAdmin, ProposeChanges
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.bound_storage import ClosedStorage
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.gallery.artworks import ArtworkAuthor, CreateArtwork, GetArtwork, GetLogo, OneArtwork, RemoveLogo
from logoadmin.domain.kernel.access import (
    ANONYMOUS,
    NOBODY,
    OWNER,
    SIGNED_IN,
    ActingAs,
    Caller,
    KeyHolder,
    Owner,
    Policy,
)
from logoadmin.domain.kernel.change_log import ChangeLog
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotAuthenticated, NotFound, NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import KINDS, LOGOS
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork
from logoadmin.domain.kernel.use_cases import Service, reads, rights_of, use_case, writes
from tests.gallery import ADMIN_ID, ARTWORK, ASKED, FrozenClock, ask, failure, gallery_on, sample, signed_in, stock

pytestmark = pytest.mark.rule("contract B6")

# Use cases of commands that have another one in ASKED, whose right theirs is.
ALSO: Final = {"roles.preview", "import_export.check", "pictures.check"}
# It asks an issuer, so it has tests of its own.
BY_ISSUER: Final = "single_sign_on.sign_in"
# What takes other arguments between the command and the caller.
BETWEEN: Final = {"load": ([],), "dump": (print,), "send": (b"",)}
SCOPES: Final = (
    "users:read",
    "users:write",
    "roles:read",
    "roles:write",
    "authors:write",
    "themes:write",
    "logos:write",
)

USER: Final = GetUser(user_id=7)
LIST: Final = ListChanges()


class Sneaked(RemoveLogo):
    """A class with the fields of a command that is not one."""


COMMANDS: Final[tuple[Command, ...]] = (
    *map(sample, ASKED),
    *(
        Command(),
        OneArtwork[Logo](),
        ArtworkAuthor[Logo](author_id=1),
        CreateArtwork[Logo](**ARTWORK),
        Sneaked(logo_id=1),
    ),
)


@pytest.fixture(params=["memory", "sqlite"])
def stored(request: pytest.FixtureRequest, clock: FrozenClock) -> LogoAdmin:
    """A gallery in memory, and one on SQL."""
    made = gallery_on(request.getfixturevalue({"memory": "storage", "sqlite": "sqlite_storage"}[request.param]), clock)
    stock(made)
    return made


@pytest.fixture(params=list(Policy))
def gallery(request: pytest.FixtureRequest, storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    return stock(gallery_on(storage, clock, request.param))


def use_cases(gallery: LogoAdmin) -> Iterator[tuple[str, Service, str, Any]]:
    """Yield every public method of every service: its call, the service, its name and its right."""
    for attribute, service in vars(gallery).items():
        if isinstance(service, Service):
            for name in dir(service):
                if callable(getattr(service, name)) and not name.startswith("_"):
                    yield (
                        f"{attribute}.{name}",
                        service,
                        name,
                        getattr(getattr(type(service), name, None), "right", None),
                    )


def test_every_service_method_declares_its_right(gallery: LogoAdmin) -> None:
    nameless = {call for call, _, _, right in use_cases(gallery) if right is None}
    assert nameless == {"sessions.caller"}  # the caller of a token
    shown = signature(gallery.logos.get)  # as help() shows it
    assert (shown.parameters["command"].annotation, str(shown.return_annotation)) == (GetArtwork, "~Artwork")
    with pytest.raises(TypeError, match=r"Careless\.remove names no right"):

        class Careless(Service):
            def remove(self, command: RemoveLogo, caller: Caller = OWNER) -> None: ...

    with pytest.raises(TypeError, match=r"Bare\.remove names no right"):

        class Bare(Service):
            @writes  # type: ignore[arg-type]  # no right is named
            def remove(self, uow: AuditedUnitOfWork, command: RemoveLogo) -> None: ...  # type: ignore[misc]  # as above

    with pytest.raises(TypeError, match=r"Late\.remove would run after its transaction"):

        class Late(Service):
            @writes()
            async def remove(self, uow: AuditedUnitOfWork, command: RemoveLogo) -> None: ...

    class Unnamed(Service):
        @writes()
        def remove(self, uow: AuditedUnitOfWork, logo: RemoveLogo) -> None: ...

    with pytest.raises(TypeError, match=r"Unnamed\.remove needs a parameter `command`"):
        gallery.service(Unnamed).remove(RemoveLogo(logo_id=1))


def test_every_use_case_is_called_in_the_tables(gallery: LogoAdmin) -> None:
    asked = {(call, kind) for kind, (call, _) in ASKED.items()}
    for call, service, name, right in use_cases(gallery):
        if right in (None, NOBODY) or call == BY_ISSUER:
            continue
        for kind, permission in rights_of(type(service), name).items():
            assert (call, kind) in asked or call in ALSO
            main, _, of = ASKED[kind][0].partition(".")
            assert permission == rights_of(type(getattr(gallery, main)), of)[kind]


def refusal(call: Callable[..., object], given: tuple[object, ...]) -> str:
    """Return which type of command a use case refuses by name."""
    try:
        call(*given)
    except TypeError as error:
        return str(error).rpartition(", not ")[2]
    return "taken"


@pytest.mark.parametrize("policy", list(Policy))
def test_a_command_of_the_wrong_type_is_refused_before_anything_is_read(
    storage: MemoryStorage, clock: FrozenClock, policy: Policy
) -> None:
    gallery = gallery_on(storage, clock, policy)
    view = gallery.acting_as(ADMIN_ID)
    # What reads anything raises RuntimeError.
    gallery._transactions.storage = ClosedStorage(storage, "nothing is read")
    callers: tuple[Caller, ...] = (ANONYMOUS, OWNER, ActingAs(ADMIN_ID), KeyHolder("0" * 64))
    tried = 0
    for call, service, name, right in use_cases(gallery):
        if right in (None, NOBODY):
            continue
        takes, between = rights_of(type(service), name), BETWEEN.get(name, ())
        acting = getattr(getattr(view, call.partition(".")[0]), name)
        for command in COMMANDS:
            if type(command) not in takes:
                given = [(getattr(service, name), (command, *between, caller)) for caller in callers]
                assert {refusal(*each) for each in (*given, (acting, (command, *between)))} == {type(command).__name__}
                tried += len(given)
    assert tried > 40_000


class Cleaning(Service):
    """Use cases of a program: one names no right, one names that of every user."""

    @writes()
    def everything(self, uow: AuditedUnitOfWork, _command: RemoveLogo) -> bool:
        """Remove a logo."""
        return uow.records(LOGOS).remove(1)

    @writes(SIGNED_IN)
    def nothing(
        self, uow: AuditedUnitOfWork, _command: "RemoveLogo"
    ) -> int | None:  # a string, as deferred annotations are
        return uow.held.user_id


def test_a_use_case_without_a_right_is_reserved_for_the_program(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    cleaning = gallery.service(Cleaning)
    assert failure(cleaning.everything, RemoveLogo(logo_id=1), ANONYMOUS) is NotAuthenticated
    for caller in (signed_in(storage, "*"), ActingAs(ADMIN_ID), KeyHolder("0" * 64)):
        assert failure(cleaning.everything, RemoveLogo(logo_id=1), caller) is NotPermitted
    view = gallery.acting_as(ADMIN_ID)
    assert cleaning.nothing(RemoveLogo(logo_id=1), ActingAs(ADMIN_ID)) == ADMIN_ID
    assert view.atomic(lambda bound: bound.service(Cleaning).nothing(RemoveLogo(logo_id=1))) == ADMIN_ID
    with pytest.raises(NotPermitted):
        view.service(Cleaning).everything(RemoveLogo(logo_id=1))
    with pytest.raises(TypeError, match="bool cannot be stored under an idempotency key"):
        cleaning.everything(RemoveLogo(logo_id=1, idempotency_key="k"))
    assert cleaning.everything(RemoveLogo(logo_id=1))


def test_type_checkers_reject_the_command_of_another_use_case(gallery: LogoAdmin) -> None:
    """mypy reports the comments below as unused once it accepts one of these calls."""
    with pytest.raises(TypeError, match="takes RemoveLogo, not GetLogo"):
        gallery.logos.remove(GetLogo(logo_id=1))  # type: ignore[arg-type]  # the rejection is tested
    with pytest.raises(TypeError, match="takes GetLogo, not RemoveLogo"):
        gallery.logos.get(RemoveLogo(logo_id=1))  # type: ignore[arg-type]  # the same


# For each kind, a change of a record as bulk changes, proposals and files have it.
CHANGED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "role": ({"kind": "role", "create": {"name": "x", "scope": []}}, '{"kind": "role", "name": "x", "scope": []}'),
    "user": (
        {"kind": "user", "id": 7, "version": 2**31 - 1, "set": {"username": "x"}},
        '{"kind": "user", "user_id": 9, "username": "x", "avatar": null, "role_id": 1}',
    ),
    "author": (
        {"kind": "author", "create": {"user_id": 9, "username": "x"}},
        '{"kind": "author", "user_id": 9, "username": "x"}',
    ),
    "theme": (
        {"kind": "theme", "create": ARTWORK},
        '{"kind": "theme", "name": "x", "preview_url": "https://a.example/a.png", "target": "forum", "custom_css": "",'
        ' "active": false, "author_ids": []}',
    ),
    "logo": (
        {"kind": "logo", "create": ARTWORK},
        '{"kind": "logo", "name": "x", "preview_url": "https://a.example/a.png", "target": "forum", "custom_css": "",'
        ' "active": false, "author_ids": []}',
    ),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_every_way_to_make_a_change_needs_the_same_right(gallery: LogoAdmin, storage: MemoryStorage, kind: str) -> None:
    """Bulk changes, imports, undoing and proposals, also for a user for whom a program acts."""
    values, line = CHANGED[kind]

    def change() -> tuple[BulkChange, ...]:
        # No user is created in a proposal, so that of the table has a version.
        version = {"version": gallery.users.get(USER).version} if kind == "user" else {}
        return (BulkChange(**values | version),)

    (made_change,) = gallery.bulk.apply(ApplyChanges(changes=change()), Owner("made"))
    gallery.changes.revert(Revert(change_id=made_change.change_id))
    undone = Revert(change_id=max(each.change_id for each in gallery.changes.list(LIST)))
    bulk = ApplyChanges(changes=change(), dry_run=True)
    proposal = gallery.proposals.propose(ProposeChanges(title="x", changes=change()), ActingAs(ADMIN_ID))
    apply = ApplyProposal(proposal_id=proposal.proposal_id)
    without = signed_in(storage, *(scope for scope in SCOPES if scope != f"{kind}s:write"))
    for caller, refusal in ((ANONYMOUS, NotAuthenticated), (without, NotPermitted)):
        for command in (bulk, undone, RevertRequest(request_id="made")):
            with pytest.raises(refusal):
                ask(gallery, command, caller)
        with pytest.raises(refusal):
            gallery.import_export.load(ImportRecords(), [line], caller=caller)
        with pytest.raises(NotFound if caller is without else refusal):  # it is not theirs to see
            gallery.proposals.apply(apply, caller)
    view = gallery.acting_as(without.user_id)
    for call in (
        lambda: view.bulk.apply(bulk),
        lambda: view.import_export.load(ImportRecords(), [line]),
        lambda: view.changes.revert(undone),
    ):
        assert failure(call) is NotPermitted
    holder = signed_in(storage, "*", user_id=501)
    assert [*gallery.bulk.apply(bulk, holder)]
    gallery.proposals.apply(apply, holder)


class Prying(Service):
    """Use cases that return the types of all objects they can reach."""

    @writes()
    def of_a_write(self, uow: AuditedUnitOfWork, _command: RemoveLogo) -> set[str]:
        """Reach for everything from the unit of work of a write."""
        return types_from(self, uow, *(uow.records(kind) for kind in KINDS.values()))

    @reads()
    def of_a_read(self, uow: ReadUnitOfWork, _command: GetLogo) -> set[str]:
        return types_from(uow, *(uow.records(kind) for kind in KINDS.values()))

    @use_case()
    def of_a_gate(self, gate: Gate, _command: GetLogo) -> set[str]:
        return types_from(gate)


def types_from(*starts: object) -> set[str]:
    """Return the types of logoadmin on all attribute paths.

    Without enumerations: whether a member leads to the others depends on the version of Python.
    """
    types = {type(each) for start in starts for each in reached(start)}
    return {each.__name__ for each in types if each.__module__.startswith("logoadmin.") and not issubclass(each, Enum)}


def reached(start: object) -> Iterator[object]:
    """Yield every object on an attribute path, private names included; none may be of an adapter."""
    known, left = {id(start): start}, [start]
    while left:
        each = left.pop()
        yield each
        assert not type(each).__module__.startswith(("logoadmin.adapters", "sqlalchemy")), type(each)
        assert not isinstance(each, ChangeLog | Transactions)
        found: list[object] = [getattr(each, name, None) for name in dir(each) if not name.startswith(("__", "model_"))]
        found += [*each.values()] if isinstance(each, dict) else [*each] if isinstance(each, list | tuple) else []
        found += [getattr(each, "__self__", None)]
        for one in found:
            if id(one) not in known and type(one).__module__.partition(".")[0] in ("logoadmin", "builtins", "tests"):
                known[id(one)] = one
                left.append(one)


@pytest.mark.rule("contract G")
def test_no_use_case_reaches_a_port(stored: LogoAdmin) -> None:
    prying = stored.service(Prying)
    audited = {f"Audited{name}" for name in ("Artworks", "Authors", "Records", "UnitOfWork", "Users")}
    values = {"AllRights", "ArtworkKind", "Occasion", "Owner", "PageSizes", "RecordKind"}
    gate = {"Gate", "Permission"}
    assert prying.of_a_write(RemoveLogo(logo_id=1)) == audited | values | gate
    assert prying.of_a_read(GetLogo(logo_id=1)) == {"Occasion", "Owner", "ReadRecords", "ReadUnitOfWork"}
    assert prying.of_a_gate(GetLogo(logo_id=1)) == gate


@pytest.mark.rule("contract G")
def test_changes_of_every_use_case_are_in_the_history(stored: LogoAdmin) -> None:
    version = stored.changes.version()

    class Own(Service):
        @writes()
        def past_the_history(self, uow: AuditedUnitOfWork, _command: RemoveLogo) -> None:
            uow.links(LOGOS).remove(1, 1)  # type: ignore[attr-defined]  # mypy refuses it

        @reads()
        def in_a_read(self, uow: ReadUnitOfWork, _command: GetLogo) -> None:
            uow.records(LOGOS).remove(1)  # type: ignore[attr-defined]  # and this

    own = stored.service(Own)
    with pytest.raises(AttributeError, match="links"):
        own.past_the_history(RemoveLogo(logo_id=1))
    with pytest.raises(AttributeError, match="remove"):
        own.in_a_read(GetLogo(logo_id=1))
    assert stored.changes.version() == version
    assert stored.service(Cleaning).everything(RemoveLogo(logo_id=1))
    assert stored.changes.version() == version + 1
