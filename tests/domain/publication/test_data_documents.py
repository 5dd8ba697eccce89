"""Documents in `data:` URLs are a risk if they name anything outside of themselves (contract L4)."""

from typing import cast

import pytest

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css import judge
from tests.domain.publication.data_documents import ADDRESS, HARMLESS, HOST, RISKY, svg, url

pytestmark = pytest.mark.rule("contract L4")


def sheet(document: str, use: str = "mask") -> str:
    """Return CSS that uses a `data:` URL, as a string in which nothing has to be read twice."""
    escaped = "".join(f"\\{ord(each):x} " if each in '"\\\n\t' else each for each in document)
    return f'\n a{{{use}:url("{escaped}")}}'


@pytest.mark.parametrize("document", HARMLESS)
def test_a_document_that_names_nothing_else_is_no_risk(document: str) -> None:
    verdict = judge(sheet(document), "sheet")
    assert (verdict.risks, verdict.hosts) == ((), ())


@pytest.mark.parametrize("document", RISKY)
def test_a_document_that_names_something_or_cannot_be_read_is_a_risk(document: str) -> None:
    for form, css in (("sheet", sheet(document)), ("declarations", sheet(document)[4:-1])):
        verdict = judge(css, cast(CssForm, form))
        assert {each.risk for each in verdict.risks} == {"document"}


@pytest.mark.parametrize("use", ["clip-path", "filter", "mask", "fill", "marker-start", "background", "--x"])
def test_the_hosts_that_a_document_names_count_wherever_it_is_used(use: str) -> None:
    verdict = judge(sheet(url(svg(f"<image href='{ADDRESS}'/>")), use), "sheet")
    assert (verdict.hosts, [(each.risk, each.line) for each in verdict.risks]) == ((HOST,), [("document", 2)])


def test_documents_in_imported_sheets_count_at_the_import() -> None:
    inner = sheet(url(svg("<script/>"))).replace("%", "%25")
    verdict = judge(f"@import 'data:text/css,{inner.strip().replace(chr(34), '%22')}'", "sheet")
    assert [(each.risk, each.line, each.column) for each in verdict.risks] == [("document", 1, 1)]


def test_documents_inside_each_other_are_read_up_to_three() -> None:
    document = url(svg("<rect/>"))
    for levels in (2, 3):
        document = url(svg(f'<image href="{document}"/>'))
        assert judge(sheet(document), "sheet").risks == (), levels
    assert judge(sheet(url(svg(f'<image href="{document}"/>'))), "sheet").risk_names == ("document",)
