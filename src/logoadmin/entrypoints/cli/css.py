"""The command that copies imported style sheets into CSS (contract L5)."""

import sys
from typing import TYPE_CHECKING

import click

from logoadmin.entrypoints.cli.gallery import database_option, gallery_at, owner, show_request
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.publication.publication_records import LeftOut


@click.group()
def css() -> None:
    """Change the CSS of logos and themes."""


@css.command()
@click.option("--dry-run", is_flag=True, help="Fetch the style sheets and print the result, but change nothing.")
@database_option
def inline(database: str | None, *, dry_run: bool) -> None:
    """Copy the style sheets that logos and themes import into their CSS.

    All records change in one request, which can be undone. Imports that cannot be copied are printed with the reason;
    their records stay as they are, and the exit code is then 1.
    """
    from logoadmin.domain.publication.css.css_service import ArtworkImports, UseCopies

    with gallery_at(database, "never") as gallery:
        imports = ArtworkImports(gallery.css)
        found = []
        for each in imports.copies():
            found.append(each)
            for failed in each.failed:
                text = f"Not copied: {each.kind} {each.id} ({each.name}): {failed.url}: {failed.reason}"
                click.echo(on_one_line(text), err=True)
            if dry_run and each.copy:
                click.echo(on_one_line(f"{each.kind} {each.id} ({each.name}): {', '.join(each.urls)}"))
        caller, failures = owner(), sum(not each.copy for each in found)
        changed = 0 if dry_run else imports.use(UseCopies(artworks=tuple(found)), caller)
    if not dry_run:
        click.echo(f"{changed} changed, {failures} not copied")
    if changed:
        show_request(caller)
    if failures:
        sys.exit(1)


def explained(record: "LeftOut") -> str:
    """Return why a record is not published, with the command that helps."""
    return f"{record.reason}, for example with logoadmin css inline" if record.code == "import" else record.reason
