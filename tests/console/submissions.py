"""Members of a gallery, and what they submit."""

from typing import Any, Final

from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.proposal_commands import Proposal, ProposeChanges
from logoadmin.domain.gallery.artworks import GetLogo, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.logo_admin import LogoAdmin
from tests.console.external_hosts import PICTURES

MEMBER: Final = ("mira", "the member's password")
MEMBER_ID: Final = 1042
# Logo 1 and theme 1 are theirs.
OWN: Final = 1


def admit(gallery: LogoAdmin) -> None:
    """Create a member with a logo and a theme."""
    name, password = MEMBER
    gallery.users.create(CreateUser(user_id=MEMBER_ID, username=name, password=password))
    author = gallery.authors.create(CreateAuthor(user_id=MEMBER_ID, username="Mira Sol")).author_id
    gallery.logos.link(LinkLogoAuthor(logo_id=OWN, author_id=author))
    gallery.themes.link(LinkThemeAuthor(theme_id=OWN, author_id=author))


def new_logo(name: str, **values: Any) -> BulkChange:
    url = f"http://{PICTURES}/{name.replace(' ', '-')}.svg"
    given = {"name": name, "preview_url": url, "target": "forum", "custom_css": "width: 90px; border-radius: 8px"}
    return BulkChange(kind=Kind.LOGO, create=given | values)


def own_logo(gallery: LogoAdmin, **values: Any) -> BulkChange:
    version = gallery.logos.get(GetLogo(logo_id=OWN)).version
    return BulkChange(kind=Kind.LOGO, id=OWN, version=version, set=values)


def submit(
    gallery: LogoAdmin, *changes: BulkChange, title: str = "", note: str = "", user_id: int = MEMBER_ID
) -> Proposal:
    """Submit changes as a member."""
    names = [str((change.create or change.set or {}).get("name", "Logo")) for change in changes]
    proposing = ProposeChanges(title=title or names[0], note=note, changes=changes)
    return gallery.acting_as(user_id).proposals.propose(proposing)
