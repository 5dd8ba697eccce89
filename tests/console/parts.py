"""A page of the console in which one part is shown, under the console's policy."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, Route

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from tests.answering import Answer, Answering, answering
from tests.gallery import FrozenClock, gallery_on
from tests.services import in_thread

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a34f36d0000000049454e44ae426082"
)

# Runs before a part is shown: modules by name, and a root element.
BEGINNING = """
const files = document.querySelector('script[src$="/app.js"]').src.replace(/app\\.js$/, "");
const load = (name) => import(files + name);
const { h, render, signal } = await load("vendor/preact.js");
document.querySelector("#app, #part").remove();
const root = Object.assign(document.createElement("main"), { id: "part" });
document.body.append(root);
"""


class Shown:
    """A page with a part in it."""

    def __init__(self, page: Page, place: str) -> None:
        """Watch a page before anything is loaded.

        Attributes:
            place: the address of the service.
            complaints: errors and warnings of the page and its frames.
            paths: what the service was asked for.
            elsewhere: what others were asked for.
        """
        self.page = page
        self.complaints: list[str] = []
        self.paths: list[str] = []
        self.elsewhere: list[str] = []
        self.place = place
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.context.route("**/*", self._asked)
        page.add_init_script("""globalThis.violated = []; addEventListener("securitypolicyviolation", (event) =>
            violated.push(`${event.violatedDirective}: ${event.blockedURI}`))""")
        page.goto(f"{place}/console/")
        page.locator("input[name=username], input").first.wait_for()

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")

    def _asked(self, route: Route) -> None:
        url = route.request.url
        if url.startswith(f"{self.place}/"):
            self.paths.append(url.removeprefix(self.place))
        else:
            self.elsewhere.append(url)
        route.continue_()

    def violations(self) -> list[str]:
        """Return the violations of the page's own policy so far; those in frames are not among them."""
        found: list[str] = self.page.evaluate("violated")
        return found

    def show(self, source: str, given: Any = None) -> Any:
        """Run JavaScript that renders a part into ``root``, with ``h``, ``render``, ``signal`` and ``load``."""
        return self.page.evaluate(f"async (given) => {{ {BEGINNING} {source} }}", given)


@contextmanager
def shown(chromium: Browser, *picture_hosts: str, **context: Any) -> Iterator[Shown]:
    """Open the console's page of an empty gallery, signed out."""
    gallery = gallery_on(MemoryStorage(), FrozenClock())
    app = logoadmin.asgi(gallery, picture_hosts=picture_hosts)
    with in_thread(app) as address, chromium.new_context(**context) as opened:
        yield Shown(opened.new_page(), address)
        opened.unroute_all(behavior="ignoreErrors")


SHEET = b"body { letter-spacing: 3px } @keyframes k { to { opacity: 0 } }"


def counting() -> AbstractContextManager[Answering]:
    """A server that responds with a picture or a sheet."""
    return answering(lambda asked: Answer(SHEET) if asked.path.endswith(".css") else Answer(PNG, "image/png"))
