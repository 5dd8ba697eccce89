"""Firefox for the tests, driven by its Marionette protocol, since Playwright needs a special build."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from tests.options import skip_without

ENTER: Final = "\ue007"
CONTROL: Final = "\ue009"
# The key of an element's id in a response (WebDriver).
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
_SECONDS: Final = 120
_PREFERENCES: Final = {
    "marionette.port": 0,  # any free port, written into the profile
    "network.proxy.type": 1,
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-GB",
}


class MarionetteError(Exception):
    """An error response of Marionette; the first argument is its name."""


class Firefox:
    """A window of Firefox."""

    def __init__(self, connection: socket.socket) -> None:
        """Start a session; nothing is loaded yet."""
        self._connection = connection
        self._stream = connection.makefile("rb")
        self._count = 0
        self._message()
        # A prompt stays open, so that a test can see it.
        wanted = {"unhandledPromptBehavior": "ignore", "acceptInsecureCerts": True}
        self.send("WebDriver:NewSession", {"capabilities": {"alwaysMatch": wanted}})

    def _message(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox closed the connection"
            length += byte
        return json.loads(self._stream.read(int(length)))

    def send(self, command: str, parameters: dict[str, Any] | None = None) -> Any:
        """Send a command and return its result.

        Raises:
            MarionetteError: Firefox rejected it.
        """
        self._count += 1
        body = json.dumps([0, self._count, command, parameters or {}]).encode()
        self._connection.sendall(b"%d:%b" % (len(body), body))
        _, _, error, result = self._message()
        if error:
            raise MarionetteError(error["error"], error["message"])
        return result

    def open(self, url: str) -> None:
        self.send("WebDriver:Navigate", {"url": url})

    def run(self, script: str) -> Any:
        return self.send("WebDriver:ExecuteScript", {"script": f"return {script}", "args": []})["value"]

    def becomes(self, script: str) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + _SECONDS
        while not self.run(script):
            assert time.monotonic() < end, f"{script}: {self.run('document.body.innerText')}"
            time.sleep(0.05)

    def find(self, selector: str) -> str:
        """Wait for an element that matches a CSS selector, and return the id of the first one."""
        self.becomes(f"document.querySelector({json.dumps(selector)}) !== null")
        found = self.send("WebDriver:FindElement", {"using": "css selector", "value": selector})
        identity: str = found["value"][_ELEMENT]
        return identity

    def click(self, selector: str) -> None:
        self.send("WebDriver:ElementClick", {"id": self.find(selector)})

    def type(self, selector: str, text: str) -> None:
        element = self.find(selector)
        self.send("WebDriver:ElementClear", {"id": element})
        self.send("WebDriver:ElementSendKeys", {"id": element, "text": text})

    @contextmanager
    def frame(self, selector: str) -> Iterator[None]:
        self.send("WebDriver:SwitchToFrame", {"element": self.find(selector)})
        yield
        self.send("WebDriver:SwitchToFrame", {"id": None})

    def prompt(self) -> str | None:
        """Return the text of a browser dialog over the page, such as a password prompt, or None."""
        try:
            text: str = self.send("WebDriver:GetAlertText")["value"]
        except MarionetteError as error:
            if error.args[0] != "no such alert":
                raise
            return None
        return text


@contextmanager
def started(proxy: str, preferences: Mapping[str, object]) -> Iterator[Firefox]:
    """Start the browser with some preferences, and with a proxy for all hosts but loopback.

    Skip the test if Firefox is not installed, or fail it if it is required.
    """
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        skip_without("FIREFOX", "firefox is not installed")
    host = urlsplit(proxy)
    values = {"": host.hostname, "_port": host.port}
    proxies = {f"network.proxy.{kind}{part}": value for kind in ("http", "ssl") for part, value in values.items()}
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        all_of_them = {**_PREFERENCES, **proxies, **preferences}.items()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in all_of_them]
        (profile / "user.js").write_text("\n".join(lines))
        arguments = [found, "-headless", "-marionette", "-no-remote", "-profile", folder]
        environment = {"HOME": folder, "PATH": "/usr/bin:/bin", "MOZ_CRASHREPORTER_DISABLE": "1"}
        silent = subprocess.DEVNULL
        with subprocess.Popen(arguments, env=environment, stdout=silent, stderr=silent) as process:
            try:
                with socket.create_connection(("127.0.0.1", _port(profile)), _SECONDS) as connection:
                    yield Firefox(connection)
            finally:
                process.terminate()


def _port(profile: Path) -> int:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        with suppress(OSError, ValueError):
            return int((profile / "MarionetteActivePort").read_text())
        time.sleep(0.05)
    raise AssertionError("Firefox does not start")
