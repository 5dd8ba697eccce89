"""The verdict on CSS: its effects on a page that applies it (contract L4)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.kernel.limits import described
from logoadmin.domain.kernel.records import Version

RiskName = Literal[
    "overlay", "input_styling", "attribute_exfiltration", "animation", "document", "foreign_document", "invalid"
]


@dataclass(frozen=True, slots=True)
class CssRisk:
    """A part of CSS that a reviewer should check, with its position."""

    risk: Annotated[
        RiskName,
        described(
            "The kind of risk; `document` is a `data:` URL whose document names other files, `foreign_document` is "
            "an `@-moz-document` for pages outside the target, `invalid` is CSS whose end or depth browsers have to "
            "guess.",
            "overlay",
        ),
    ]
    line: Annotated[int, Field(ge=1), described("The line, from 1.", 1)]
    column: Annotated[int, Field(ge=1), described("The column in code points, from 1.", 12)]


@dataclass(frozen=True, slots=True)
class CssImport:
    """A style sheet that CSS imports, in the form of the published index (contract L2, L4)."""

    url: Annotated[
        str, described("The URL of the `@import`, as written but unescaped.", "https://i.example/aurora.css")
    ]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The hosts that CSS contacts, and its risks, judged from its text alone (contract L4).

    As in records, ``version`` is neither serialized nor compared. It is the version of the artwork with the CSS.
    """

    form: Annotated[
        CssForm, described("The grammar: a list of declarations for a logo, a style sheet for a theme.", "sheet")
    ]
    hosts: Annotated[
        tuple[str, ...],
        described(
            "Every host that a browser would contact, in lower case, with its port unless it is the default; sorted.",
            ["fonts.example", "i.example:8080"],
        ),
    ]
    imports: Annotated[
        tuple[CssImport, ...],
        described("The imported style sheets, in order.", [{"url": "https://i.example/aurora.css"}]),
    ]
    size: Annotated[int, Field(ge=0), described("The size in bytes of UTF-8.", 512)]
    risks: Annotated[
        tuple[CssRisk, ...],
        described(
            "The risks by position; a risk in an imported `data:` URL is at its `@import`. At most 20 of each kind.",
            [{"risk": "overlay", "line": 1, "column": 12}],
        ),
    ]
    reason: Annotated[
        str,
        described(
            "Why the text was judged only in part or not at all, with `invalid` among the risks; empty otherwise.",
            "It has more than 20,000 blocks or 100,000 functions",
        ),
    ] = ""
    documents: Annotated[
        tuple[str, ...],
        described("The conditions of its own `@-moz-document` rules, in order.", ['domain("forum.example")']),
    ] = ()
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)

    @property
    def risk_names(self) -> tuple[RiskName, ...]:
        """The kinds of its risks, in order."""
        return tuple(dict.fromkeys(each.risk for each in self.risks))

    @property
    def import_urls(self) -> tuple[str, ...]:
        """The URL of each import, in order."""
        return tuple(each.url for each in self.imports)

    def published(self) -> dict[str, Any]:
        """Return the form used in the index, which omits ``size`` and ``reason``."""
        return {
            "form": self.form,
            "hosts": self.hosts,
            "imports": [asdict(each) for each in self.imports],
            "risks": [asdict(each) for each in self.risks],
            "documents": self.documents,
        }


def verdict_in(published: Mapping[str, Any], size: int) -> Verdict:
    """Return the verdict from the result of :meth:`Verdict.published`, in which empty members may be missing."""
    return Verdict(
        published["form"],
        tuple(published.get("hosts", ())),
        tuple(CssImport(**each) for each in published.get("imports", ())),
        size,
        tuple(CssRisk(**each) for each in published.get("risks", ())),
        documents=tuple(published.get("documents", ())),
    )
