"""The domain mentions no adapter: no path, header or method of HTTP, no OAuth, no HTML, no installer."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Final

WORDS: Final = re.compile(
    r"/api/|/console/|grant_type|pip install|\b(GET|POST|PUT|PATCH|HEAD)\b|\bDELETE /"
    r"|</?(a|body|br|div|head|html|link|p|script|span|svg|title)\b[^>\n]*>"
    r"|\b(Authorization: |Cache-Control|Content-Security-Policy|Content-Type|ETag|Idempotency-Key"
    r"|If-Match|If-None-Match|Retry-After|Set-Cookie|User-Agent|WWW-Authenticate|X-Change-Note|X-Request-Id)"
)
# Signing in uses the client's ``User-Agent``, and returns to the console.
REMAINING: Final = {
    *(f"identity/{name}.py" for name in ("records", "callers", "sign_in_events", "issuer_sign_in")),
}


def test_the_domain_mentions_no_adapter() -> None:
    domain = Path(str(files("logoadmin"))) / "domain"
    found = {
        path.relative_to(domain).as_posix()
        for path in domain.rglob("*.py")
        if WORDS.search(path.read_text(encoding="utf-8"))
    }
    assert found - REMAINING == set()
