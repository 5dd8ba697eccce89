"""What the interface makes of answers with secrets: a picture and an address (contract O1, R5)."""

import io
from dataclasses import dataclass, field
from typing import Annotated

from logoadmin.domain.identity import records
from logoadmin.domain.kernel.limits import described
from logoadmin.domain.public_url import PublicUrl


@dataclass(frozen=True, slots=True)
class NewTotp(records.NewTotp):
    """A secret for an authenticator app, which is shown only this once. It is a factor once it is confirmed."""

    qr_svg: Annotated[str, described("The URI as a QR code, in SVG.", "<svg>...</svg>")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that signs a user in once (contract R5)."""

    url: Annotated[
        str,
        described(
            "Where to send the member's browser, shown only this once.", "https://gallery.example/console/#link=…"
        ),
    ] = field(repr=False)
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_300)]


def with_qr_code(made: records.NewTotp, _public_url: PublicUrl) -> NewTotp:
    """Return a new secret with its QR code."""
    return NewTotp(made.factor_id, made.secret, made.uri, qr_svg(made.uri))


def with_address(made: records.SignInLink, public_url: PublicUrl) -> SignInLink:
    """Return a new link as the address of the console, in the part of it that browsers send to nobody."""
    return SignInLink(f"{public_url.base}/console/#link={made.link}", made.expires_at)


def qr_svg(text: str) -> str:
    """Return the QR code of a text as an ``<svg>`` element that scales, to be embedded or shown as a picture.

    It is dark on white with a quiet zone, so that cameras can read it on any page, and has no styles, scripts or links.
    """
    import segno  # here, because it takes a while and is rarely needed

    out = io.BytesIO()
    made = segno.make(text, error="m", micro=False, boost_error=False)
    made.save(
        out, "svg", dark="#000", light="#fff", omitsize=True, xmldecl=False, svgclass=None, lineclass=None, nl=False
    )
    return out.getvalue().decode()
