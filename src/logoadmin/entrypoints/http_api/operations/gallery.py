"""The endpoints about the gallery (spec §Endpoints 6 to 12, contract D, L3, J8)."""

from typing import Any, Final

from logoadmin.domain.gallery import artworks, authors, pictures
from logoadmin.domain.gallery import shared_settings as settings
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, THEMES, AnyArtworkKind
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import (
    Author,
    KeptPicture,
    Kind,
    RemovedAuthor,
    RemovedPicture,
    SentPicture,
    SharedSettings,
)
from logoadmin.entrypoints.http_api.operation import LEFT_OUT, Operation, asked_list, whole_list

_IS_BLOCKED: Final = "`active: true` is 409 while it is blocked, unless `unblock: true` lifts the block."
_NEW_ARTWORK: Final = "It has no authors yet, and is inactive unless `active` is true."
_WITH_AUTHORS: Final = "With its authors, in the order they were linked."
_STOPS: Final = (
    "Switches it off, and has the readers of the published gallery stop applying it at once. It stays blocked, even if "
    "it is removed, until it is switched on or the block is undone. The reason is in the history and is published."
)
_LINKS_GO: Final = "The links to its authors are removed; the authors stay."
_IN_ORDER: Final = "In the order they were linked."
_AS_LAST: Final = "The author is added at the end. If already linked, the existing link is returned."
_IN_BODY: Final = "The author is named in the body. 404 if not linked."
_BY_PATH: Final = "The author is named in the path. 404 if not linked."

# The lines of the specification about artworks; the contract has the others.
_SPECIFIED: Final = {
    (Kind.THEME, "UnlinkThemeAuthor"): "spec §Endpoints 8",
    (Kind.LOGO, "GetLogo"): "spec §Endpoints 9",
    (Kind.LOGO, "RemoveLogo"): "spec §Endpoints 10",
    (Kind.LOGO, "ListLogoAuthors"): "spec §Endpoints 11",
    (Kind.LOGO, "LinkLogoAuthor"): "spec §Endpoints 12",
}

_SOURCES: Final = {"block": "L3", "of_author": "D authors"}


def _artwork_operations(kind: AnyArtworkKind) -> tuple[Operation, ...]:
    """Return the endpoints of one kind of artwork, whose commands have its name in theirs."""
    name, every = kind.kind, f"/api/{kind.plural}"
    one = f"{every}/{{{kind.id_field}}}"
    listing: Any = Listing

    def row(request: str, command: str, call: str, answer: Any, summary: str, text: str, **more: Any) -> Operation:
        command = command.format(kind.name, f"{kind.name}s")
        source = _SPECIFIED.get((kind.kind, command), f"contract {_SOURCES.get(call, f'D {kind.plural}')}")
        made = getattr(artworks, command)
        return Operation(source, request, made, f"{kind.plural}.{call}", answer, summary, text, **more)

    # fmt: off
    return (
        row(f"GET {every}", "List{1}", "list", listing[kind.record], f"List {kind.plural}", whole_list(kind)),
        row(f"POST {every}", "Create{0}", "create", kind.record, f"Create a {name}", _NEW_ARTWORK, success=201),
        row(f"GET {one}", "Get{0}", "get", kind.record, f"Get a {name}", _WITH_AUTHORS),
        row(f"PATCH {one}", "Amend{0}", "amend", kind.record, f"Change a {name}", f"{LEFT_OUT} {_IS_BLOCKED}",
            also=(409,)),
        row(f"POST {one}/block", "Block{0}", "block", kind.record, f"Block a {name}", _STOPS),
        row(f"DELETE {one}", "Remove{0}", "remove", kind.removed, f"Remove a {name}", _LINKS_GO),
        row(f"GET {one}/authors", "List{0}Authors", "authors", Listing[Author], f"List a {name}'s authors", _IN_ORDER),
        row(f"POST {one}/authors", "Link{0}Author", "link", kind.link, f"Add an author to a {name}", _AS_LAST,
            also=(409,)),
        row(f"DELETE {one}/authors", "Unlink{0}Author", "unlink", kind.removed_link, f"Take an author off a {name}",
            _IN_BODY),
        row(f"DELETE {one}/authors/{{author_id}}", "Remove{0}Author", "remove_author", kind.removed_link,
            f"Take an author off a {name}, by path", _BY_PATH),
        row(f"GET /api/authors/{{author_id}}/{kind.plural}", "ListAuthor{1}", "of_author", listing[kind.record],
            f"List an author's {kind.plural}", asked_list(kind)),
    )
    # fmt: on


# fmt: off
GALLERY_OPERATIONS: Final = (
    Operation("contract J8", "GET /api/settings", settings.GetSettings, "settings.get", SharedSettings,
              "Get the settings for everybody", "Before the first change, there are none. Requires any token."),
    Operation("contract J8", "PATCH /api/settings", settings.AmendSettings, "settings.amend", SharedSettings,
              "Change the settings for everybody",
              f"{LEFT_OUT} In the history, the settings are the record 1 of the kind `settings`, and a change of them "
              "can be undone."),
    Operation("contract D authors", "GET /api/authors", authors.ListAuthors, "authors.list", Listing[Author],
              "List authors", whole_list(AUTHORS)),
    Operation("spec §Endpoints 6", "POST /api/authors", authors.CreateAuthor, "authors.create", Author,
              "Create an author", "With their number and their name at the community site.", success=201),
    Operation("contract D authors", "GET /api/authors/{author_id}", authors.GetAuthor, "authors.get", Author,
              "Get an author", "Their works are at `/logos` and `/themes` below it."),
    Operation("spec §Endpoints 7", "PATCH /api/authors/{author_id}", authors.AmendAuthor, "authors.amend", Author,
              "Change an author", LEFT_OUT),
    Operation("contract D authors", "DELETE /api/authors/{author_id}", authors.RemoveAuthor, "authors.remove",
              RemovedAuthor, "Remove an author", "Their logos and themes stay, without the author."),
    *_artwork_operations(THEMES),
    *_artwork_operations(LOGOS),
    Operation("contract P1", "POST /api/pictures", pictures.SendPicture, "pictures.send", SentPicture, "Keep a picture",
              "The body is the file: PNG, JPEG, GIF or WebP, judged by its content, of at most 8 MiB and 40 million "
              "pixels; of a long animation, the first frames are kept. It is stored as WebP of at most 1,600 pixels a "
              "side and 4 MiB, with a thumbnail of at most 320, both without metadata. 200 if the picture "
              "existed. A picture that no record names within a day is removed. A user may send 200 an hour.",
              success=201, existing=200, takes_file=True, bodiless=True, also=(409, 429)),
    Operation("contract P4", "GET /api/pictures", pictures.ListPictures, "pictures.list", Listing[KeptPicture],
              "List pictures", "By `picture`; `after` is the last one seen. Without a version."),
    Operation("contract P5", "DELETE /api/pictures/{picture}", pictures.RemovePicture, "pictures.remove",
              RemovedPicture, "Remove a picture for good",
              "Records may still name it. Its URL responds with 410 from then on, and the same file is refused when it "
              "is sent again. The removal is in the history and cannot be undone."),
)
# fmt: on
