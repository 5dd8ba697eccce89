"""The Prometheus series of logoadmin, and a parser for their text."""

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.http_api.request import OTHER, STATUSES

Samples = dict[str, float]
# Labels of which a text does not contain all values.
_VALUES = {
    "operation": (*(operation.name for operation in OPERATIONS), OTHER),
    "status": (*STATUSES.values(), OTHER),
    "version": (),
    "database": (),
}


@dataclass(frozen=True)
class Series:
    """A series: its name, its type, and its labels, each with all its possible values, () for any."""

    name: str
    type: str
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()


def all_series() -> list[Series]:
    """Return every series."""
    metrics = PrometheusMetrics()
    metrics.response("get_logo", "200", 0, 0.0, from_cache=False)
    found = []
    for family in text_string_to_metric_families(metrics.text(1, "Memory")):
        values: dict[str, list[str]] = {}
        for sample in family.samples:
            for label, value in sample.labels.items():
                values.setdefault(label, []).append(value)
        values.pop("le", None)
        labels = tuple((label, _VALUES.get(label, tuple(of))) for label, of in values.items())
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found.append(Series(name, family.type, labels))
    return found


def samples(text: str) -> Samples:
    """Return the samples of a text in the Prometheus format, which must be well-formed."""
    found: Samples = {}
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families), "a series is in one piece"
    for family in families:
        assert family.name.startswith("logoadmin_")
        assert family.documentation
        for sample in family.samples:
            labels = ",".join(f'{label}="{value}"' for label, value in sorted(sample.labels.items()))
            key = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert key not in found
            found[key] = sample.value
    return found
