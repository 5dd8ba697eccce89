"""The endpoints about CSS, pinned imports and the published gallery (contract L)."""

from typing import Final

from logoadmin.domain.artwork_services import LogoService, ThemeService
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication.css import unsaved_css as css
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.pins import artwork_css, pins
from logoadmin.domain.publication.pins.pinned_imports import PinnedCopies, PinnedImport
from logoadmin.domain.publication.publication_records import PublicationStatus
from logoadmin.entrypoints.http_api.operation import Operation

_VERDICT: Final = (
    "Every host that a browser contacts if the CSS is applied, its imports, and its risks by line and column, judged "
    "from the text alone. CSS that cannot be parsed has the risk `invalid`."
)
_PINS: Final = (
    "Readers get copies of the style sheets that the CSS imports. In the order of the CSS; `sha256` is `null` until an "
    "import is pinned, and `difference` shows what the origin has by now."
)
_COPIES: Final = (
    "As readers get it, and as they would get it if every offer were accepted: the CSS with the sheets in "
    "place of their imports, and the verdict on each."
)
_CHECK: Final = (
    "Fetches the imports with all that they import, pins those without a copy, and stores what the others offer. What "
    "is pinned stays pinned. May take 20 seconds. 409 if the service does not fetch imports."
)
_ACCEPT: Final = (
    "Pins what the origins offered when they were last asked: all of it, or the sheets that are named. 409 if nothing "
    "or something else is offered. In the history, the action is `pins_accepted`; it can be undone."
)


# fmt: off
PUBLICATION_OPERATIONS: Final = (
    Operation("contract L5", "GET /api/publication", publication.ShowPublication, publication.PublicationService.status,
              PublicationStatus, "Show the status of the published gallery",
              "The active logos and themes that readers of the published gallery do not get, with the reasons; the "
              "imports that have changed at their origin; and the blocked records. Requires `logos:write` or "
              "`themes:write`; with `proposals:write` alone, it has the blocks of your own logos and themes."),
    Operation("contract L4", "POST /api/css/verdict", css.JudgeCss, css.CssService.judge, Verdict,
              "Judge CSS that is not saved",
              "As for a logo or a theme with this CSS, but without pinned imports. Nothing is stored. Two texts are "
              "judged at a time, others wait; what takes more than 2 seconds of processor time is `invalid`, with the "
              "`reason`. Requires `logos:write`, `themes:write` or `proposals:write`."),
    Operation("contract L5", "GET /api/themes/{theme_id}/pins", pins.GetThemePins, pins.PinService.list,
              tuple[PinnedImport, ...], "List a theme's imports", _PINS),
    Operation("contract L5", "GET /api/themes/{theme_id}/pins/copies", pins.GetThemeCopies, pins.PinService.copies,
              PinnedCopies, "Show a theme's CSS with its pinned and its offered imports", _COPIES),
    Operation("contract L5", "POST /api/themes/{theme_id}/pins/check", pins.CheckThemePins, pins.PinService.check,
              tuple[PinnedImport, ...], "Compare a theme's imports with their origins", _CHECK, also=(409,)),
    Operation("contract L5", "POST /api/themes/{theme_id}/pins/accept", pins.AcceptThemePins, pins.PinService.accept,
              tuple[PinnedImport, ...], "Accept what the origins of a theme's imports offer", _ACCEPT, also=(409,)),
    Operation("contract L4", "GET /api/themes/{theme_id}/css", artwork_css.GetThemeCss, ThemeService.css, Verdict,
              "Judge a theme's CSS", _VERDICT),
    Operation("contract L5", "GET /api/logos/{logo_id}/pins", pins.GetLogoPins, pins.PinService.list,
              tuple[PinnedImport, ...], "List a logo's imports", _PINS),
    Operation("contract L5", "GET /api/logos/{logo_id}/pins/copies", pins.GetLogoCopies, pins.PinService.copies,
              PinnedCopies, "Show a logo's CSS with its pinned and its offered imports", _COPIES),
    Operation("contract L5", "POST /api/logos/{logo_id}/pins/check", pins.CheckLogoPins, pins.PinService.check,
              tuple[PinnedImport, ...], "Compare a logo's imports with their origins", _CHECK, also=(409,)),
    Operation("contract L5", "POST /api/logos/{logo_id}/pins/accept", pins.AcceptLogoPins, pins.PinService.accept,
              tuple[PinnedImport, ...], "Accept what the origins of a logo's imports offer", _ACCEPT, also=(409,)),
    Operation("contract L4", "GET /api/logos/{logo_id}/css", artwork_css.GetLogoCss, LogoService.css, Verdict,
              "Judge a logo's CSS", _VERDICT),
)
# fmt: on
