"""The dashboard and the alerts in deploy/ are well-formed and use only existing series and labels."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import promql_parser as promql
import pytest
import yaml  # type: ignore[import-untyped]  # its types are another package

from logoadmin.adapters.prometheus_metrics import BUCKETS
from tests.series import Series, all_series

pytestmark = [pytest.mark.rule("contract K2"), pytest.mark.rule("contract K6")]

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
DOCS: Final = ROOT / "docs" / "watch.md"
OF_TARGETS: Final = ("job", "instance")
OF_HISTOGRAMS: Final = ("_bucket", "_sum", "_count")
# Placeholders for times in a dashboard; those for labels are quoted already.
TIMES: Final = {"$__rate_interval": "5m", "$__range": "1h"}
# Functions of the increase of a counter, whose value alone depends on how long the service has been running.
OF_COUNTERS: Final = {"rate", "increase"}
# Prometheus's own series: whether the target could be scraped.
UP: Final = Series("up", "gauge")

Labels = dict[str, tuple[str, ...]]


def known() -> dict[str, tuple[Series, Labels]]:
    """Return the existing series by name, with their labels and values; () for any value."""
    found: dict[str, tuple[Series, Labels]] = {}
    for series in (*all_series(), UP):
        labels: Labels = {**dict(series.labels), **dict.fromkeys(OF_TARGETS, ())}
        parts = OF_HISTOGRAMS if series.type == "histogram" else ("",)
        for part in parts:
            ends: Labels = {"le": (*map(str, BUCKETS), "+Inf")} if part == "_bucket" else {}
            found[series.name + part] = (series, {**labels, **ends})
    return found


KNOWN: Final = known()


@pytest.fixture(scope="module")
def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def targets(dashboard: dict[str, Any]) -> Iterator[dict[str, str]]:
    for panel in dashboard["panels"]:
        yield from panel["targets"]


def parsed(expression: str) -> promql.Expr:
    """Parse an expression and check the types of its parts."""
    for name, time in TIMES.items():
        expression = expression.replace(f"[{name}]", f"[{time}]")
    return promql.parse(expression)


def within(node: promql.Expr) -> list[Any]:
    """Yield an expression and its parts."""
    found: list[Any] = []
    promql.walk(node, partial(_take, found))
    return found


def _take(found: list[Any], node: Any) -> bool:
    found.append(node)
    return True


def selectors(node: promql.Expr) -> Iterator[promql.VectorSelector]:
    yield from (part for part in within(node) if isinstance(part, promql.VectorSelector))


def check(expression: str) -> promql.Expr:
    """Check the series and labels of an expression."""
    node = parsed(expression)
    for part in within(node):
        if isinstance(part, promql.VectorSelector):
            assert part.name in KNOWN, expression
            for matcher in part.matchers.matchers:
                check_matcher(matcher, KNOWN[part.name][1], expression)
        if isinstance(part, promql.AggregateExpr) and part.modifier is not None:
            for selector in selectors(part):
                assert {*part.modifier.labels} <= KNOWN[selector.name or ""][1].keys(), expression
        if isinstance(part, promql.Call) and part.func.name == "histogram_quantile":
            (of,) = selectors(part)
            assert (of.name or "").endswith("_bucket"), expression
        if isinstance(part, promql.Call) and part.func.name in OF_COUNTERS:
            (of,) = selectors(part)
            assert KNOWN[of.name or ""][0].type in ("counter", "histogram"), expression
    return node


def check_matcher(matcher: promql.Matcher, labels: Labels, expression: str) -> None:
    """Check that a label can have the requested values, each alternative of a pattern separately."""
    assert matcher.name in labels, expression
    values = labels[matcher.name]
    if not values:
        return
    is_pattern = matcher.op in (promql.MatchOp.Re, promql.MatchOp.NotRe)
    for wanted in matcher.value.split("|") if is_pattern else [re.escape(matcher.value)]:
        assert any(re.fullmatch(wanted, value) for value in values), expression


def without_their_rises(node: promql.Expr) -> list[str]:
    """Return the counters that are used without their increase."""
    counted = [name for name, (series, _) in KNOWN.items() if series.type in ("counter", "histogram")]
    rising = {
        str(selector)
        for part in within(node)
        if isinstance(part, promql.Call) and part.func.name in OF_COUNTERS
        for selector in selectors(part)
    }
    return [str(each) for each in selectors(node) if each.name in counted and str(each) not in rising]


def test_the_dashboard_uses_every_series_and_no_other(dashboard: dict[str, Any]) -> None:
    asked: set[str] = set()
    for target in targets(dashboard):
        node = check(target["expr"])
        assert without_their_rises(node) == [], target["expr"]
        for selector in selectors(node):
            assert {matcher.name for matcher in selector.matchers.matchers} >= {*OF_TARGETS}
            asked.add(KNOWN[selector.name or ""][0].name)
        shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        kept = {
            label
            for part in within(node)
            if isinstance(part, promql.AggregateExpr) and part.modifier is not None
            for label in part.modifier.labels
        }
        assert shown <= kept, target["expr"]
    assert asked == {series.name for series in (*all_series(), UP)}


def test_alerts_use_existing_series_and_describe_the_remedy(rules: list[dict[str, Any]]) -> None:
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["labels"]["severity"] in ("critical", "warning")
        if "for" in rule:
            promql.parse_duration(rule["for"])
        node = check(rule["expr"])
        # An alert compares a value with a threshold.
        assert isinstance(node, promql.BinaryExpr), rule["alert"]
        # A 500 whose series did not exist ten minutes ago is new.
        assert all("500" in counter for counter in without_their_rises(node)), rule["alert"]
        said = rule["annotations"]
        assert said["summary"].endswith(".")
        assert len(said["description"]) > len(said["summary"])
        named = set(re.findall(r"\$labels\.(\w+)", said["summary"] + said["description"]))
        assert named <= labels_of(node), rule["alert"]


def labels_of(node: promql.Expr) -> set[str]:
    """Return the labels of an alert: those that its outermost sum keeps, or all."""
    if isinstance(node, promql.BinaryExpr):
        return labels_of(node.lhs)
    if isinstance(node, promql.AggregateExpr):
        return set(node.modifier.labels) if node.modifier is not None else set()
    if isinstance(node, promql.Call):
        return set.intersection(*(labels_of(part) for part in node.args if not isinstance(part, promql.NumberLiteral)))
    return {label for selector in selectors(node) for label in KNOWN[selector.name or ""][1]}


def test_the_docs_list_exactly_the_alerts(rules: list[dict[str, Any]]) -> None:
    lists = re.findall(r"^- (critical|warning): ((?:`Logoadmin\w+`[,;.]\s+)+)", DOCS.read_text("utf-8"), re.MULTILINE)
    listed = {(name, severity) for severity, names in lists for name in re.findall(r"\w+", names)}
    assert listed == {(rule["alert"], rule["labels"]["severity"]) for rule in rules}


def test_prometheus_loads_the_rules_and_scrapes_their_job(rules: list[dict[str, Any]]) -> None:
    configuration = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))
    assert configuration["rule_files"] == ["prometheus-rules.yaml"]
    jobs = {
        matcher.value
        for rule in rules
        for selector in selectors(parsed(rule["expr"]))
        for matcher in selector.matchers.matchers
        if matcher.name == "job"
    }
    assert {scrape["job_name"] for scrape in configuration["scrape_configs"]} == jobs
