"""Publishing the gallery, and its keys (contract L1, L7)."""

import json
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.kernel.errors import LogoAdminError, SettingsError, StartError
from logoadmin.entrypoints.cli.copies import explained
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at, show_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.domain.publication.publication_records import LeftOut, Links, Published

# The exit code if no file was written.
_UNCHANGED: Final = 3
# Seconds between checks of --watch for a signal.
_SIGNALS_EVERY: Final = 0.1
# Seconds after which --watch records again that the folder is up to date.
_RECORD_EVERY: Final = 600
_DOWNLOADS: Final = 8  # at a time
_CURE: Final = "upload all files again, latest.json last; a cache may hold former ones for five minutes"


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--verify", "url", metavar="URL", help="Afterwards, read the copy at URL as readers do, and compare it.")
@click.option("--url", "address", metavar="URL", help="Where DIRECTORY is served, for updates of user styles.")
@click.option("--watch", is_flag=True, help="Keep running, and publish each change within two seconds.")
@database_option
def publish(directory: Path, url: str | None, address: str | None, watch: bool, database: str | None) -> None:
    """Write the gallery into DIRECTORY as signed files.

    Any web server can serve them. DIRECTORY is empty or an earlier publication; its content is valid at any moment,
    even after a kill. Blocks are written first, then everything else. Run this after changes, and at least every few
    days: readers accept the files for gallery_days.

    The exit code is 0 if a file was written, 3 if nothing has changed, and 1 for a failure.
    """
    if watch and url is not None:
        raise click.UsageError("--verify reads one publication; it cannot be combined with --watch")
    try:
        with gallery_at(database, "never") as gallery:
            links = _links(gallery, address, url)
            published = (_watch if watch else _publish)(gallery, directory, links)
            keys = gallery.publication.public_keys()
    except SettingsError as error:  # such as a gallery_key_file that is missing
        raise StartError(str(error)) from None
    if url is not None:
        _verify(url, keys, published)
        _verify_unsigned(url, directory)
        click.echo(f"The copy at {url} is complete")
    if not published.changed:
        sys.exit(_UNCHANGED)


def _links(gallery: "LogoAdmin", address: str | None, copy: str | None) -> "Links":
    """Return the links for a folder that is served at an address, or whose copy the service itself serves."""
    from logoadmin.domain.public_url import public_url

    rules = gallery.publication.rules
    if address is None:
        is_own = copy is not None and f"{copy.rstrip('/')}/" == rules.links.gallery
        return rules.links if is_own else rules.links_elsewhere
    try:
        return replace(rules.links_elsewhere, gallery=f"{public_url(address).base}/", is_public=True)
    except ValueError as error:
        raise click.UsageError(f"--url {error}") from None


def _publish(gallery: "LogoAdmin", directory: Path, links: "Links") -> "Published":
    from logoadmin.starting import folder

    published = gallery.publication.publish(folder(directory), links=links)
    _show(published, directory)
    _record(gallery)
    return published


def _record(gallery: "LogoAdmin") -> None:
    """Record the time for metrics; a database that rejects writes does not prevent publishing."""
    with suppress(LogoAdminError):
        gallery.record_milestone("published")


def _watch(gallery: "LogoAdmin", directory: Path, links: "Links") -> "Published":
    """Publish each change until a signal; failures are reported once, and retried."""
    from logoadmin.entrypoints.publisher import Publisher
    from logoadmin.starting import folder

    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    watched = _Watched(gallery, directory, _publish(gallery, directory, links))
    publisher = Publisher(gallery, folder(directory), published=watched.published, failed=watched.failed, links=links)
    publisher.start()
    # Not an event: a handler could run while its lock is held.
    while not stopping and watched.fault is None:
        time.sleep(_SIGNALS_EVERY)
    publisher.close()
    if watched.fault is not None:
        raise watched.fault
    return watched.last


class _Watched:
    """Prints and records publications for --watch; has the last one that changed a file, and an unexpected error."""

    def __init__(self, gallery: "LogoAdmin", directory: Path, first: "Published") -> None:
        self._gallery, self._directory = gallery, directory
        self.last = first
        self.fault: Exception | None = None
        self._failure = ""
        self._recorded_at = time.monotonic()

    def published(self, found: "Published") -> None:
        self._failure = ""
        if time.monotonic() - self._recorded_at > _RECORD_EVERY:
            _record(self._gallery)
            self._recorded_at = time.monotonic()
        if found.changed:
            _show(found, self._directory, {*self.last.left_out})
            self.last = found

    def failed(self, error: Exception) -> None:
        if not isinstance(error, LogoAdminError | OSError):
            self.fault = error
        elif str(error) != self._failure:
            show_line(f"logoadmin: {error}; trying again", err=True)
            self._failure = str(error)


def _show(published: "Published", directory: Path, shown: "Collection[LeftOut]" = ()) -> None:
    """Print the result of a publication; an artwork that was left out is named once."""
    for record in (each for each in published.left_out if each not in shown):
        show_line(f"Left out: {record.kind} {record.id} ({record.name}): {explained(record)}", err=True)
    what = "Published version" if published.changed else "Nothing has changed since version"
    click.echo(f"{what} {published.version} in {directory}")


def _verify(url: str, keys: "Sequence[Mapping[str, str]]", publication: "Published") -> None:
    """Read a copy and all files that it refers to, as readers do, and require this version."""
    from logoadmin import reader
    from logoadmin.domain.publication.files.pointer import parsed

    try:
        copy = reader.open(url, key=keys)
        copy.verify()
    except reader.ReaderError as error:
        raise StartError(f"Readers do not accept the copy at {url}: {error}", _CURE) from None
    published = parsed(publication.pointer)
    if copy.latest["version"] != published.version:
        text = f"The copy at {url} has version {copy.latest['version']}, and version {published.version} was published"
        raise StartError(text, _CURE)
    if copy.latest["index"] != published.index:
        raise StartError(f"The copy at {url} has another index of version {published.version}", _CURE)


def _verify_unsigned(url: str, directory: Path) -> None:
    """Compare the files that the pointer does not name, such as the page and the user styles."""
    from concurrent.futures import ThreadPoolExecutor

    from logoadmin import reader
    from logoadmin.domain.publication.files.file_names import CHANGING_NAME
    from logoadmin.reader.download import download
    from logoadmin.starting import folder

    files = folder(directory)

    def compare(name: str) -> None:
        content = files.read(name) or b""
        try:
            copy = download(f"{url.rstrip('/')}/", name, most=len(content), headers={"cache-control": "no-cache"}).body
        except reader.ReaderError as error:
            raise StartError(f"The copy at {url} differs: {error}", _CURE) from None
        if copy != content:
            raise StartError(f"The copy at {url} has another file {name}", _CURE)

    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        for _ in pool.map(compare, sorted(filter(CHANGING_NAME.fullmatch, files.names()))):
            pass


@click.group("gallery-key")
def gallery_key() -> None:
    """Manage the keys that sign the published gallery."""


@gallery_key.command()
@database_option
def show(database: str | None) -> None:
    """Print the public keys as JWKs, one per line, the current one first. Generates the first key."""
    with gallery_at(database, "never") as gallery:
        _show_keys(gallery.publication.public_keys())


@gallery_key.command()
@database_option
def rotate(database: str | None) -> None:
    """Generate a new key. The old one also signs until every valid publication names the new one."""
    with gallery_at(database, "never") as gallery:
        _show_keys(gallery.publication.rotate_key())
    click.echo("Publish the gallery now, so that readers learn the new key.", err=True)


def _show_keys(keys: "Iterable[Mapping[str, str]]") -> None:
    for key in keys:
        click.echo(json.dumps(key))
