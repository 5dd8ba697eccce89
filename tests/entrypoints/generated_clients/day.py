"""A day's work with a client in Python that openapi-python-client generated: ``python day.py ADDRESS PASSWORD``."""

import sys
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from gallery_client import AuthenticatedClient, Client
from gallery_client.api.authors import amend_author, create_author, list_authors
from gallery_client.api.export import export_records
from gallery_client.api.import_ import import_records
from gallery_client.api.logos import get_logo
from gallery_client.api.pictures import send_picture
from gallery_client.api.proposals import apply_proposal, propose_changes
from gallery_client.api.sessions import sign_in
from gallery_client.models import (
    AmendAuthorBody,
    Author,
    BulkChange,
    BulkChangeCreateType0,
    BulkChangeKind,
    CreateAuthorBody,
    ImportRecordsResponse200,
    Logo,
    Proposal,
    ProposeChangesBody,
    SentPicture,
    SignIn,
    Tokens,
)
from gallery_client.types import File

T = TypeVar("T")


def of_type(expected: type[T], found: object) -> T:
    assert isinstance(found, expected), found
    return found


def day(address: str, password: str) -> None:
    tokens = of_type(Tokens, sign_in.sync(client=Client(address), body=SignIn(username="admin", password=password)))
    client = AuthenticatedClient(address, tokens.access_token)

    created = create_author.sync_detailed(client=client, body=CreateAuthorBody(user_id=2042, username="Bea"))
    author = of_type(Author, created.parsed)
    etag = created.headers["etag"]
    new_name = AmendAuthorBody(username="Beatrice")
    amended = amend_author.sync_detailed(author.author_id, client=client, body=new_name, if_match=etag)
    assert of_type(Author, amended.parsed).username == "Beatrice"
    outdated = amend_author.sync_detailed(author.author_id, client=client, body=new_name, if_match=etag)
    assert outdated.status_code == 412
    assert [each.username for each in of_type(list, list_authors.sync(client=client, q="beatrice"))] == ["Beatrice"]

    file = File(payload=BytesIO(Path("picture.png").read_bytes()))
    picture = of_type(SentPicture, send_picture.sync(client=client, body=file))

    look = {"name": "Dusk", "target": "forum", "custom_css": "a { color: red }", "preview_url": picture.url}
    values = BulkChangeCreateType0.from_dict({**look, "author_ids": [author.author_id]})
    changes = [BulkChange(kind=BulkChangeKind.LOGO, create=values)]
    proposed = propose_changes.sync_detailed(client=client, body=ProposeChangesBody(title="Dusk", changes=changes))
    proposal = of_type(Proposal, proposed.parsed)
    etag = proposed.headers["etag"]
    applied = of_type(Proposal, apply_proposal.sync(proposal.proposal_id, client=client, if_match=etag))
    (artwork,) = applied.artworks
    logo = of_type(Logo, get_logo.sync(artwork.id, client=client))
    assert (logo.name, [each.username for each in logo.authors]) == ("Dusk", ["Beatrice"])

    lines = of_type(str, export_records.sync(client=client))
    imported = import_records.sync(client=client, body=File(payload=BytesIO(lines.encode())))
    counts = of_type(ImportRecordsResponse200, imported)
    assert (counts["logo"].created, counts["logo"].amended, counts["logo"].unchanged) == (0, 0, lines.count('"logo"'))


if __name__ == "__main__":
    day(*sys.argv[1:])
