"""Nothing in the text of an artwork runs or loads in Chromium (contract S1)."""

import pytest
from playwright.sync_api import Browser

from logoadmin.adapters.commonmark_text import CommonmarkText
from tests.adapters.test_commonmark_text import REFUSED

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract S1")]


def test_nothing_runs_or_loads(chromium: Browser) -> None:
    forms = ("[a]({})", "[a](<{}>)", "<{}>", "![a]({})", '<a href="{}">b</a>', '<iframe src="{}"></iframe>')
    text = "\n\n".join(form.format(url) for url in (*REFUSED, "https://a.example/x") for form in forms)
    text += '\n\n<img src=x onerror="ran = 1"><svg onload="ran = 1"><script>ran = 1</script>\n\n</p><style>*{}</style>'
    asked: list[str] = []
    with chromium.new_context() as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.set_content(f"<main>{CommonmarkText().html(text)}</main>")
        page.locator("a").evaluate_all("links => links.forEach((link) => link.dispatchEvent(new Event('mouseover')))")
        protocols = page.locator("a").evaluate_all("links => [...new Set(links.map((link) => link.protocol))]")
        assert protocols == ["https:"]
        assert page.evaluate("globalThis.ran") is None
        assert page.locator("main :is(script, style, img, svg, iframe, [onload], [onerror])").count() == 0
        assert asked == []
