"""The endpoints about CSS and the published gallery (contract L)."""

from typing import Final

from logoadmin.domain.artwork_services import LogoService, ThemeService
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication import status
from logoadmin.domain.publication.css import css_service as css
from logoadmin.domain.publication.css.inlining import InlinedCss
from logoadmin.domain.publication.css.user_style_source import UserStyle
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.publication_records import PublicationStatus
from logoadmin.domain.publication.text_service import RenderedText, RenderText, TextService
from logoadmin.entrypoints.http_api.operation import Operation

_VERDICT: Final = (
    "Every host that a browser contacts if the CSS is applied, its imports, and its risks by line and column, judged "
    "from the text alone. CSS that cannot be parsed has the risk `invalid`."
)


# fmt: off
PUBLICATION_OPERATIONS: Final = (
    Operation("contract L5", "GET /api/publication", status.ShowPublication, publication.PublicationService.status,
              PublicationStatus, "Show the status of the published gallery",
              "The active logos and themes that readers of the published gallery do not get, with the reasons; those "
              "with risks; and the blocked ones. Requires `logos:write` or `themes:write`; with `proposals:write` "
              "alone, it has the blocks of your own logos and themes."),
    Operation("contract L4", "POST /api/css/verdict", css.JudgeCss, css.CssService.judge, Verdict,
              "Judge CSS that is not saved",
              "As for a logo or a theme with this CSS. Nothing is stored. Two texts are judged at a time, others "
              "wait; what takes more than 2 seconds of processor time is `invalid`, with the `reason`. Requires "
              "`logos:write`, `themes:write` or `proposals:write`."),
    Operation("contract S3", "POST /api/css/user-style", css.ReadUserStyle, css.CssService.user_style, UserStyle,
              "Read a user style",
              "The fields that its `==UserStyle==` comment and its `@-moz-document` rules fill, and the CSS without "
              "that comment. Nothing is stored. Requires `logos:write`, `themes:write` or `proposals:write`."),
    Operation("contract L5", "POST /api/css/inline", css.InlineCss, css.CssService.inline, InlinedCss,
              "Copy imported style sheets into CSS",
              "Replaces each `@import` by its style sheet and all that this imports, in its layer and conditions, with "
              "absolute URLs; if there is none, fetches the copies in the CSS again. Nothing is stored. May take 20 "
              "seconds. Requires `logos:write`, `themes:write` or `proposals:write`.", also=(409,)),
    Operation("contract S1", "POST /api/text/render", RenderText, TextService.render, RenderedText,
              "Render a text that is not saved",
              "The CommonMark `text` of a logo or a theme as HTML. HTML and pictures in it are shown as text, links "
              "are `http`, `https` or `mailto`, and headings begin at the third level. Requires `logos:write`, "
              "`themes:write` or `proposals:write`."),
    Operation("contract L4", "GET /api/themes/{theme_id}/css", css.GetThemeCss, ThemeService.css, Verdict,
              "Judge a theme's CSS", _VERDICT),
    Operation("contract L4", "GET /api/logos/{logo_id}/css", css.GetLogoCss, LogoService.css, Verdict,
              "Judge a logo's CSS", _VERDICT),
)
# fmt: on
