"""Pictures: sent, named, taken down, removed and swept, on every storage (contract P)."""

import hashlib
import io
from dataclasses import replace
from typing import Any, Final

import pytest
from PIL import Image

from logoadmin import AmendSettings, Conflict, InvalidInput, LogoAdminError, NotFound, NotPermitted, TooManyPictures
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, CreateLogo, RemoveLogo
from logoadmin.domain.gallery.picture_commands import (
    GetPicture,
    ListPictures,
    PictureNamedBy,
    RemovePicture,
    SendPicture,
    SentPicture,
)
from logoadmin.domain.identity.users import CreateUser, RemoveUser
from logoadmin.domain.kernel.access import OWNER, ActingAs, Anonymous, Caller
from logoadmin.domain.kernel.kinds import picture_of
from logoadmin.domain.kernel.limits import MAX_PICTURE
from logoadmin.domain.kernel.records import Kind, Logo
from logoadmin.domain.kernel.unit_of_work import count_use
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.gallery_storage import StoredPicture, Withdrawal
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import ARTWORK, NOW, FrozenClock, drawing, failure, gallery_on, problems, signed_in
from tests.origins import Origins

DAY: Final = 86_400
ANYBODY: Final = Anonymous("192.0.2.1")


def sent(gallery: LogoAdmin, content: bytes | None = None, caller: Caller = OWNER) -> SentPicture:
    return gallery.pictures.send(SendPicture(), drawing() if content is None else content, caller)


def logo(gallery: LogoAdmin, url: str, **values: Any) -> Logo:
    return gallery.logos.create(CreateLogo(**{**ARTWORK, "preview_url": url, **values}))


def seen(gallery: LogoAdmin, picture: str, caller: Caller = ANYBODY) -> str:
    """Return the outcome of a request for a picture."""
    try:
        content, is_hidden = gallery.pictures.get(GetPicture(picture=picture), caller)
    except LogoAdminError as error:
        return type(error).__name__
    assert hashlib.sha256(content).hexdigest() == picture
    return "hidden" if is_hidden else "seen"


def refusal(gallery: LogoAdmin, content: bytes) -> str:
    with pytest.raises(InvalidInput) as error:
        sent(gallery, content)
    (problem,) = error.value.problems
    assert problem.loc == ("body",)
    return problem.msg


@pytest.mark.rule("contract P1", "contract P4")
def test_a_picture_is_stored_with_a_thumbnail_and_found_again(gallery: LogoAdmin) -> None:
    content = drawing(size=(800, 400))
    picture = sent(gallery, content)
    assert (picture.width, picture.height, picture.frames, picture.existed) == (800, 400, 1, False)
    assert picture.url == f"http://localhost:8000/pictures/{picture.picture}.webp"
    assert picture.thumbnail_url == f"http://localhost:8000/pictures/{picture.picture}-320.webp"
    stored, _ = gallery.pictures.get(GetPicture(picture=picture.picture), ANYBODY)
    assert len(stored) == picture.size
    assert Image.open(io.BytesIO(stored)).size == (800, 400)
    small, _ = gallery.pictures.get(GetPicture(picture=picture.picture, thumbnail=True), ANYBODY)
    assert Image.open(io.BytesIO(small)).size == (320, 160)
    again = sent(gallery, content)
    assert (again, again.existed) == (picture, True)
    # The stored file itself is also recognized, and not encoded again.
    assert sent(gallery, stored) == picture
    assert seen(gallery, "0" * 64) == "NotFound"


@pytest.mark.rule("contract P4")
def test_storage_stores_pictures(storage: Storage) -> None:
    one, two = (
        StoredPicture(name * 64, f"{number}" * 64, number, 3, 4, 1, 2, "dark") for number, name in enumerate("ab")
    )

    def write(uow: UnitOfWork) -> None:
        pictures = uow.pictures
        pictures.add(one, b"\x00\xff", b"\x01")
        pictures.add(two, b"22", b"")
        pictures.keep([one.picture, "c" * 64], 9)
        pictures.keep([one.picture], 8)
        pictures.note_in_history([two.picture, "c" * 64])
        pictures.remove(two.picture)

    storage.write(write)

    def read(uow: UnitOfWork) -> None:
        pictures = uow.pictures
        assert pictures.get(one.picture) == pictures.sent_as("0" * 64) == one
        assert pictures.get(two.picture) == pictures.sent_as("1" * 64) == replace(two, is_removed=True, in_history=True)
        assert pictures.get("c" * 64) is pictures.sent_as("c" * 64) is None
        assert pictures.content(one.picture, thumbnail=False) == b"\x00\xff"
        assert pictures.content(one.picture, thumbnail=True) == b"\x01"
        assert pictures.content(two.picture, thumbnail=False) is pictures.content("c" * 64, thumbnail=False) is None
        assert (pictures.count(), pictures.space(), pictures.shapes()) == (1, 3, {one.picture: (3, 4, "dark")})
        assert (pictures.page("", 5), pictures.page(one.picture, 5)) == ((one,), ())
        assert (pictures.has_unnamed(9), pictures.has_unnamed(10)) == (False, True)

    storage.read(read)
    assert storage.write(lambda uow: uow.pictures.forget_unnamed(10, 5)) == 1
    assert storage.read(lambda uow: uow.pictures.page("", 5)) == ()


@pytest.mark.rule("contract P1")
def test_work_of_members_counts_towards_their_hour(gallery: LogoAdmin, storage: Storage, clock: FrozenClock) -> None:
    member = signed_in(storage, "proposals:write")
    storage.write(lambda uow: count_use(uow, "picture work", 500, NOW, 120_000, more=119_999))
    sent(gallery, drawing(size=(300, 200)), member)
    with pytest.raises(TooManyPictures) as error:
        sent(gallery, drawing(), member)
    assert error.value.retry_after == 3600
    clock.pass_by(3600)
    sent(gallery, drawing(), ActingAs(member.user_id))


@pytest.mark.rule("contract P1")
def test_a_user_may_send_200_an_hour(gallery: LogoAdmin, storage: Storage, clock: FrozenClock) -> None:
    caller, content = signed_in(storage, "logos:write"), drawing()
    storage.write(lambda uow: count_use(uow, "pictures", 500, NOW, 200, more=198))
    for number in range(2):
        gallery.pictures.send(SendPicture(idempotency_key=f"{number}"), content, caller)
    clock.pass_by(600)
    assert not gallery.pictures.send(SendPicture(idempotency_key="0"), content, caller).existed
    with pytest.raises(TooManyPictures) as error:
        sent(gallery, content, caller)
    assert error.value.retry_after == 3000
    sent(gallery, content, signed_in(storage, "users:write", user_id=501))
    clock.pass_by(3000)
    sent(gallery, content, ActingAs(caller.user_id))


@pytest.mark.rule("contract P1")
def test_the_size_of_all_pictures_is_limited(storage: Storage, clock: FrozenClock) -> None:
    first = sent(gallery_on(storage, clock))
    space = storage.read(lambda uow: uow.pictures.space())
    assert space > first.size
    full = gallery_on(storage, clock, picture_space=space, started=False)
    assert sent(full).existed
    with pytest.raises(Conflict, match="picture_space"):
        sent(full, drawing(8))


@pytest.mark.rule("contract P3", "contract L8")
def test_a_picture_is_copied_from_elsewhere(storage: Storage, clock: FrozenClock) -> None:
    large = bytes(MAX_PICTURE + 1)
    origins = Origins({"https://img.example/a.png": drawing(), "https://img.example/large.png": large})
    gallery = gallery_on(storage, clock, outgoing=origins)
    asked = SendPicture(source="https://img.example/a.png")
    assert gallery.pictures.send(asked) == sent(gallery)
    with pytest.raises(InvalidInput, match="Body should be empty"):
        gallery.pictures.send(asked, b"a")
    with pytest.raises(InvalidInput) as error:
        gallery.pictures.send(SendPicture(source="https://img.example/large.png"))
    (problem,) = error.value.problems
    assert problem.loc == ("query", "from")
    assert problem.msg == "The picture cannot be fetched: img.example: more than 8388608 bytes"


@pytest.mark.rule("contract P4")
def test_an_unreferenced_picture_is_removed_after_a_day(gallery: LogoAdmin, clock: FrozenClock) -> None:
    named, removed, avatar, unnamed, again = (sent(gallery, drawing(shade)) for shade in range(5))
    logo(gallery, f"https://elsewhere.example/prefix/pictures/{named.picture}-320.webp?x#y")
    gallery.logos.remove(RemoveLogo(logo_id=logo(gallery, removed.url).logo_id))
    gallery.users.create(CreateUser(user_id=7, username="ann", avatar=avatar.thumbnail_url, password="correct horse"))
    logo(gallery, f"https://elsewhere.example/{unnamed.picture}.webp")
    clock.pass_by(DAY)
    gallery.sweep()
    assert {seen(gallery, each.picture) for each in (named, removed, avatar, unnamed, again)} == {"seen"}
    sent(gallery, drawing(4))
    clock.pass_by(1)
    gallery.sweep()
    assert seen(gallery, unnamed.picture) == "NotFound"
    assert {seen(gallery, each.picture) for each in (named, removed, avatar, again)} == {"seen"}


@pytest.mark.rule("contract P4")
def test_a_record_may_name_a_picture_before_it_is_sent(gallery: LogoAdmin, clock: FrozenClock) -> None:
    first = sent(gallery)
    clock.pass_by(DAY + 1)
    gallery.sweep()
    logo(gallery, first.url)
    assert seen(gallery, first.picture) == "NotFound"
    assert not sent(gallery).existed
    clock.pass_by(DAY + 1)
    gallery.sweep()
    assert seen(gallery, first.picture) == "seen"


@pytest.mark.rule("contract J8", "contract P4", "contract P5")
def test_the_mark_of_the_gallery_is_a_stored_picture_that_stays(gallery: LogoAdmin, clock: FrozenClock) -> None:
    mark = sent(gallery)
    amended = gallery.settings.amend(AmendSettings(gallery_mark=mark.picture))
    assert amended.gallery_mark == gallery.look()["gallery_mark"] == mark.picture
    clock.pass_by(2 * DAY)
    gallery.sweep()
    copied = logo(gallery, mark.url, active=True)
    gallery.logos.block(BlockLogo(logo_id=copied.logo_id, reason="copied"))
    assert seen(gallery, mark.picture) == "seen"
    (listed,) = gallery.pictures.list(ListPictures())
    assert PictureNamedBy("settings", 1) in listed.named_by
    gallery.settings.amend(AmendSettings(gallery_mark=None))
    assert seen(gallery, mark.picture) == "PictureGone"
    gallery.pictures.remove(RemovePicture(picture=mark.picture))
    for unknown in (mark.picture, "0" * 64):
        assert [*problems(gallery.settings.amend, AmendSettings(gallery_mark=unknown))] == [("body", "gallery_mark")]


@pytest.mark.rule("contract P5")
def test_a_takedown_includes_the_picture(gallery: LogoAdmin, storage: Storage) -> None:
    alone, shared = sent(gallery), sent(gallery, drawing(8))
    blocked, other = logo(gallery, alone.url), logo(gallery, shared.url)
    logo(gallery, shared.thumbnail_url)
    for each in (blocked, other):
        gallery.logos.block(BlockLogo(logo_id=each.logo_id, reason="not theirs"))
    editor, painter = signed_in(storage, "users:read"), signed_in(storage, "logos:write", user_id=501)
    member = signed_in(storage, "proposals:write", user_id=502)
    assert [seen(gallery, alone.picture, caller) for caller in (ANYBODY, member)] == ["PictureGone"] * 2
    assert [seen(gallery, alone.picture, caller) for caller in (editor, painter, OWNER)] == ["hidden"] * 3
    assert seen(gallery, shared.picture) == "seen"
    gallery.logos.remove(RemoveLogo(logo_id=blocked.logo_id))
    assert seen(gallery, alone.picture) == "PictureGone"
    gallery.changes.revert(Revert(change_id=gallery.changes.version()))
    assert seen(gallery, alone.picture) == "PictureGone"
    gallery.logos.amend(AmendLogo(logo_id=blocked.logo_id, active=True, unblock=True))
    assert seen(gallery, alone.picture) == "seen"


@pytest.mark.rule("contract P5")
def test_a_takedown_lasts_after_any_number_of_others(gallery: LogoAdmin, storage: Storage) -> None:
    picture = sent(gallery)
    blocked = logo(gallery, picture.url)
    gallery.logos.block(BlockLogo(logo_id=blocked.logo_id, reason="not theirs"))
    later = [Withdrawal(Kind.LOGO, 1_000_000 + number, 2_000_000_000, "not theirs") for number in range(1001)]

    def block(uow: UnitOfWork) -> None:
        for each in later:
            uow.withdrawals.put(each)

    storage.write(block)
    assert seen(gallery, picture.picture) == "PictureGone"


@pytest.mark.rule("contract P5")
def test_only_a_published_artwork_lifts_the_takedown_of_a_picture(gallery: LogoAdmin) -> None:
    picture = sent(gallery)
    blocked = logo(gallery, picture.url)
    gallery.logos.block(BlockLogo(logo_id=blocked.logo_id, reason="not theirs"))
    gallery.users.create(CreateUser(user_id=7, username="ann", avatar=picture.thumbnail_url, password="correct horse"))
    other = logo(gallery, f"https://elsewhere.example/pictures/{picture.picture}.webp", active=False)
    assert seen(gallery, picture.picture) == "PictureGone"
    gallery.logos.remove(RemoveLogo(logo_id=blocked.logo_id))
    assert seen(gallery, picture.picture) == "PictureGone"
    gallery.logos.amend(AmendLogo(logo_id=other.logo_id, active=True))
    assert seen(gallery, picture.picture) == "seen"
    gallery.logos.amend(AmendLogo(logo_id=other.logo_id, preview_url="https://elsewhere.example/a.png"))
    assert seen(gallery, picture.picture) == "PictureGone"


@pytest.mark.rule("contract P4", "contract P5", "contract S1")
def test_a_screenshot_is_kept_hidden_and_removed_like_the_preview(gallery: LogoAdmin, clock: FrozenClock) -> None:
    first, second, unnamed = (sent(gallery, drawing(shade)) for shade in range(3))
    shots = {"screenshots": [{"url": each.url} for each in (first, second)]}
    made = logo(gallery, "https://elsewhere.example/a.png", details=shots)
    clock.pass_by(DAY + 1)
    gallery.sweep()
    assert [seen(gallery, each.picture) for each in (first, second, unnamed)] == ["seen", "seen", "NotFound"]
    gallery.logos.block(BlockLogo(logo_id=made.logo_id, reason="not theirs"))
    assert [seen(gallery, each.picture) for each in (first, second)] == ["PictureGone"] * 2
    gallery.logos.amend(AmendLogo.model_validate({"logo_id": 1, "active": True, "unblock": True, "details": None}))
    clock.pass_by(30 * DAY)
    gallery.sweep()
    # The history refers to it.
    assert gallery.pictures.get(GetPicture(picture=first.picture))
    gallery.pictures.remove(RemovePicture(picture=first.picture))
    assert seen(gallery, first.picture) == "PictureGone"


@pytest.mark.rule("contract P4")
def test_missing_pictures_are_named_only_by_current_records(gallery: LogoAdmin, storage: Storage) -> None:
    ours = [f"https://gallery.example/pictures/{number:064x}.webp" for number in range(5)]
    id_ = logo(gallery, ours[0]).logo_id
    for url in ours:
        gallery.logos.amend(AmendLogo(logo_id=id_, preview_url=url))

    def named(uow: UnitOfWork) -> tuple[object, ...]:
        pictures = uow.pictures
        return pictures.named_by("logo", id_), [*filter(None, (pictures.get(f"{each:064x}") for each in range(5)))]

    assert storage.read(named) == ((f"{4:064x}",), [])
    gallery.logos.remove(RemoveLogo(logo_id=id_))
    assert storage.read(named) == ((), [])


@pytest.mark.rule("contract P1", "contract P4")
def test_a_user_without_write_scopes_has_a_share_of_the_space(storage: Storage, clock: FrozenClock) -> None:
    first = sent(gallery_on(storage, clock))
    size = storage.read(lambda uow: uow.pictures.space())
    gallery = gallery_on(storage, clock, picture_space=30 * size, started=False)
    member, editor = signed_in(storage, "proposals:write"), signed_in(storage, "logos:write", user_id=501)
    assert sent(gallery, caller=member).picture == first.picture
    pictures = [sent(gallery, drawing(shade), member) for shade in (50, 51)]
    with pytest.raises(Conflict, match="Your pictures that were not applied would take more than your share"):
        [sent(gallery, drawing(shade), member) for shade in range(60, 70)]
    for shade in range(80, 90):
        sent(gallery, drawing(shade), editor)
    for each in pictures:
        logo(gallery, each.url)
    sent(gallery, drawing(70), member)
    clock.pass_by(DAY + 1)
    while gallery.sweep() == "more":
        pass
    sent(gallery, drawing(71), ActingAs(member.user_id))


@pytest.mark.rule("contract P5", "contract G")
def test_a_removed_picture_is_gone_for_good(gallery: LogoAdmin, storage: Storage) -> None:
    picture, shown = sent(gallery), drawing()
    stored, _ = gallery.pictures.get(GetPicture(picture=picture.picture))
    logo(gallery, picture.url)
    caller = replace(signed_in(storage, "*"), request_id="takedown")
    removed = gallery.pictures.remove(RemovePicture(picture=picture.picture), caller)
    assert removed.picture == picture.picture
    assert seen(gallery, picture.picture, OWNER) == "PictureGone"
    assert refusal(gallery, shown) == refusal(gallery, stored) == "This picture was removed"
    assert refusal(gallery, drawing(form="GIF")) == "This picture was removed"
    assert failure(gallery.pictures.remove, RemovePicture(picture=picture.picture)) is NotFound
    (change,) = gallery.changes.list(ListChanges(kind=Kind.PICTURE))
    assert (change.action, change.user_id, change.id) == ("picture.removed", 500, change.change_id)
    shape = {name: getattr(picture, name) for name in ("picture", "width", "height", "frames", "size")}
    assert (change.before, change.after) == (shape, None)
    with pytest.raises(Conflict, match="removed pictures are not kept"):
        gallery.changes.revert(Revert(change_id=change.change_id))
    assert tuple(gallery.changes.revert_request(RevertRequest(request_id="takedown"))) == ()
    assert storage.read(lambda uow: uow.pictures.space()) == 0


@pytest.mark.rule("contract P4")
def test_stored_files_are_moved_unchanged(gallery: LogoAdmin) -> None:
    picture = sent(gallery)
    (listed,) = gallery.pictures.stored()
    content, _ = gallery.pictures.get(GetPicture(picture=listed))
    assert gallery.pictures.stored(listed) == ()
    assert not gallery.pictures.restore(listed, content)
    with pytest.raises(InvalidInput, match="not the picture that its name says"):
        gallery.pictures.restore(listed, content + b"x")
    other = drawing(9)
    with pytest.raises(InvalidInput, match="not a stored picture"):
        gallery.pictures.restore(hashlib.sha256(other).hexdigest(), other)
    assert picture.picture == listed


@pytest.mark.rule("contract P4", "contract E2")
def test_pictures_are_listed_with_their_senders_and_references(gallery: LogoAdmin, storage: Storage) -> None:
    member, reader = signed_in(storage, "proposals:write"), signed_in(storage, "users:read", user_id=501)
    one, two = sorted((sent(gallery, drawing(shade), member) for shade in (1, 2)), key=lambda each: each.picture)
    id_ = logo(gallery, one.url, active=False).logo_id
    shown = logo(gallery, one.url).logo_id
    page = gallery.pictures.list(ListPictures(limit=1), reader)
    (listed,) = page
    assert page.next_after == one.picture
    assert (listed.url, listed.thumbnail_url, listed.size) == (one.url, one.thumbnail_url, one.size)
    assert (listed.user_id, listed.user_name, listed.sent_at, listed.in_history) == (500, "user 500", NOW, True)
    assert listed.named_by == (PictureNamedBy("logo", shown), PictureNamedBy("logo", id_))
    page = gallery.pictures.list(ListPictures(limit=1, after=one.picture), reader)
    assert ([each.picture for each in page], page.next_after) == ([two.picture], None)
    gallery.users.remove(RemoveUser(user_id=500))
    found = [(each.user_id, each.user_name, each.named_by == ()) for each in gallery.pictures.list(ListPictures())]
    assert found == [(None, None, False), (None, None, True)]
    with pytest.raises(NotPermitted):
        gallery.pictures.list(ListPictures(), signed_in(storage, "logos:write", user_id=502))


@pytest.mark.rule("contract P2")
@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://a.example/pictures/{}.webp", True),
        ("http://localhost:8000/some/prefix/pictures/{}-320.webp?a=/b#c", True),
        ("pictures/{}.webp", True),
        ("https://a.example/mypictures/{}.webp", False),
        ("https://a.example/pictures/{}.webp/x", False),
        ("https://a.example/?/pictures/{}.webp", False),
        ("https://[broken/pictures/{}.webp", False),
        ("https://a.example/pictures/A{}.webp", False),
    ],
)
def test_the_path_of_a_url_decides_whether_it_names_a_picture(url: str, is_ours: bool) -> None:
    assert picture_of(url.format("a" * 64)) == ("a" * 64 if is_ours else None)
    assert picture_of(None) is None
