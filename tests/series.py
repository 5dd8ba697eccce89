"""The Prometheus series of logoadmin, and a parser for their text."""

from prometheus_client.parser import text_string_to_metric_families

from logoadmin.adapters.prometheus_metrics import PrometheusMetrics

Samples = dict[str, float]


def all_series() -> dict[str, set[str]]:
    """Return the names of all series, each with its labels."""
    metrics = PrometheusMetrics()
    metrics.response("get_logo", "200", 0, 0.0, from_cache=False)
    return {
        f"{family.name}_total" if family.type == "counter" else family.name: {
            label for sample in family.samples for label in sample.labels
        }
        - {"le"}
        for family in text_string_to_metric_families(metrics.text(1, "Memory"))
    }


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
