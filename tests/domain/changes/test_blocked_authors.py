"""What the authors of a blocked artwork see of it (contract L3, P5, R4)."""

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.proposal_commands import ApplyProposal, GetProposal, ProposeChanges
from logoadmin.domain.gallery.artworks import BlockLogo, CreateLogo
from logoadmin.domain.gallery.pictures import GetPicture, SendPicture
from logoadmin.domain.kernel.access import ANONYMOUS, Caller
from logoadmin.domain.kernel.errors import NotPermitted, PictureGone
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.status import ShowPublication
from tests.contracts.gallery.test_pictures import drawing
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in

LOOK = {name: value for name, value in ARTWORK.items() if name != "active"}


@pytest.mark.rule("contract L3", "contract P5", "contract R4")
def test_authors_see_their_blocked_works_with_reason_and_picture() -> None:
    storage = MemoryStorage()
    gallery = gallery_on(storage, FrozenClock())
    author = signed_in(storage, "proposals:write", user_id=501)
    other = signed_in(storage, "proposals:write", user_id=502)
    moderator = signed_in(storage, "logos:write", user_id=503)
    nobody = signed_in(storage, user_id=504)
    sent = gallery.pictures.send(SendPicture(), drawing(1), author)
    change = BulkChange(kind=Kind.LOGO, create={**LOOK, "preview_url": sent.url})
    gallery.proposals.propose(ProposeChanges(title="Mine", changes=(change,)), author)
    gallery.proposals.apply(ApplyProposal(proposal_id=1))
    gallery.logos.create(CreateLogo(**ARTWORK))
    for logo_id, reason in ((1, "Covers the page"), (2, "Somebody else's")):
        gallery.logos.block(BlockLogo(logo_id=logo_id, reason=reason))
    for caller in (author, moderator):
        assert gallery.pictures.get(GetPicture(picture=sent.picture), caller)[1]
    strangers: list[Caller] = [other, nobody, ANONYMOUS]
    for stranger in strangers:
        with pytest.raises(PictureGone):
            gallery.pictures.get(GetPicture(picture=sent.picture), stranger)
    (made,) = gallery.proposals.get(GetProposal(proposal_id=1), author).artworks
    status = gallery.publication.status(ShowPublication(), author)
    assert [(each.kind, each.id, each.reason) for each in status.blocked] == [(made.kind, made.id, "Covers the page")]
    assert (status.logos, status.left_out, status.risky) == (0, (), ())
    assert not gallery.publication.status(ShowPublication(), other).blocked
    with pytest.raises(NotPermitted):
        gallery.publication.status(ShowPublication(), nobody)
