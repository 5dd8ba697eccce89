"""Publishing the gallery, and its keys (contract L1, L7)."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.model.errors import StartError
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from logoadmin.domain.model.publication import LeftOut, Publication

# The exit code where nothing but latest.json was renewed.
_UNCHANGED: Final = 3
# Imports that take longer are fetched the next time.
_PINNING_SECONDS: Final = 600
_CURE: Final = "upload all files again, latest.json last; a cache may hold the former one for a minute"


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--verify", "url", metavar="URL", help="Then read the copy at URL as readers do, which must be this one.")
@database_option
def publish(directory: Path, url: str | None, database: str | None) -> None:
    """Write the gallery into DIRECTORY as signed files for any web server.

    DIRECTORY is empty or an earlier publication; its content is valid at any moment, even after a kill. Imported style
    sheets without a pinned copy are fetched first. Run this after changes, and at least every few days: readers accept
    the files for gallery_days.

    The exit code is 0 if the gallery changed, 3 if only latest.json was renewed, and 1 for a failure.
    """
    from logoadmin.bootstrap import folder

    with gallery_at(database, "never") as gallery:
        gallery.pins.pin_missing(_PINNING_SECONDS)
        publication, changed = gallery.publication.publish(folder(directory))
        keys = gallery.publication.public_keys()
    _show_left_out(publication.left_out)
    what = "Published" if changed else "Nothing changed: renewed latest.json of"
    click.echo(f"{what} version {publication.version} in {directory}")
    if url is not None:
        _verify(url, keys, publication)
        click.echo(f"The copy at {url} is complete")
    if not changed:
        sys.exit(_UNCHANGED)


def _verify(url: str, keys: "Sequence[Mapping[str, str]]", publication: "Publication") -> None:
    """Read a copy with everything that it leads to.

    Raises:
        StartError: a reader would not accept it, or it is another version.
    """
    from logoadmin import reader
    from logoadmin.domain.publication.pointer import parsed

    of = ""
    try:
        copy = reader.open(url, key=keys)
        for kind, records in (("logo", copy.logos()), ("theme", copy.themes())):
            for record in records:
                of = f" of {kind} {record[f'{kind}_id']}"
                copy.css(kind, record[f"{kind}_id"])
    except reader.ReaderError as error:
        raise StartError(f"Readers do not accept the copy{of} at {url}: {error}", _CURE) from None
    published = parsed(publication.pointer)
    if copy.latest["version"] != published.version:
        text = f"The copy at {url} has version {copy.latest['version']}, and version {published.version} was published"
        raise StartError(text, _CURE)
    if copy.latest["index"] != published.index:
        raise StartError(f"The copy at {url} has another index of version {published.version}", _CURE)


def _show_left_out(left_out: "Iterable[LeftOut]") -> None:
    for record in left_out:
        text = f"Left out: {record.kind} {record.id} ({record.name}): {record.reason}"
        click.echo(on_one_line(text), err=True)


@click.group("gallery-key")
def gallery_key() -> None:
    """Manage the keys that sign the published gallery."""


@gallery_key.command()
@database_option
def show(database: str | None) -> None:
    """Print the public keys as JWKs, one a line, the current one first. The first time, a key is generated."""
    with gallery_at(database, "never") as gallery:
        _show_keys(gallery.publication.public_keys())


@gallery_key.command()
@database_option
def rotate(database: str | None) -> None:
    """Generate a new key. The old one signs as well, until every valid publication names the new one."""
    with gallery_at(database, "never") as gallery:
        _show_keys(gallery.publication.rotate_key())
    click.echo("Publish the gallery now, so that readers learn the new key.", err=True)


def _show_keys(keys: "Iterable[Mapping[str, str]]") -> None:
    for key in keys:
        click.echo(json.dumps(key))
