"""The history, and undoing its changes (contract G, G2)."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import Change, LogoAdmin, Revert, SignIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import roles, users
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, AnyKind
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import (
    ANN_PASSWORD,
    ARTWORK,
    CHEAP_PASSWORDS,
    NOW,
    FrozenClock,
    ask,
    failure,
    gallery_on,
    history,
    sample,
    stock,
)

pytestmark = pytest.mark.rule("contract G2")


def last(gallery: LogoAdmin) -> Change:
    return history(gallery)[-1]


def revert(gallery: LogoAdmin, change_id: int) -> Change:
    return gallery.changes.revert(Revert(change_id=change_id))


def everything(storage: MemoryStorage) -> Any:
    """Return every record field for field, and every link with its id in link order; no passwords, no versions."""

    def work(uow: UnitOfWork) -> Any:
        records: dict[AnyKind, Any] = {kind: uow.records(kind).page(-1, 500) for kind in KINDS.values()}
        links = [[uow.links(kind).of_artwork(kind.id_of(each)) for each in records[kind]] for kind in ARTWORK_KINDS]
        return [*records.values()], links

    return storage.read(work)


# Changes of a record of a stocked gallery; each has an undo, which runs after it.
DONE: Final[list[type[Command]]] = [
    *(users.CreateUser, users.AmendUser, users.RemoveUser, users.RemoveAvatar, roles.CreateRole, roles.AmendRole),
    *(roles.RemoveRole, authors.CreateAuthor, authors.AmendAuthor, authors.RemoveAuthor),
    *(artworks.CreateTheme, artworks.AmendTheme, artworks.BlockTheme, artworks.RemoveTheme),
    *(artworks.LinkThemeAuthor, artworks.UnlinkThemeAuthor, artworks.LinkLogoAuthor, artworks.UnlinkLogoAuthor),
    *(artworks.CreateLogo, artworks.AmendLogo, artworks.BlockLogo, artworks.RemoveLogo),
]
UNDONE: Final = {"created": "removed", "removed": "restored", "blocked": "unblocked"}


@pytest.mark.parametrize("kind", DONE)
def test_every_change_is_undone_as_a_new_change(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, kind: type[Command]
) -> None:
    before = everything(storage)
    ask(stocked, sample(kind))
    change = last(stocked)
    after = everything(storage)
    assert after != before
    done = change.action.partition(".")[2]
    clock.pass_by(60)
    made = revert(stocked, change.change_id)
    assert everything(storage) == before
    assert made == last(stocked)
    undone = f"{change.kind}.{UNDONE.get(done, 'amended')}"
    assert (made.change_id, made.at, made.action) == (change.change_id + 1, NOW + 60, undone)
    assert (made.kind, made.id) == (change.kind, change.id)
    # And back again: an undo can be undone, once.
    again = revert(stocked, made.change_id)
    assert everything(storage) == after
    name = f"{change.kind.capitalize()} {change.id}"
    with pytest.raises(errors.Conflict, match=f"^{name} was changed since, by change {again.change_id}$"):
        revert(stocked, made.change_id)


@pytest.mark.parametrize("change_id", [0, 12, 2_147_483_647])
def test_a_missing_change_is_not_found(stocked: LogoAdmin, change_id: int) -> None:
    with pytest.raises(errors.NotFound, match=f"^Change {change_id} not found$"):
        revert(stocked, change_id)


@pytest.mark.parametrize("later", [artworks.AmendLogo(logo_id=1, name="third"), artworks.RemoveLogo(logo_id=1)])
def test_a_later_change_blocks_undoing_and_is_named(stocked: LogoAdmin, later: Command) -> None:
    second = stocked.logos.amend(artworks.AmendLogo(logo_id=1, name="second")).version
    ask(stocked, later)
    stocked.authors.amend(authors.AmendAuthor(author_id=2, username="unrelated"))
    with pytest.raises(errors.Conflict, match=rf"^Logo 1 was changed since, by change {second + 1}$"):
        revert(stocked, second)


def test_a_change_may_be_undone_once_the_record_is_as_it_left_it(stocked: LogoAdmin) -> None:
    second, _, _ = (stocked.logos.amend(artworks.AmendLogo(logo_id=1, name=f"{n}")).version for n in (2, 3, 2))
    assert revert(stocked, second).after == last(stocked).after
    assert stocked.logos.get(artworks.GetLogo(logo_id=1)).name == "Aurora"


def test_the_removal_of_an_author_blocks_undoing_their_artworks_and_is_named(stocked: LogoAdmin) -> None:
    stocked.authors.remove(authors.RemoveAuthor(author_id=1))
    gone = last(stocked).change_id
    for linked, name in ((9, "Logo 1"), (11, "Theme 1")):
        with pytest.raises(errors.Conflict, match=rf"^{name} was changed since, by change {gone}$"):
            revert(stocked, linked)
    revert(stocked, gone)
    revert(stocked, 9)


@pytest.mark.parametrize(("kind", "id_field"), [(artworks.RemoveLogo, "logo_id"), (artworks.RemoveTheme, "theme_id")])
def test_an_artwork_does_not_come_back_without_its_author(
    stocked: LogoAdmin, storage: MemoryStorage, kind: Callable[..., Command], id_field: str
) -> None:
    ask(stocked, kind(**{id_field: 1}))
    removed = last(stocked).change_id
    stocked.authors.remove(authors.RemoveAuthor(author_id=1))
    before = everything(storage)
    with pytest.raises(errors.Conflict, match=rf"^Author 1 was changed since, by change {removed + 1}$"):
        revert(stocked, removed)
    assert everything(storage) == before
    revert(stocked, removed + 1)
    revert(stocked, removed)


def test_undoing_does_not_remove_a_role_that_has_been_assigned_since(stocked: LogoAdmin) -> None:
    role = stocked.roles.create(roles.CreateRole(name="new", scope=()))
    made = last(stocked).change_id
    stocked.users.amend(users.AmendUser(user_id=7, role_id=role.role_id))
    with pytest.raises(errors.Conflict, match=r"^Role 4 is the role of a user$"):
        revert(stocked, made)
    with pytest.raises(errors.Conflict, match=r"^Role 1 is the role of new users$"):
        revert(stocked, 1)


def test_undoing_does_not_restore_a_user_with_a_removed_role(stocked: LogoAdmin) -> None:
    stocked.users.amend(users.AmendUser(user_id=7, role_id=3))
    moved = stocked.users.amend(users.AmendUser(user_id=7, role_id=1)).version
    stocked.roles.remove(roles.RemoveRole(role_id=3))
    with pytest.raises(errors.Conflict, match=rf"^Role 3 was changed since, by change {moved + 1}$"):
        revert(stocked, moved)


def test_undoing_does_not_restore_a_value_that_has_been_taken_since(stocked: LogoAdmin) -> None:
    renamed = stocked.authors.amend(authors.AmendAuthor(author_id=1, username="Anna")).version
    stocked.authors.create(authors.CreateAuthor(user_id=104, username="Ann"))
    with pytest.raises(errors.DuplicateUpdate, match="'Ann' for key 'username'"):
        revert(stocked, renamed)
    stocked.users.remove(users.RemoveUser(user_id=7))
    removed = last(stocked).change_id
    stocked.users.create(users.CreateUser(user_id=8, username="ann", password="pw"))
    with pytest.raises(errors.DuplicateEntry, match="'ann' for key 'username'") as caught:
        revert(stocked, removed)
    assert type(caught.value) is errors.DuplicateEntry
    another = stocked.users.create(users.CreateUser(user_id=7, username="another", password="pw")).version
    with pytest.raises(errors.Conflict, match=rf"^User 7 was changed since, by change {another}$"):
        revert(stocked, removed)


@pytest.mark.rule("contract C4")
def test_undoing_does_not_restore_a_password(stocked: LogoAdmin) -> None:
    stocked.users.set_password(users.SetPassword(user_id=7, password="new"))
    change = last(stocked)
    assert (change.action, change.before) == ("user.password_set", change.after)
    reason = f"Change {change.change_id} cannot be undone: old passwords are not kept"
    with pytest.raises(errors.Conflict, match=f"^{reason}$"):
        revert(stocked, change.change_id)
    stocked.users.remove(users.RemoveUser(user_id=7))
    revert(stocked, last(stocked).change_id)
    for password in ("new", ANN_PASSWORD):
        assert failure(stocked.sessions.sign_in, SignIn(username="ann", password=password)) is errors.SignInRefused


# Any changes, undone in reverse.

_IDS: Final = st.integers(1, 4)
_NAMES: Final = st.sampled_from(("a", "b", "c", "Ann"))


def of(kind: type[Command], **values: st.SearchStrategy[Any]) -> st.SearchStrategy[Command]:
    return st.fixed_dictionaries(values).map(lambda given: kind(**given))


def _commands() -> st.SearchStrategy[Command]:
    user_ids = st.sampled_from((7, 8, 9))
    every = [
        of(roles.CreateRole, name=_NAMES, scope=st.sampled_from(((), ("*",), ("forum:ban", "x")))),
        of(roles.AmendRole, role_id=_IDS, scope=st.sampled_from(((), ("*",), ("x",)))),
        of(roles.RemoveRole, role_id=_IDS),
        of(users.CreateUser, user_id=user_ids, username=_NAMES, password=st.just("pw")),
        of(users.AmendUser, user_id=user_ids, username=_NAMES, role_id=_IDS, avatar=st.sampled_from((None, "x"))),
        of(users.RemoveUser, user_id=user_ids),
        of(users.SetPassword, user_id=user_ids, password=st.just("other")),
    ]
    return st.one_of(every) | artwork_commands() | st.integers(1, 40).map(lambda id_: Revert(change_id=id_))


def artwork_commands() -> st.SearchStrategy[Command]:
    values = {"name": _NAMES, "active": st.booleans()}
    every = [
        of(authors.CreateAuthor, user_id=st.integers(100, 105), username=_NAMES),
        of(authors.AmendAuthor, author_id=_IDS, username=_NAMES),
        of(authors.RemoveAuthor, author_id=_IDS),
        of(authors.RemoveAuthor, author_id=_IDS),
    ]
    for name in ("Logo", "Theme"):
        ids = {f"{name.lower()}_id": st.integers(1, 3)}
        made: type[Command] = getattr(artworks, f"Create{name}")
        link = of(getattr(artworks, f"Link{name}Author"), **ids, author_id=_IDS)
        every += [
            of(made, **{field: st.just(value) for field, value in ARTWORK.items()} | values),
            of(getattr(artworks, f"Amend{name}"), **ids, **values),
            of(getattr(artworks, f"Remove{name}"), **ids),
            *(link, link, link),
            of(getattr(artworks, f"Unlink{name}Author"), **ids, author_id=_IDS),
        ]
    return st.one_of(every)


@given(commands=st.lists(_commands(), min_size=5, max_size=40))
def test_any_changes_that_are_undone_in_reverse_leave_everything_as_it_was(commands: list[Command]) -> None:
    storage = MemoryStorage()
    gallery = stock(gallery_on(storage, FrozenClock()))
    gallery.authors.create(authors.CreateAuthor(user_id=99, username="third"))
    states = {last(gallery).change_id: everything(storage)}
    for command in commands:
        try:
            ask(gallery, command)
        except errors.LogoAdminError:
            continue
        states[last(gallery).change_id] = everything(storage)
    first, newest = min(states), max(states)
    for change in reversed(history(gallery)[first:newest]):
        assert everything(storage) == states[change.change_id]
        if change.action != "user.password_set":
            revert(gallery, change.change_id)
        if change.action == "user.removed":  # or else no administrator who can sign in might be left
            storage.write(partial(give_password, user_id=change.id))
    assert everything(storage) == states[first]


def give_password(uow: UnitOfWork, user_id: int) -> None:
    uow.identity.passwords.set(user_id, CHEAP_PASSWORDS.hash("known"))
