"""QR codes, as SVG."""

import io


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
