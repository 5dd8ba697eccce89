"""The verdict on CSS that is not saved (contract L4)."""

from typing import Any

import pytest

from logoadmin import InvalidInput, JudgeCss, LogoAdmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.publication.css import TOO_LONG, judge
from logoadmin.domain.publication.css.css_service import MAX_SECONDS
from logoadmin.domain.publication.css.judging import TOO_DEEP, TOO_MANY
from logoadmin.domain.publication.css.verdict import CssRisk, Verdict
from tests.gallery import FrozenClock, gallery_on

pytestmark = pytest.mark.rule("contract L4")

CSS = "a{background:url(//i.example)}@import 'https://s.example/x.css';"


@pytest.mark.parametrize(
    ("command", "form"),
    [(JudgeCss(kind="logo", custom_css=CSS), "declarations"), (JudgeCss(kind="theme", custom_css=CSS), "sheet")],
)
def test_it_is_that_of_a_record_with_this_css(gallery: LogoAdmin, command: JudgeCss, form: CssForm) -> None:
    verdict = gallery.css.judge(command)
    assert verdict == judge(CSS, form)
    assert verdict.hosts == ("i.example", "s.example")
    assert verdict.reason == ""


class RunningClock(FrozenClock):
    """Each look at it takes a while."""

    def worked(self) -> float:
        self.looked = getattr(self, "looked", 0.0) + MAX_SECONDS / 3
        return self.looked


def test_what_takes_too_long_is_invalid_with_the_reason_and_may_be_asked_again() -> None:
    css = "p{background:url(//slow.example)}"
    slow = gallery_on(MemoryStorage(), RunningClock()).css.judge(JudgeCss(kind="theme", custom_css=css))
    assert slow == Verdict("sheet", (), (), len(css), (CssRisk("invalid", 1, 1),), TOO_LONG)
    quick = gallery_on(MemoryStorage(), FrozenClock()).css.judge(JudgeCss(kind="theme", custom_css=css))
    assert quick.hosts == ("slow.example",)


@pytest.mark.parametrize(
    ("css", "reason"), [("{" * 30_000, TOO_MANY), ("a{" * 65 + "}" * 65, TOO_DEEP), ("a{" * 64 + "}" * 64, "")]
)
def test_a_text_that_is_not_judged_in_full_has_a_reason(css: str, reason: str) -> None:
    assert judge(css, "sheet").reason == reason


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "author", "custom_css": ""},
        {"kind": "logo"},
        {"kind": "logo", "custom_css": "a" * (MAX_CUSTOM_CSS + 1)},
    ],
)
def test_other_kinds_and_longer_texts_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        JudgeCss(**values)
