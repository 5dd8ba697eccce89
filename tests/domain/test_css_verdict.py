"""The verdict on CSS: its hosts and imports (contract L4)."""

import pytest

from logoadmin.domain.css import judge
from logoadmin.domain.model.css import Form

pytestmark = pytest.mark.rule("contract L4")

A, B = "a.example", "b.example:8080"

HOSTS = {
    "background: url(https://a.example/x.png) center": [A],
    "background: url( 'https://a.example' ), url(//b.example:8080/)": [A, B],
    "a{b:\\75 RL(  https://a.example/\\29 )}": [A],
    "@import 'https://a.example/x.css';": [A],
    "--x: 'https://a.example'; b: image-set(var(--x))": [A],
    # These contact nobody.
    "content: 'https://no.example'; font-family: url": [],
    "a[href^='https://no.example']{}": [],
    "/* url(https://no.example) */": [],
    "@namespace svg url(https://no.example);": [],
}


@pytest.mark.parametrize("css", HOSTS)
def test_every_host_that_a_browser_would_contact_is_listed_once(css: str) -> None:
    form: Form = "sheet" if css[0] == "@" or "{" in css else "declarations"
    assert list(judge(css, form).hosts) == HOSTS[css]
