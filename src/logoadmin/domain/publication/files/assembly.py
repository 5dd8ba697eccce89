"""Assemble a publication: all files of the gallery at one moment (contract L2, L3, L7)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.contents import Contents
from logoadmin.domain.publication.files.gallery_keys import DAY, Identity
from logoadmin.domain.publication.files.gallery_pages import Pages, Site
from logoadmin.domain.publication.files.index import css_path, hashed_name
from logoadmin.domain.publication.files.known_verdicts import noted_verdicts
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, public_key, signed
from logoadmin.domain.publication.files.user_styles import UserStyles
from logoadmin.domain.publication.files.withdrawals import MOST_BLOCKED, withdrawn_entries, withdrawn_file
from logoadmin.domain.publication.publication_records import (
    READER,
    GeneratedFile,
    Links,
    Page,
    Publication,
    PublishingRules,
)
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.ports.gallery_storage import Withdrawal


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a publication, read in one snapshot; ``state`` is equal for equal states of the gallery."""

    version: int
    # The last change of a published kind of record, so that all machines give an index the same name, and a change of a
    # user renews only the pointer.
    index_version: int
    issued: int
    identity: Identity
    contents: Contents
    withdrawn: Sequence[Withdrawal]  # the newest first
    targets: Targets
    page: Page | None = None
    state: str = ""


def assemble(sources: Sources, rules: PublishingRules, links: Links, page: GalleryPage) -> Publication:
    """Return the publication, without pictures, which are added later."""
    contents, identity = sources.contents, sources.identity
    index = contents.records.index(sources.index_version)
    entries = withdrawn_entries(sources.withdrawn)
    withdrawn = withdrawn_file(entries)
    withdrawn_name = hashed_name("withdrawn", withdrawn)
    sheets = {css_path(sha256): content for sha256, content in sorted(index.long_css.items())}
    files = {**sheets, index.name: index.body, withdrawn_name: withdrawn}
    files |= {READER: rules.reader} if rules.reader else {}
    pointer = Pointer(
        gallery=identity.gallery,
        epoch=identity.epoch,
        version=sources.version,
        issued=sources.issued,
        expires=sources.issued + rules.days * DAY,
        index=file_entry(index.name, index.body),
        withdrawn=file_entry(withdrawn_name, withdrawn),
        blocked=[entry for entry in entries if "reason" in entry][:MOST_BLOCKED],
        next_keys=[key.jwk for key in identity.keys[:-1]],
    )
    has_page, url = sources.page is not None, links.gallery
    styles = UserStyles(index, contents.versions, sources.targets, identity.gallery, url, has_page)
    made: tuple[Iterable[GeneratedFile], ...] = (styles,)
    if sources.page is not None:
        site = Site(sources.page, links, identity.gallery, sources.targets, page)
        files |= page.files(site.values(""), _page_data(site, identity))
        made = styles, Pages(index, contents, styles, sources.withdrawn, site)
    content, left_out = signed(pointer, identity.keys), tuple(contents.left_out)
    verdicts = noted_verdicts(index.name, index.sha256, sources.targets, identity.keys[0])
    return Publication(sources.version, content, files, left_out, made, sources.state, verdicts)


def _page_data(site: Site, identity: Identity) -> Mapping[str, Any]:
    """Return the data about the gallery for the scripts of the page."""
    return {
        "title": site.page.title,
        "home": site.page.home or None,
        "submit": site.links.submit,
        "targets": [{"id": target.id, "name": target.name} for target in site.targets],
        "keys": [public_key(key) for key in identity.keys],
    }
