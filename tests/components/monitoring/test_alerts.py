from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuyard.components.monitoring.alerts import APPLICATION_XIDS, Thresholds, prometheus_rule

ROOT = Path(__file__).parents[3]
RUNBOOKS = ROOT / "docs" / "runbooks"
SOURCES = [
    "monitoring/dcgm-exporter-4.5.3-metrics.txt",
    "monitoring/kube-state-metrics-pods.txt",
    "serving/vllm-0.32.0-metrics.txt",
    "serving/triton-2.51-metrics.txt",
]

METRIC = re.compile(r"\b(?:DCGM_|kube_|vllm:|nv_)\w+")


def alerts(thresholds: Thresholds | None = None, runbooks: str = "docs/runbooks") -> dict[str, Any]:
    rule = prometheus_rule("monitoring", thresholds or Thresholds(), runbooks)
    return {alert["alert"]: alert for group in rule["spec"]["groups"] for alert in group["rules"]}


def exported() -> set[str]:
    """Every series that the servers and exporters give, with those that a histogram or a summary is made of."""
    found = set()
    for source in SOURCES:
        for line in (ROOT / "tests" / "data" / source).read_text().splitlines():
            if line.startswith("#"):
                continue
            name, kind = line.split()
            suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            found |= {f"{name}{suffix}" for suffix in suffixes}
    return found


def test_there_are_six_alerts(golden: Callable[[str, Any], None]) -> None:
    assert set(alerts()) == {
        "GpuMemoryPressure",
        "GpuXidError",
        "GpuIdle",
        "GpuPodPending",
        "EndpointQueueDepth",
        "EndpointLatency",
    }
    golden("alerts", prometheus_rule("monitoring", Thresholds(), "docs/runbooks"))


@pytest.mark.parametrize("name", sorted(alerts()))
def test_an_alert_uses_only_metrics_that_are_exported(name: str) -> None:
    used = set(METRIC.findall(alerts()[name]["expr"]))
    assert used
    assert used <= exported()


@pytest.mark.parametrize("page", sorted(RUNBOOKS.glob("*.md")), ids=lambda page: page.stem)
def test_a_runbook_asks_only_for_metrics_that_are_exported(page: Path) -> None:
    assert set(METRIC.findall(page.read_text())) <= exported()


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert {page.stem for page in RUNBOOKS.glob("*.md")} == set(alerts())
    for name, alert in alerts().items():
        assert (ROOT / alert["annotations"]["runbook_url"]).read_text().startswith(f"# {name}\n")


def test_a_runbooks_address_may_be_a_web_server() -> None:
    found = alerts(runbooks="https://wiki.example/gpu/")["GpuIdle"]["annotations"]["runbook_url"]
    assert found == "https://wiki.example/gpu/GpuIdle.md"


@pytest.mark.parametrize("name", sorted(alerts()))
def test_an_alert_says_how_bad_it_is_and_what_is_wrong(name: str) -> None:
    alert = alerts()[name]
    assert alert["labels"]["severity"] in {"warning", "critical"}
    assert alert["annotations"]["summary"].endswith(".")
    labels = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
    assert labels
    assert labels <= {"gpu", "Hostname", "namespace", "pod", "service"}


def test_servers_that_fill_the_memory_on_purpose_raise_no_pressure() -> None:
    assert alerts()["GpuMemoryPressure"]["expr"].endswith("unless on (namespace, pod) vllm:cache_config_info")


def test_the_last_error_of_a_gpu_is_compared_and_never_counted() -> None:
    expression = alerts()["GpuXidError"]["expr"]
    assert not re.search(r"rate|increase|delta|changes", expression)
    assert {int(xid) for xid in re.findall(r"!= (\d+)", expression)} == {0, *APPLICATION_XIDS}
    assert not {48, 63, 64, 74, 79, 94, 95, 119, 120, 140} & set(APPLICATION_XIDS)


def test_only_gpus_that_a_pod_holds_are_called_idle() -> None:
    assert '{pod!=""}' in alerts()["GpuIdle"]["expr"]


def test_thresholds_reach_their_alerts() -> None:
    given = Thresholds(
        memory_percent=81, idle_percent=12, waiting_requests=33, first_token_seconds=7.5, request_seconds=0.25
    )
    found = alerts(given)
    assert "> 81 " in found["GpuMemoryPressure"]["expr"]
    assert "< 12)" in found["GpuIdle"]["expr"]
    assert found["EndpointQueueDepth"]["expr"].endswith("> 33")
    assert "> 7.5 or" in found["EndpointLatency"]["expr"]
    assert found["EndpointLatency"]["expr"].endswith("> 0.25")
