"""A program that embeds a gallery, and the mistakes that it can make (contract H6)."""

import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin import AmendRole, CreateRole, ExportRecords, ImportRecords, ListChanges, LogoAdmin, SignIn, WhoAmI
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.identity.service_keys import CreateKey, ListKeys
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser, SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, Owner, Policy
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID, Author
from logoadmin.ports.sign_in_storage import Identity
from tests.gallery import ADMIN_PASSWORD, FrozenClock, failure, gallery_on

pytestmark = pytest.mark.rule("contract H6")

ANN: Final = CreateAuthor(user_id=7, username="Ann")


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """A guarded gallery with its first administrator, and with user 5, who may change authors."""
    gallery = gallery_on(storage, clock, Policy.GUARDED)
    role = gallery.roles.create(CreateRole(name="curator", scope=("authors:write",)))
    gallery.users.create(CreateUser(user_id=5, username="eve", password="a long password"))
    gallery.users.amend(AmendUser(user_id=5, role_id=role.role_id))
    return gallery


def authors(gallery: LogoAdmin) -> list[int]:
    return [author.user_id for author in gallery.authors.list(ListAuthors())]


def test_errors_return_from_other_processes_with_their_attributes() -> None:
    error = pickle.loads(pickle.dumps(errors.DuplicateEntry("Ann", "username")))
    assert (str(error), error.key) == ("Duplicate entry 'Ann' for key 'username'", "username")


# The work of a block that would run after its commit.


async def coroutine(bound: LogoAdmin) -> Author:
    return bound.authors.create(ANN)


def generator(bound: LogoAdmin) -> Iterator[Author]:
    yield bound.authors.create(ANN)


async def async_generator(bound: LogoAdmin) -> AsyncIterator[Author]:
    yield bound.authors.create(ANN)


class Callee:
    async def __call__(self, bound: LogoAdmin) -> Author:
        return bound.authors.create(ANN)


def begun(bound: LogoAdmin) -> Any:
    bound.authors.create(ANN)
    return coroutine(bound)


@pytest.mark.rule("contract A20")
@pytest.mark.parametrize("work", [coroutine, generator, async_generator, Callee(), begun, lambda g: coroutine(g)])
def test_work_that_would_run_after_the_commit_is_refused(gallery: LogoAdmin, work: Callable[[LogoAdmin], Any]) -> None:
    with pytest.raises(TypeError, match="not a coroutine or a generator"):
        gallery.atomic(work)
    assert authors(gallery) == []


@pytest.mark.rule("contract A20")
def test_a_bound_gallery_is_refused_after_its_block_and_in_another_thread(gallery: LogoAdmin) -> None:
    kept: list[LogoAdmin] = []

    def work(bound: LogoAdmin) -> None:
        kept.append(bound)
        kept.append(bound.acting_as(5))
        bound.close()  # ends nothing
        bound.atomic(kept.append)
        with ThreadPoolExecutor(1) as other, pytest.raises(RuntimeError, match="in the thread of the block only"):
            other.submit(bound.authors.create, ANN).result()
        bound.authors.create(ANN)

    gallery.atomic(work)
    for bound in kept:
        for call in (lambda bound: bound.authors.create(ANN), authors, lambda bound: bound.check()):
            with pytest.raises(RuntimeError, match="atomic block, which has ended"):
                call(bound)
        with pytest.raises(RuntimeError, match="atomic block, which has ended"):
            bound.atomic(authors)
    assert authors(gallery) == [7]

    def fails(bound: LogoAdmin) -> None:
        kept.append(bound)
        bound.acting_as(6)

    assert failure(gallery.atomic, fails) is errors.NotFound
    with pytest.raises(RuntimeError, match="atomic block, which has ended"):
        kept[-1].authors.create(ANN)


@pytest.mark.rule("contract A20")
def test_the_gallery_around_a_block_is_refused_inside_it(gallery: LogoAdmin) -> None:
    view = gallery.acting_as(5)
    calls: list[Callable[[LogoAdmin], object]] = [authors, lambda each: each.authors.create(ANN), LogoAdmin.check]

    def work(bound: LogoAdmin) -> None:
        bound.authors.create(ANN)
        for call in calls:
            for each in (gallery, view):
                with pytest.raises(RuntimeError, match="use the gallery that its function was given"):
                    call(each)
        with pytest.raises(RuntimeError, match="use the gallery that its function was given"):
            gallery.close()

    gallery.atomic(work)
    assert authors(gallery) == [7]


def test_a_function_that_runs_in_the_middle_of_a_write_cannot_use_the_gallery(gallery: LogoAdmin) -> None:
    lines = ['{"kind": "author", "username": "Ann"}']

    def load(gallery: LogoAdmin) -> None:
        gallery.import_export.load(ImportRecords(), lines, progress=lambda: gallery.authors.create(ANN))

    for call in (load, lambda gallery: gallery.atomic(load)):
        with pytest.raises(RuntimeError, match="in a write of this gallery"):
            call(gallery)
    assert authors(gallery) == []


def test_a_closed_gallery_refuses_every_call(gallery: LogoAdmin) -> None:
    listed, view = gallery.authors.list(ListAuthors()), gallery.acting_as(5)
    view.close()  # the view of a gallery does not close it
    assert [*authors(view), *listed] == []
    gallery.close()
    gallery.close()
    calls: list[Callable[[LogoAdmin], object]] = [
        *(authors, lambda gallery: gallery.authors.create(ANN)),
        lambda gallery: gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)),
        *(lambda gallery: gallery.atomic(authors), lambda gallery: gallery.acting_as(5), LogoAdmin.check),
        *(LogoAdmin.data_version, LogoAdmin.has_administrator),
    ]
    for call in calls:
        for each in (gallery, view):
            with pytest.raises(RuntimeError, match=r"^the gallery is closed$"):
                call(each)


@pytest.mark.rule("contract B4", "contract B5", "contract G")
def test_a_program_acts_for_a_user_with_their_current_rights(gallery: LogoAdmin, clock: FrozenClock) -> None:
    eve = gallery.acting_as(5, signed_in_at=clock.now())
    assert eve.sessions.me(WhoAmI()).username == "eve"
    made = eve.authors.create(ANN, Owner(request_id="by hand"))
    last = [*gallery.changes.list(ListChanges())][-1]
    assert (last.change_id, last.user_id, last.request_id) == (made.version, 5, "by hand")
    assert failure(eve.roles.create, CreateRole(name="mine", scope=("*",))) is errors.NotPermitted
    assert failure(eve.authors.create, ANN, ANONYMOUS) is errors.NotAuthenticated

    gallery.roles.amend(AmendRole(role_id=3, scope=("roles:write",)))
    assert failure(eve.authors.create, CreateAuthor(user_id=8, username="Ben")) is errors.NotPermitted
    eve.roles.create(CreateRole(name="mine", scope=("roles:write",)))
    with pytest.raises(errors.NotPermitted):  # of a scope that she does not hold
        eve.atomic(lambda bound: bound.roles.create(CreateRole(name="more", scope=("*",))))

    gallery.users.remove(RemoveUser(user_id=5))
    for call in (authors_of(eve), lambda: eve.roles.create(CreateRole(name="last", scope=()))):
        with pytest.raises(errors.NotFound, match=r"^User 5 not found$"):
            call()
    with pytest.raises(errors.NotFound, match=r"^User 5 not found$"):
        gallery.acting_as(5)


@pytest.mark.rule("contract A1", "contract A2")
@pytest.mark.parametrize("user_id", ["5", 5.0, True, 2**31, 2**70, -1, None])
def test_a_program_acts_for_nobody_under_an_id_that_is_none(gallery: LogoAdmin, user_id: Any) -> None:
    assert failure(gallery.acting_as, user_id) is errors.InvalidInput


@pytest.mark.rule("contract B5", "contract O5", "contract O7")
def test_a_program_acts_for_the_first_administrator_but_not_for_users_refused_by_the_issuer(
    gallery: LogoAdmin, storage: MemoryStorage
) -> None:
    # The program does not sign in with the generated password.
    storage.write(lambda uow: uow.secrets.put("generated_password", str(FIRST_ADMIN_ID)))
    gallery.acting_as(FIRST_ADMIN_ID).authors.create(ANN)
    eve = gallery.acting_as(5)
    identity = Identity("https://issuer.example", "eve", 5, "[]", refused=True)
    storage.write(lambda uow: uow.identity.identities.put(identity))
    assert failure(eve.authors.create, CreateAuthor(user_id=8, username="Ben")) is errors.NotPermitted
    storage.write(lambda uow: uow.identity.identities.put(replace(identity, refused=False)))
    eve.authors.create(CreateAuthor(user_id=8, username="Ben"))


def authors_of(view: LogoAdmin) -> Callable[[], object]:
    return lambda: view.sessions.me(WhoAmI())


@pytest.mark.rule("contract B5", "contract A20")
def test_rights_of_a_user_are_read_in_the_transaction_of_the_block(gallery: LogoAdmin) -> None:
    def work(bound: LogoAdmin) -> None:
        eve = bound.acting_as(5)
        eve.authors.create(ANN)
        bound.users.amend(AmendUser(user_id=5, role_id=1))
        assert failure(eve.authors.create, CreateAuthor(user_id=8, username="Ben")) is errors.NotPermitted

    gallery.atomic(work)
    assert authors(gallery) == [7]
    assert {change.user_id for change in gallery.changes.list(ListChanges(action="author.created"))} == {5}


@pytest.mark.rule("contract O3", "contract O5")
def test_a_program_acting_for_a_user_passes_the_time_of_their_sign_in(gallery: LogoAdmin, clock: FrozenClock) -> None:
    key = CreateKey(name="script", scope=("authors:write",))
    with pytest.raises(errors.RecentSignInRequired):
        gallery.acting_as(5).keys.create(key)
    with pytest.raises(errors.RecentSignInRequired):
        gallery.acting_as(5, signed_in_at=clock.now() - 601).keys.create(key)
    eve = gallery.acting_as(5, signed_in_at=clock.now() - 600)
    made = eve.keys.create(key)
    assert [each.key_id for each in eve.keys.list(ListKeys())] == [made.key_id]
    gallery.authors.create(ANN, gallery.sessions.caller(made.key))
    assert failure(eve.keys.create, CreateKey(name="more", scope=("*",))) is errors.NotPermitted
    with pytest.raises(errors.InvalidInput):  # her current password is missing
        eve.users.set_password(SetPassword(user_id=5, password="another password"))


@pytest.mark.rule("contract B4")
def test_methods_without_a_caller_are_reserved_for_the_program(gallery: LogoAdmin) -> None:
    view = gallery.acting_as(2000000000)
    for name in ("rotate_key", "generate", "publish", "rules"):
        with pytest.raises(AttributeError, match="takes no caller: it is not for users"):
            getattr(view.publication, name)
    with pytest.raises(AttributeError, match="no attribute 'creates'"):
        _ = view.authors.creates  # type: ignore[attr-defined]  # misspelt
    assert view.admin_password is None
    # The lines are an argument before the caller.
    lines: list[str] = []
    view.import_export.dump(ExportRecords(), lines.append)
    assert view.import_export.load(ImportRecords(dry_run=True), lines).counts
    with pytest.raises(errors.NotPermitted):
        gallery.acting_as(5).import_export.dump(ExportRecords(), lines.append)
    assert gallery.acting_as(5).sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).scope == "*"
