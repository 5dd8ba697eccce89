"""The endpoints for the gallery and its publication (spec §Endpoints 6 to 12, contract D, L, J8)."""

from typing import Final

from logoadmin.domain.gallery import artworks, authors, pictures
from logoadmin.domain.gallery.picture_commands import (
    KeptPicture,
    ListPictures,
    RemovedPicture,
    RemovePicture,
    SendPicture,
    SentPicture,
)
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, THEMES
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import (
    Author,
    Logo,
    LogoAuthor,
    RemovedAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    SharedSettings,
    Theme,
    ThemeAuthor,
)
from logoadmin.domain.logo_admin import LogoService, ThemeService
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication import shared_settings as settings
from logoadmin.domain.publication.css import css_service as css
from logoadmin.domain.publication.css.inlining import InlinedCss
from logoadmin.domain.publication.css.user_style_source import UserStyle
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.publication_records import PublicationStatus
from logoadmin.domain.publication.text_service import RenderedText, RenderText, TextService
from logoadmin.entrypoints.http_api.operation import LEFT_OUT, Operation, asked_list, whole_list

_IS_BLOCKED: Final = "`active: true` returns 409 while it is blocked, unless `unblock: true` lifts the block."
_NEW_ARTWORK: Final = "The new record has no authors, and is inactive unless `active` is true."
_WITH_AUTHORS: Final = "Includes its authors, in the order they were linked."
_STOPS: Final = (
    "Switches it off, and makes readers of the published gallery stop applying it at once. It stays blocked, even if "
    "it is removed, until it is switched on or the block is undone. The reason is published and kept in the history."
)
_LINKS_GO: Final = "The links to its authors are removed; the authors stay."
_IN_ORDER: Final = "Lists the authors in the order they were linked."
_AS_LAST: Final = "Adds the author at the end. If already linked, the existing link is returned."
_IN_BODY: Final = "The author is named in the body. 404 if not linked."
_BY_PATH: Final = "The author is named in the path. 404 if not linked."

# fmt: off
GALLERY_OPERATIONS: Final = (
    Operation("contract J8", "GET /api/settings", settings.GetSettings, settings.SettingsService.get, SharedSettings,
              "Get the shared settings", "Empty before the first change. Requires any token."),
    Operation("contract J8", "PATCH /api/settings", settings.AmendSettings, settings.SettingsService.amend,
              SharedSettings, "Change the shared settings",
              f"{LEFT_OUT} In the history, the settings are record 1 of the kind `settings`, and their changes can be "
              "undone."),
    Operation("contract D authors", "GET /api/authors", authors.ListAuthors, authors.AuthorService.list,
              Listing[Author], "List authors", whole_list(AUTHORS)),
    Operation("spec §Endpoints 6", "POST /api/authors", authors.CreateAuthor, authors.AuthorService.create, Author,
              "Create an author", "The fields are the number and the name at the community site.", success=201),
    Operation("contract D authors", "GET /api/authors/{author_id}", authors.GetAuthor, authors.AuthorService.get,
              Author, "Get an author", "The author's works are at `/logos` and `/themes` below this path."),
    Operation("spec §Endpoints 7", "PATCH /api/authors/{author_id}", authors.AmendAuthor, authors.AuthorService.amend,
              Author, "Change an author", LEFT_OUT),
    Operation("contract D authors", "DELETE /api/authors/{author_id}", authors.RemoveAuthor,
              authors.AuthorService.remove, RemovedAuthor, "Remove an author",
              "The author's logos and themes stay, without the author."),
    Operation("contract D themes", "GET /api/themes", artworks.ListThemes, ThemeService.list, Listing[Theme],
              "List themes", whole_list(THEMES)),
    Operation("contract D themes", "POST /api/themes", artworks.CreateTheme, ThemeService.create, Theme,
              "Create a theme", _NEW_ARTWORK, success=201),
    Operation("contract D themes", "GET /api/themes/{theme_id}", artworks.GetTheme, ThemeService.get, Theme,
              "Get a theme", _WITH_AUTHORS),
    Operation("contract D themes", "PATCH /api/themes/{theme_id}", artworks.AmendTheme, ThemeService.amend, Theme,
              "Change a theme", f"{LEFT_OUT} {_IS_BLOCKED}", also=(409,)),
    Operation("contract L3", "POST /api/themes/{theme_id}/block", artworks.BlockTheme, ThemeService.block, Theme,
              "Block a theme", _STOPS),
    Operation("contract D themes", "DELETE /api/themes/{theme_id}", artworks.RemoveTheme, ThemeService.remove,
              RemovedTheme, "Remove a theme", _LINKS_GO),
    Operation("contract D themes", "GET /api/themes/{theme_id}/authors", artworks.ListThemeAuthors,
              ThemeService.authors, Listing[Author], "List a theme's authors", _IN_ORDER),
    Operation("contract D themes", "POST /api/themes/{theme_id}/authors", artworks.LinkThemeAuthor, ThemeService.link,
              ThemeAuthor, "Link an author to a theme", _AS_LAST, also=(409,)),
    Operation("spec §Endpoints 8", "DELETE /api/themes/{theme_id}/authors", artworks.UnlinkThemeAuthor,
              ThemeService.unlink, RemovedThemeAuthor, "Unlink an author from a theme", _IN_BODY),
    Operation("contract D themes", "DELETE /api/themes/{theme_id}/authors/{author_id}", artworks.RemoveThemeAuthor,
              ThemeService.remove_author, RemovedThemeAuthor, "Unlink an author from a theme, by path", _BY_PATH),
    Operation("contract D authors", "GET /api/authors/{author_id}/themes", artworks.ListAuthorThemes,
              ThemeService.of_author, Listing[Theme], "List an author's themes", asked_list(THEMES)),
    Operation("contract D logos", "GET /api/logos", artworks.ListLogos, LogoService.list, Listing[Logo], "List logos",
              whole_list(LOGOS)),
    Operation("contract D logos", "POST /api/logos", artworks.CreateLogo, LogoService.create, Logo, "Create a logo",
              _NEW_ARTWORK, success=201),
    Operation("spec §Endpoints 9", "GET /api/logos/{logo_id}", artworks.GetLogo, LogoService.get, Logo, "Get a logo",
              _WITH_AUTHORS),
    Operation("contract D logos", "PATCH /api/logos/{logo_id}", artworks.AmendLogo, LogoService.amend, Logo,
              "Change a logo", f"{LEFT_OUT} {_IS_BLOCKED}", also=(409,)),
    Operation("contract L3", "POST /api/logos/{logo_id}/block", artworks.BlockLogo, LogoService.block, Logo,
              "Block a logo", _STOPS),
    Operation("spec §Endpoints 10", "DELETE /api/logos/{logo_id}", artworks.RemoveLogo, LogoService.remove, RemovedLogo,
              "Remove a logo", _LINKS_GO),
    Operation("spec §Endpoints 11", "GET /api/logos/{logo_id}/authors", artworks.ListLogoAuthors, LogoService.authors,
              Listing[Author], "List a logo's authors", _IN_ORDER),
    Operation("spec §Endpoints 12", "POST /api/logos/{logo_id}/authors", artworks.LinkLogoAuthor, LogoService.link,
              LogoAuthor, "Link an author to a logo", _AS_LAST, also=(409,)),
    Operation("contract D logos", "DELETE /api/logos/{logo_id}/authors", artworks.UnlinkLogoAuthor, LogoService.unlink,
              RemovedLogoAuthor, "Unlink an author from a logo", _IN_BODY),
    Operation("contract D logos", "DELETE /api/logos/{logo_id}/authors/{author_id}", artworks.RemoveLogoAuthor,
              LogoService.remove_author, RemovedLogoAuthor, "Unlink an author from a logo, by path", _BY_PATH),
    Operation("contract D authors", "GET /api/authors/{author_id}/logos", artworks.ListAuthorLogos,
              LogoService.of_author, Listing[Logo], "List an author's logos", asked_list(LOGOS)),
    Operation("contract P1", "POST /api/pictures", SendPicture, pictures.PictureService.send, SentPicture,
              "Upload a picture",
              "The body is the file: a PNG, JPEG, GIF or WebP, judged by its content, of at most 8 MiB and 40 million "
              "pixels. Only the first frames of a long animation are kept. It is stored as WebP of at most 1,600 "
              "pixels a side and 4 MiB, with a thumbnail of at most 320, both without metadata. 200 if the picture "
              "already existed. A picture that no record names within a day is removed. A user may upload 200 an hour.",
              success=201, existing=200, takes_file=True, bodiless=True, also=(409, 429)),
    Operation("contract P4", "GET /api/pictures", ListPictures, pictures.PictureService.list,
              Listing[KeptPicture], "List pictures", "Lists them by `picture`, and has no `ETag`."),
    Operation("contract P5", "DELETE /api/pictures/{picture}", RemovePicture, pictures.PictureService.remove,
              RemovedPicture, "Remove a picture for good",
              "Records may still name it. Its URL then returns 410, and the same file is refused if it is sent again. "
              "The removal is in the history and cannot be undone."),
)
# fmt: on


_VERDICT: Final = (
    "Returns every host that a browser contacts if the CSS is applied, its imports, and its risks by line and column, "
    "judged from the text alone. CSS that cannot be parsed has the risk `invalid`."
)


# fmt: off
PUBLICATION_OPERATIONS: Final = (
    Operation("contract L5", "GET /api/publication", publication.ShowPublication, publication.PublicationService.status,
              PublicationStatus, "Show the status of the published gallery",
              "Returns the active logos and themes that are left out of the published gallery, with the reasons; those "
              "with risks; and the blocked ones. Requires `logos:write` or `themes:write`; with only "
              "`proposals:write`, returns your own logos and themes."),
    Operation("contract L4", "POST /api/css/verdict", css.JudgeCss, css.CssService.judge, Verdict,
              "Judge CSS that is not saved",
              "Returns the verdict on this CSS of a logo or theme. Nothing is stored. Two texts are judged at a time, "
              "and others wait; a text that takes over 2 seconds of processor time is `invalid`, with a `reason`. "
              "Requires `logos:write`, `themes:write` or `proposals:write`."),
    Operation("contract S3", "POST /api/css/user-style", css.ReadUserStyle, css.CssService.user_style, UserStyle,
              "Read a user style",
              "Returns the fields from its `==UserStyle==` comment and its `@-moz-document` rules, and the CSS without "
              "that comment. Nothing is stored. Requires `logos:write`, `themes:write` or `proposals:write`."),
    Operation("contract L5", "POST /api/css/inline", css.InlineCss, css.CssService.inline, InlinedCss,
              "Copy imported style sheets into CSS",
              "Replaces each `@import` by its style sheet and everything that this imports, in its layer and "
              "conditions, with absolute URLs. CSS without imports gets its earlier copies fetched again. Nothing is "
              "stored. May take 20 seconds. Requires `logos:write`, `themes:write` or `proposals:write`.", also=(409,)),
    Operation("contract S1", "POST /api/text/render", RenderText, TextService.render, RenderedText,
              "Render a text that is not saved",
              "Returns the CommonMark `text` of a logo or theme as HTML. HTML and pictures in it are shown as text, "
              "links are `http`, `https` or `mailto`, and headings begin at the third level. Requires `logos:write`, "
              "`themes:write` or `proposals:write`."),
    Operation("contract L4", "GET /api/themes/{theme_id}/css", css.GetThemeCss, ThemeService.css, Verdict,
              "Judge a theme's CSS", _VERDICT),
    Operation("contract L4", "GET /api/logos/{logo_id}/css", css.GetLogoCss, LogoService.css, Verdict,
              "Judge a logo's CSS", _VERDICT),
)
# fmt: on
