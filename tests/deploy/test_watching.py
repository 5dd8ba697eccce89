"""The dashboard and the alerts in deploy/ are well-formed and use only existing series and labels."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import promql_parser as promql
import pytest
import yaml  # type: ignore[import-untyped]  # its types are another package

from tests.series import all_series

pytestmark = [pytest.mark.rule("contract K2"), pytest.mark.rule("contract K6")]

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
# Placeholders for times in a dashboard; those for labels are quoted already.
TIMES: Final = {"[$__rate_interval]": "[5m]", "[$__range]": "[1h]"}
# The labels of each series; ``up`` is Prometheus's own.
LABELS: Final = all_series() | {"up": set()}


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def selectors(expression: str) -> Iterator[tuple[str, promql.VectorSelector]]:
    """Parse an expression, and yield its selectors, each with the name of its series."""
    for name, time in TIMES.items():
        expression = expression.replace(name, time)
    found: list[Any] = []

    def take(node: Any) -> bool:
        found.append(node)
        return True

    promql.walk(promql.parse(expression), take)
    for node in found:
        if isinstance(node, promql.VectorSelector):
            yield re.sub(r"_(?:bucket|sum|count)$", "", node.name or ""), node


def used(expression: str) -> set[str]:
    """Return the series of an expression, which must have the labels by which it selects."""
    for name, selector in selectors(expression):
        wanted = {matcher.name for matcher in selector.matchers.matchers}
        assert wanted <= LABELS[name] | {"job", "instance", "le"}, expression
    return {name for name, _ in selectors(expression)}


def test_the_dashboard_uses_every_series_and_no_other() -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    targets = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert set().union(*map(used, targets)) == LABELS.keys()


def test_alerts_use_existing_series_and_describe_the_remedy(rules: list[dict[str, Any]]) -> None:
    for rule in rules:
        assert used(rule["expr"]), rule["alert"]
        # An alert compares a value with a threshold.
        assert isinstance(promql.parse(rule["expr"]), promql.BinaryExpr), rule["alert"]
        said = rule["annotations"]
        assert said["summary"].endswith(".")
        assert len(said["description"]) > len(said["summary"])


def test_the_docs_list_exactly_the_alerts(rules: list[dict[str, Any]]) -> None:
    docs = (ROOT / "docs/watch.md").read_text("utf-8")
    lists = re.findall(r"^- (critical|warning): ((?:`Logoadmin\w+`[,;.]\s+)+)", docs, re.MULTILINE)
    listed = {(name, severity) for severity, names in lists for name in re.findall(r"\w+", names)}
    assert listed == {(rule["alert"], rule["labels"]["severity"]) for rule in rules}


def test_prometheus_loads_the_rules_and_scrapes_their_job(rules: list[dict[str, Any]]) -> None:
    configuration = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))
    assert configuration["rule_files"] == ["prometheus-rules.yaml"]
    jobs = {
        matcher.value
        for rule in rules
        for _, selector in selectors(rule["expr"])
        for matcher in selector.matchers.matchers
        if matcher.name == "job"
    }
    assert {scrape["job_name"] for scrape in configuration["scrape_configs"]} == jobs
