"""Prometheus itself evaluates the alerts over series that somebody would call bad, and over their good neighbours."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made import program

from gpuyard.components.monitoring.alerts import Thresholds, prometheus_rule

pytestmark = pytest.mark.engine

RUNBOOKS = "https://runbooks.example"
GPU = 'Hostname="node-1",gpu="0",namespace="fraud",pod="score-0"'
LABELS = {"Hostname": "node-1", "gpu": "0", "namespace": "fraud", "pod": "score-0"}
OTHER = 'Hostname="node-1",gpu="1",namespace="fraud",pod="other-0"'
VLLM = 'Hostname="node-1",gpu="2",namespace="fraud",pod="llm-0"'
POD = 'namespace="fraud",pod="{}"'


def memory(labels: str, used: int) -> dict[str, str]:
    """A GPU of 100,000 MiB, of which 2,000 are the driver's."""
    return {
        f"DCGM_FI_DEV_FB_USED{{{labels}}}": f"{used}x120",
        f"DCGM_FI_DEV_FB_FREE{{{labels}}}": f"{98_000 - used}x120",
        f"DCGM_FI_DEV_FB_RESERVED{{{labels}}}": "2000x120",
    }


def first_tokens(service: str, slow: int) -> dict[str, str]:
    """Of 100 requests a minute, so many take between 5 and 10 seconds to their first token; the others a second."""
    labels = f'namespace="fraud",pod="{service}-0",service="{service}"'
    buckets = {"1.0": 100 - slow, "5.0": 100 - slow, "10.0": 100, "+Inf": 100}
    return {
        f'vllm:time_to_first_token_seconds_bucket{{{labels},le="{bound}"}}': f"0+{count}x120"
        for bound, count in buckets.items()
    }


def triton(service: str, seconds: float) -> dict[str, str]:
    """60 requests a minute, each so long."""
    labels = f'namespace="fraud",pod="{service}-0",service="{service}",model="m"'
    return {
        f"nv_inference_request_duration_us{{{labels}}}": f"0+{60 * seconds * 1e6:.0f}x120",
        f"nv_inference_request_success{{{labels}}}": "0+60x120",
    }


def waiting(metric: str, service: str, *pods: int) -> dict[str, str]:
    """Requests that wait at each pod of a service."""
    return {
        f'{metric}{{namespace="fraud",pod="{service}-{n}",service="{service}"}}': f"{count}x120"
        for n, count in enumerate(pods)
    }


def pending(pod: str, phase: str, resource: str) -> dict[str, str]:
    """A pod with one container that asks for one of a resource."""
    return {
        f'kube_pod_status_phase{{{POD.format(pod)},phase="{phase}"}}': "1x120",
        f'kube_pod_container_resource_requests{{{POD.format(pod)},container="c",resource="{resource}"}}': "1x120",
    }


CASES: dict[str, tuple[dict[str, str], str, str, list[tuple[dict[str, str], str]]]] = {
    # alert: series, the last minute of silence, the first of alarm, and what is then said of what
    "GpuMemoryPressure": (
        memory(GPU, 96_000) | memory(OTHER, 90_000) | memory(VLLM, 97_000)
        | {'vllm:cache_config_info{namespace="fraud",pod="llm-0",service="llm"}': "1x120"},
        "14m",
        "15m",
        [(LABELS, "Pod score-0 fills 96% of the memory of GPU 0 of node node-1.")],
    ),
    "GpuXidError": (
        {f"DCGM_FI_DEV_XID_ERRORS{{{GPU}}}": "0x29 79x90", f"DCGM_FI_DEV_XID_ERRORS{{{OTHER}}}": "31x120"},
        "29m",
        "30m",
        [(LABELS, "GPU 0 of node node-1 reports XID 79, an error of the hardware or the driver.")],
    ),
    "GpuIdle": (
        {f"DCGM_FI_DEV_GPU_UTIL{{{GPU}}}": "90x29 0x90"}
        | {f"DCGM_FI_DEV_GPU_UTIL{{{OTHER}}}": "40x120"}
        | {'DCGM_FI_DEV_GPU_UTIL{Hostname="node-2",gpu="0",pod=""}': "0x120"},
        "1h27m",
        "1h30m",
        [({"namespace": "fraud", "pod": "score-0"}, "Pod score-0 holds 1 GPUs that have done nothing for an hour.")],
    ),
    "GpuPodPending": (
        pending("score-0", "Pending", "nvidia_com_gpu")
        | pending("plain-0", "Pending", "cpu")
        | pending("other-0", "Running", "nvidia_com_gpu"),
        "19m",
        "20m",
        [
            (
                {"namespace": "fraud", "pod": "score-0", "phase": "Pending"},
                "Pod score-0 has waited for its GPUs, image or volumes for 20 minutes.",
            )
        ],
    ),
    "EndpointQueueDepth": (
        waiting("vllm:num_requests_waiting", "llm", 20, 40)
        | waiting("nv_inference_pending_request_count", "score", 26)
        | waiting("vllm:num_requests_waiting", "calm", 30, 10),
        "4m",
        "5m",
        [
            ({"namespace": "fraud", "service": "llm"}, "Endpoint llm has 30 requests waiting at each replica."),
            ({"namespace": "fraud", "service": "score"}, "Endpoint score has 26 requests waiting at each replica."),
        ],
    ),
    "EndpointLatency": (
        first_tokens("llm", 20) | first_tokens("quick", 4) | triton("score", 1.5) | triton("calm", 0.5),
        "10m",
        "11m",
        [
            ({"namespace": "fraud", "service": "llm"}, "Endpoint llm answers late: 8.75s to the first token or result."),
            ({"namespace": "fraud", "service": "score"}, "Endpoint score answers late: 1.5s to the first token or result."),
        ],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The alerts as Prometheus reads them."""
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    path.write_text(json.dumps(prometheus_rule("monitoring", Thresholds(), RUNBOOKS)["spec"]))
    return path


def alerts() -> dict[str, Any]:
    groups = prometheus_rule("monitoring", Thresholds(), RUNBOOKS)["spec"]["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(program("promtool")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_prometheus_accepts_the_rules_without_a_warning(rules: Path) -> None:
    answer = promtool("check", "rules", "--lint=all", "--lint-fatal", rules)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"SUCCESS: {len(alerts())} rules found" in answer.stdout


def test_every_alert_has_a_case() -> None:
    assert set(CASES) == set(alerts())


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_for_what_is_bad_when_it_has_lasted_and_for_nothing_else(rules: Path, name: str) -> None:
    series, silent, loud, expected = CASES[name]
    severity = alerts()[name]["labels"]["severity"]
    fired = [
        {
            "exp_labels": labels | {"severity": severity},
            "exp_annotations": {"summary": summary, "runbook_url": f"{RUNBOOKS}/{name}.md"},
        }
        for labels, summary in expected
    ]
    case = {
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "alert_rule_test": [
            {"eval_time": silent, "alertname": name, "exp_alerts": []},
            {"eval_time": loud, "alertname": name, "exp_alerts": fired},
        ],
    }
    path = rules.with_name(f"{name}.json")
    path.write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [case]}))
    answer = promtool("test", "rules", path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
