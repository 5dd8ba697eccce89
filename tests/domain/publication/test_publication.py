"""The published gallery, its fields and names (contract L1 to L7, Q3, R2)."""

import base64
import errno
import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logoadmin import AmendLogo, AmendTheme, BlockLogo, CreateLogo, CreateTheme, LinkLogoAuthor, UnlinkLogoAuthor
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.proposal_commands import ProposeChanges
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, RemoveAuthor
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.isolated_names import isolated
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, StartError, StorageUnavailable
from logoadmin.domain.kernel.kinds import KINDS, LOGOS
from logoadmin.domain.kernel.records import Kind, Logo
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.file_names import LEASE, SPARE, STATE
from logoadmin.domain.publication.files.gallery_keys import MOST_KEYS, raise_epoch
from logoadmin.domain.publication.files.index import IndexBuilder
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.files.withdrawals import MOST_WITHDRAWN
from logoadmin.domain.publication.publication_records import POINTER, Blocked, Publication, Risky
from logoadmin.domain.publication.publication_service import ShowPublication
from logoadmin.ports.gallery_storage import Withdrawal
from tests.gallery import ARTWORK, NOW, FrozenClock, WatchedStorage, gallery_on, imported, signed_in, stock

DAY: Final = 86_400
HOUR: Final = 3_600


def pointer_of(publication: Publication) -> Pointer:
    return parsed(publication.pointer)


def index_of(publication: Publication) -> Any:
    return json.loads(publication.files[pointer_of(publication).index["path"]])


def signers_of(publication: Publication) -> list[str]:
    headers = (each["protected"] for each in json.loads(publication.pointer)["signatures"])
    return [json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"] for header in headers]


@pytest.mark.rule("contract L1")
def test_the_name_of_a_folder_is_not_its_files(stocked: LogoAdmin) -> None:
    with pytest.raises(TypeError, match=r"^publish\(\) needs files such as .*, not str$"):
        stocked.publication.publish(cast("Any", "DIR"))


@pytest.mark.rule("contract L1", "contract L2")
def test_readers_get_active_artworks_with_their_authors(stocked: LogoAdmin) -> None:
    stocked.logos.create(CreateLogo(**ARTWORK | {"name": "Draft", "active": False}))
    publication = stocked.publication.generate()
    (author,), (logo,), (theme,) = index_of(publication).values()
    assert (author["username"], logo["name"], theme["name"]) == ("Ann", "Aurora", "Aurora")
    assert (logo["author_ids"], logo["css"]) == ([1], {"form": "declarations"})
    assert publication.version == pointer_of(publication).version == stocked.changes.version()
    assert pointer_of(publication).paths <= publication.files.keys()


@pytest.mark.rule("contract L1")
def test_every_change_of_an_artwork_reaches_readers(stocked: LogoAdmin) -> None:
    def seen() -> Any:
        return index_of(stocked.publication.generate())

    stocked.authors.amend(AmendAuthor(author_id=1, username="Anna"))
    assert seen()["authors"][0]["username"] == "Anna"
    stocked.logos.link(LinkLogoAuthor(logo_id=1, author_id=2))
    assert seen()["logos"][0]["author_ids"] == [1, 2]
    stocked.logos.unlink(UnlinkLogoAuthor(logo_id=1, author_id=1))
    stocked.logos.link(LinkLogoAuthor(logo_id=1, author_id=1))
    assert seen()["logos"][0]["author_ids"] == [2, 1]
    stocked.authors.remove(RemoveAuthor(author_id=2))
    assert seen()["logos"][0]["author_ids"] == [1]
    stocked.logos.amend(AmendLogo(logo_id=1, active=False))
    assert seen()["logos"] == []
    stocked.themes.amend(AmendTheme(theme_id=1, active=False))
    assert seen() == {"authors": [], "logos": [], "themes": []}


@pytest.mark.rule("contract L2")
def test_the_index_has_an_update_time_only_for_changed_records(stocked: LogoAdmin, clock: FrozenClock) -> None:
    def updated() -> dict[int, int | None]:
        return {each["theme_id"]: each.get("updated_at") for each in index_of(stocked.publication.generate())["themes"]}

    line = {"kind": "theme", "theme_id": 7, **ARTWORK, "author_ids": [], "created_at": NOW - DAY}
    clock.pass_by(HOUR)
    imported(stocked, line)
    assert updated() == {1: None, 7: None}
    clock.pass_by(HOUR)
    stocked.authors.amend(AmendAuthor(author_id=1, username="Anna"))
    stocked.themes.amend(AmendTheme(theme_id=7, name="Dusk"))
    assert updated() == {1: None, 7: NOW + 2 * HOUR}


# A marker for everything that readers must not get; no other text contains it.
SECRET: Final = "ZSECRETZ"
hidden = st.builds(SECRET.__add__, st.text("ab", max_size=3))


@pytest.mark.rule("contract L1")
@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=8), hidden)
def test_no_draft_user_or_history_is_published(artworks: list[tuple[bool, bool, bool]], secret: str) -> None:
    gallery = gallery_on(MemoryStorage(), FrozenClock())
    gallery.users.create(CreateUser(user_id=7, username=secret, avatar=secret, password=secret))
    public, draft = (
        gallery.authors.create(CreateAuthor(user_id=number, username=name)).author_id
        for number, name in enumerate(("shown", secret))
    )
    shown: Any = {"name": "shown", "target": "shown", "custom_css": "", "preview_url": "https://i.example/shown"}
    for is_logo, is_active, was_secret in artworks:
        first = secret if was_secret or not is_active else "shown"
        values: Any = {"name": first, "target": first, "custom_css": first, "preview_url": f"https://i.example/{first}"}
        if is_logo:
            logo_id = gallery.logos.create(CreateLogo(**values, active=is_active)).logo_id
            gallery.logos.link(LinkLogoAuthor(logo_id=logo_id, author_id=public if is_active else draft))
            gallery.logos.amend(AmendLogo(logo_id=logo_id, **shown if is_active else {}))
        else:
            theme_id = gallery.themes.create(CreateTheme(**values, active=is_active)).theme_id
            gallery.themes.amend(AmendTheme(theme_id=theme_id, **shown if is_active else {}))
    publication = gallery.publication.generate()
    for content in (repr(pointer_of(publication)).encode(), publication.pointer, *publication.files.values()):
        assert SECRET.encode() not in content
        assert b"admin" not in content
    assert [record["author_id"] for record in index_of(publication)["authors"]] in ([], [public])


@pytest.mark.rule("contract L1")
def test_publishing_knows_whether_a_record_is_left_out(stocked: LogoAdmin) -> None:
    files = MemoryGalleryFiles()
    assert [stocked.publication.publish(files).is_complete for _ in range(2)] == [True, True]
    stocked.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL});"))
    found = [stocked.publication.publish(files) for _ in range(2)]
    assert [(each.changed, each.is_complete) for each in found] == [(True, False), (False, False)]


@dataclass
class SmallDisk(MemoryGalleryFiles):
    """Files with a total limit, on a disk that others have filled."""

    limit: int = sys.maxsize

    def write(self, name: str, content: bytes) -> None:
        if sum(map(len, self.files.values())) + len(content) > self.limit:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(name, content)


@pytest.mark.rule("contract L1")
@pytest.mark.parametrize("left", ["spare", "old", "nothing"])
def test_a_block_frees_the_space_of_files_that_no_pointer_names(stocked: LogoAdmin, left: str) -> None:
    files = SmallDisk()
    for number in range(3):
        stocked.themes.amend(AmendTheme(theme_id=1, custom_css=f"a {{ color: #00000{number} }} " * 200, active=True))
        pointer = parsed(stocked.publication.publish(files).pointer)
    old = [name for name in files.files if name.endswith((".json", ".css")) and name not in pointer.paths]
    index = files.files[pointer.index["path"]].decode()
    sheets = [name for name in files.files if name.startswith("css/") and name[4:-4] in index]
    needed = {name: files.files[name] for name in (*pointer.paths, *sheets)}
    assert {*old} - needed.keys()
    if left != "spare":
        del files.files[SPARE]
    if left == "nothing":
        for name in {*old} - needed.keys() - {STATE, POINTER}:
            del files.files[name]
    files.limit = sum(map(len, files.files.values()))
    stocked.logos.block(BlockLogo(logo_id=1, reason="tracks readers"))
    with nullcontext() if left == "spare" else pytest.raises(OSError, match="No space left"):
        stocked.publication.publish(files)
    blocked = [each["id"] for each in parsed(files.files[POINTER]).blocked]
    assert blocked == ([] if left == "nothing" else [1])
    assert files.files.items() >= needed.items()


def withdraw(storage: MemoryStorage, withdrawals: list[Withdrawal]) -> None:
    storage.write(lambda uow: uow.withdrawals.put(*withdrawals))


URL: Final = "https://i.example/a.css"
ICON: Final = "url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'>%s</svg>\")"


@pytest.mark.rule("contract L4", "contract L5")
def test_the_status_lists_records_that_readers_do_not_get(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    stocked.themes.amend(AmendTheme(theme_id=1, custom_css="a {}\nb { color: red"))
    image = ICON % "<image href='x.png'/>"
    stocked.logos.amend(AmendLogo(logo_id=1, custom_css=f"mask: {image}"))
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Boreal", "custom_css": f"@import url({URL});"}))
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Cirrus", "custom_css": "b{caret-color:red}"}))
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Dusk", "custom_css": f"a{{mask:{ICON % '<g/>'}}}"}))
    withdraw(storage, [Withdrawal(Kind.LOGO, 9, NOW, "tracks readers"), Withdrawal(Kind.LOGO, 8, NOW, None)])
    status = stocked.publication.status(ShowPublication())
    assert [(each.kind, each.id, each.name, each.code) for each in status.left_out] == [
        (Kind.LOGO, 1, "Aurora", "document"),
        (Kind.THEME, 1, "Aurora", "invalid"),
        (Kind.THEME, 2, "Boreal", "import"),
    ]
    reasons = [each.reason for each in status.left_out]
    assert reasons[0].startswith("A data: URL in line 1, column 11 has a document that names other files")
    assert reasons[1:] == [
        "Browsers may read its CSS in several ways, from line 2, column 3 on. Correct it there",
        "It imports a style sheet, which others can change. Copy the style sheet into the CSS",
    ]
    assert (status.logos, status.themes) == (0, 2)
    assert status.risky == (Risky(Kind.THEME, 3, "Cirrus", ("input_styling",)),)
    assert status.blocked == (Blocked(Kind.LOGO, 9, NOW, "tracks readers"),)
    publication = stocked.publication.generate()
    assert publication.left_out == status.left_out
    assert [each["name"] for each in index_of(publication)["themes"]] == ["Cirrus", "Dusk"]


@pytest.mark.rule("contract L5")
def test_imports_are_published_only_if_a_setting_allows_it(stocked: LogoAdmin) -> None:
    stocked.publication.rules = replace(stocked.publication.rules, publish_imports=True)
    stocked.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL});"))
    (theme,) = index_of(stocked.publication.generate())["themes"]
    assert (theme["css"]["imports"], theme["css"]["hosts"]) == ([{"url": URL}], ["i.example"])


@pytest.mark.rule("contract L3")
def test_withdrawals_of_90_days_are_listed(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    clock.time = NOW - NOW % HOUR + 5 * HOUR
    oldest = clock.time - 90 * DAY

    def listed() -> tuple[list[Any], list[Any]]:
        publication = stocked.publication.generate()
        pointer = pointer_of(publication)
        return json.loads(publication.files[pointer.withdrawn["path"]])["withdrawn"], [*pointer.blocked]

    withdraw(
        storage,
        [
            *(Withdrawal(Kind.LOGO, 9, clock.time, "tracks readers"), Withdrawal(Kind.THEME, 8, oldest, None)),
            *(Withdrawal(Kind.LOGO, 7, oldest - 1, None), Withdrawal(Kind.LOGO, 6, oldest - 1, "overlays the page")),
        ],
    )
    withdrawn, blocked = listed()
    assert [entry["id"] for entry in withdrawn] == [9, 8, 6]
    assert blocked == [entry for entry in withdrawn if entry["severity"] == "blocked"]
    assert [(entry["id"], entry["reason"]) for entry in blocked] == [(9, "tracks readers"), (6, "overlays the page")]
    # More of them displace no block from the list.
    withdraw(storage, [Withdrawal(Kind.LOGO, id_, clock.time - 1) for id_ in range(10, 10 + MOST_WITHDRAWN)])
    longest, _ = listed()
    assert (len(longest), longest[0]["id"], longest[-1]["id"]) == (MOST_WITHDRAWN, 9, 6)


def test_a_gallery_is_published_where_nothing_can_be_stored(storage: MemoryStorage, clock: FrozenClock) -> None:
    watched = WatchedStorage(storage)
    gallery = stock(gallery_on(watched, clock))
    gallery.publication.public_keys()

    class ReadOnly(WatchedStorage):
        def write(self, *_: Any, **__: Any) -> Any:
            raise StorageUnavailable(self.server)

    reading = gallery_on(ReadOnly(storage), clock, started=False)
    publication = reading.publication.generate()
    assert index_of(publication)["logos"]
    assert publication.pointer == gallery.publication.generate().pointer


@pytest.mark.rule("contract L7")
def test_a_retired_key_signs_until_no_valid_pointer_lacks_the_new_one(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    (old,) = (key["kid"] for key in stocked.publication.public_keys())
    before = stocked.publication.generate()
    new, second = (key["kid"] for key in stocked.publication.rotate_key())
    assert second == old
    assert stocked.publication.generate().state != before.state
    after = stocked.publication.generate()
    assert signers_of(after) == [new, old]
    assert [key["x"] for key in pointer_of(after).next_keys] == [stocked.publication.public_keys()[0]["x"]]

    clock.pass_by(10 * DAY)
    newest, *others = (key["kid"] for key in stocked.publication.rotate_key())
    assert others == [new, old]
    twice = stocked.publication.generate()
    assert signers_of(twice) == [newest, new, old]
    assert len(pointer_of(twice).next_keys) == 2

    clock.time = NOW + 30 * DAY - 1
    assert signers_of(stocked.publication.generate()) == [newest, new, old]
    clock.pass_by(1)
    assert pointer_of(before).expires <= clock.time
    assert signers_of(stocked.publication.generate()) == [newest, new]
    clock.pass_by(10 * DAY)
    last = stocked.publication.generate()
    assert signers_of(last) == [newest]
    assert pointer_of(last).next_keys == []
    assert len(json.loads(storage.read(lambda uow: uow.secrets.get("gallery_keys")) or "")) == 1


@pytest.mark.rule("contract L2", "contract L7")
def test_keys_are_limited_so_that_a_pointer_stays_short(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    for _ in range(MOST_KEYS - 1):
        stocked.publication.rotate_key()
    with pytest.raises(Conflict, match="8 gallery keys"):
        stocked.publication.rotate_key()
    blocked = [Withdrawal(Kind.THEME, 2_147_483_647 - number, NOW, "x" * 200) for number in range(40)]
    withdraw(storage, blocked)
    publication = stocked.publication.generate()
    for number in range(12):
        stocked.logos.amend(AmendLogo(logo_id=1, name=f"Name {number}"))
        publication = stocked.publication.generate()
    assert len(publication.pointer) <= 8_192
    assert len(pointer_of(publication).blocked) == 30
    assert len(signers_of(publication)) == 8


@pytest.mark.rule("contract L7")
def test_a_restored_gallery_has_a_higher_epoch(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    first = stocked.publication.generate()
    epochs = [pointer_of(first).epoch]
    for _ in range(3):
        storage.write(lambda uow: raise_epoch(uow, clock.now()))
        epochs.append(pointer_of(stocked.publication.generate()).epoch)
    assert epochs == [0, NOW, NOW + 1, NOW + 2]
    assert stocked.publication.generate().state != first.state


def test_files_of_another_gallery_are_replaced_only_in_an_own_folder(stocked: LogoAdmin, clock: FrozenClock) -> None:
    files = MemoryGalleryFiles()
    stocked.publication.publish(files)
    files.files |= {LEASE: b"", "mine.txt": b"kept"}
    other = gallery_on(MemoryStorage(), clock)
    with pytest.raises(StartError, match="another gallery"):
        other.publication.publish(files)
    files.files.pop("mine.txt")
    published = other.publication.publish(files, is_own=True)
    assert published.changed
    assert files.files[POINTER] == published.pointer
    assert {LEASE, SPARE, STATE, *parsed(published.pointer).paths, POINTER} == files.files.keys()
    files.files[POINTER] = b"damaged"
    assert other.publication.publish(files, is_own=True).changed


# Written by hand, so that naming a field needs two changes.
DETAILS: Final = (
    *("details.description", "details.text", "details.homepage", "details.source", "details.support"),
    *("details.licence", "details.version", "details.tags", "details.screenshots"),
)
PUBLISHED: Final = ("name", "preview_url", "target", "custom_css", "active", "created_at", *DETAILS, "details.origin")
SETTABLE: Final = ("name", "preview_url", "target", "custom_css", "author_ids", *DETAILS)
COMMANDS: Final[dict[Kind, tuple[type[Command], type[Command]]]] = {
    Kind.LOGO: (CreateLogo, AmendLogo),
    Kind.THEME: (CreateTheme, AmendTheme),
    Kind.AUTHOR: (CreateAuthor, AmendAuthor),
}
VALUES: Final[dict[str, Any]] = {**ARTWORK, "active": False, "unblock": True, "user_id": 102, "username": "Eve"}


def test_these_fields_are_published_and_settable() -> None:
    assert {kind: (row.published, row.settable) for kind, row in KINDS.items()} == {
        Kind.ROLE: ((), ()),
        Kind.USER: ((), ()),
        Kind.AUTHOR: (("author_id", "user_id", "username", "created_at"), ("username",)),
        Kind.THEME: (("theme_id", *PUBLISHED), SETTABLE),
        Kind.LOGO: (("logo_id", *PUBLISHED), SETTABLE),
    }


@dataclass(frozen=True, slots=True)
class LogoWithNote(Logo):
    note: str = field(default="for reviewers", kw_only=True)


@pytest.mark.rule("contract L1")
def test_a_new_field_is_not_published() -> None:
    row = replace(LOGOS, record=LogoWithNote)
    assert "note" in row.stored_fields
    builder = IndexBuilder()
    logo = LogoWithNote(1, "Aurora", "", "forum", "", True, (), 1)
    builder.add(row, logo, {}, {})
    body = builder.index(1).body
    assert b"Aurora" in body
    assert b"for reviewers" not in body


@pytest.mark.rule("contract R2")
@pytest.mark.parametrize("kind", COMMANDS)
def test_a_new_field_is_not_set_by_submitters(kind: Kind) -> None:
    """Fields of commands are refused unless listed."""
    storage = MemoryStorage()
    gallery = stock(gallery_on(storage, FrozenClock()))
    member = signed_in(storage, "proposals:write", user_id=101)
    row = KINDS[kind]
    create, amend = ({*each.model_fields} - {*Command.model_fields, row.id_field} for each in COMMANDS[kind])
    for name in (create | amend) - {*row.settable} - {"details"}:  # of which each member is named
        change = {"kind": kind, "id": 1, "version": 99, "set": {name: VALUES[name]}}
        with pytest.raises(InvalidInput) as refused:
            gallery.proposals.propose(ProposeChanges.model_validate({"title": "x", "changes": (change,)}), member)
        assert [problem.loc[-1] for problem in refused.value.problems] == [name]


@pytest.mark.rule("contract Q3", "contract R6")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("\u202eMoshi", "Moshi"),
        ("\u2069\u202eMoshi", "Moshi"),
        ("\u05de\u05e9\u05d4", "\u2068\u05de\u05e9\u05d4\u2069"),
        ("\u05de\u2069\u202e", "\u2068\u05de\u2069"),
    ],
)
def test_no_name_changes_the_direction_of_adjacent_text(name: str, shown: str) -> None:
    assert isolated(name) == shown
