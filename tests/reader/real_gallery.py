"""The story of a gallery that logoadmin itself publishes, with the reader's observations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, CreateLogo, CreateTheme, LinkLogoAuthor
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.publication.files.gallery_keys import raise_epoch
from logoadmin.domain.publication.publication_records import POINTER
from tests.gallery import ARTWORK, FrozenClock, gallery_on
from tests.reader.publisher import Answer, Files, PublicKey
from tests.reader.vectors import Seen, Step, Story

_DAY: Final = 86_400


@dataclass
class RealGallery:
    """A gallery in memory, and the steps of a reader that looks at each of its publications."""

    storage: MemoryStorage = field(default_factory=MemoryStorage)
    clock: FrozenClock = field(default_factory=FrozenClock)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gallery = gallery_on(self.storage, self.clock)

    def files(self) -> Files:
        """Publish, and return the files."""
        publication = self.gallery.publication.generate()
        return {name: Answer(content) for name, content in {**publication.files, POINTER: publication.pointer}.items()}

    def read(self, logos: Sequence[int], requests: Sequence[str] | None = None, *, withdrawn: Any = ()) -> None:
        """Publish, and have the reader check it, or open it in the first step. ``requests`` are starts of names."""
        files, version = self.files(), self.gallery.changes.version()
        asked = None if requests is None else [next(filter(re.compile(start).match, files)) for start in requests]
        if asked and self.steps:
            asked[0] += "?"  # the pointer, conditionally
        # If nothing but the pointer is read, nothing changed.
        changed = requests is None or len(requests) > 1
        seen = Seen(version, logos, [1], changed if self.steps else None, withdrawn=withdrawn, requests=asked)
        self.steps.append(Step(files, seen, self.clock.now()))
        self.clock.pass_by(60)


def real_story() -> Story:
    """Return what happens to a gallery: changes, a takedown, a rotation of its key, a new epoch."""
    real = RealGallery()
    gallery = real.gallery
    gallery.authors.create(CreateAuthor(user_id=1, username="Ann \u2028 \U0001f600 <\x7f>"))
    for _ in range(2):
        gallery.logos.create(CreateLogo(**ARTWORK))
    gallery.themes.create(CreateTheme(**ARTWORK))
    gallery.logos.link(LinkLogoAuthor(logo_id=1, author_id=1))
    key = PublicKey(gallery.publication.public_keys()[0])
    real.read([1, 2], ["latest", "withdrawn", f"{gallery.changes.version()}-"])
    gallery.logos.amend(AmendLogo(logo_id=2, custom_css="content: '\u00e9\\\"\t'"))
    gallery.logos.create(CreateLogo(**ARTWORK))
    real.read([1, 2, 3], ["latest", f"{gallery.changes.version()}-"])
    gallery.logos.block(BlockLogo(logo_id=1, reason="It covers the sign-in form"))
    real.read([2, 3], ["latest", "withdrawn", f"{gallery.changes.version()}-"], withdrawn=[["logo", 1, "blocked"]])
    real.read([2, 3], ["latest"])
    gallery.publication.rotate_key()
    real.clock.pass_by(3600)
    real.read([2, 3], ["latest"])
    # The first key has retired.
    real.clock.pass_by(32 * _DAY)
    gallery.logos.create(CreateLogo(**ARTWORK))
    real.read([2, 3, 4])
    real.storage.write(lambda uow: raise_epoch(uow, real.clock.now()))
    gallery.logos.amend(AmendLogo(logo_id=4, active=False))
    real.read([2, 3], withdrawn=[["logo", 4, "removed"]])
    gone: Mapping[str, Answer] = {}
    last = real.steps[-1].seen
    real.steps.append(Step(gone, Seen(last.version, last.logos, last.themes), real.clock.now(), opens=True))
    return Story("a real gallery", real.steps, keys=[key])
