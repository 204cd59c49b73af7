"""The alerts of a GPU platform. Each has a page of its name in docs/runbooks."""

from __future__ import annotations

from typing import Any

from pydantic import PositiveFloat, PositiveInt

from gpuyard.components.spec import Manifest, Spec

APPLICATION_XIDS = (13, 31, 43, 45, 68, 109)
"""Errors that a program causes and the GPU survives: page faults, exceptions, timeouts of its own.
Source: NVIDIA/k8s-device-plugin internal/rm/health.go, application errors."""


class Thresholds(Spec):
    """Where the alerts begin. The last three are promises to users: set them to what was promised."""

    memory_percent: PositiveInt = 95
    """Part of a GPU's memory in use. Public rule sets take 90 to 95."""
    idle_percent: PositiveInt = 5
    """Utilisation below which a GPU that a pod holds is idle. Public rule sets take 5 to 10."""
    waiting_requests: PositiveInt = 25
    """Requests that wait at a replica. Source: EKS user guide, inference autoscaling: a load test of an 8B model."""
    first_token_seconds: PositiveFloat = 5.0
    """Time to the first token that 95 of 100 requests to a language model stay below."""
    request_seconds: PositiveFloat = 1.0
    """Mean time of a request to a Triton model, waiting included."""


def prometheus_rule(namespace: str, thresholds: Thresholds, runbooks: str) -> Manifest:
    """The alerts as the object that Prometheus' operator reads. `runbooks` is the address of the pages."""
    groups: list[dict[str, Any]] = [
        {"name": "gpuyard.gpus", "rules": [*_gpus(thresholds), _pending()]},
        {"name": "gpuyard.endpoints", "rules": _endpoints(thresholds)},
    ]
    for group in groups:
        for rule in group["rules"]:
            rule["annotations"]["runbook_url"] = f"{runbooks.rstrip('/')}/{rule['alert']}.md"
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "gpuyard-alerts", "namespace": namespace},
        "spec": {"groups": groups},
    }


def _gpus(thresholds: Thresholds) -> list[dict[str, Any]]:
    used, free, reserved = (f"DCGM_FI_DEV_FB_{part}" for part in ("USED", "FREE", "RESERVED"))
    hardware = " ".join(f"!= {xid}" for xid in (0, *APPLICATION_XIDS))
    gpu = "GPU {{ $labels.gpu }} of node {{ $labels.Hostname }}"
    return [
        # vLLM takes its part of the memory when it starts and keeps it: full is how it works, not a pressure.
        _alert(
            "GpuMemoryPressure",
            f"100 * {used} / ({used} + {free} + {reserved}) > {thresholds.memory_percent} "
            "unless on (namespace, pod) vllm:cache_config_info",
            hold="15m",
            severity="warning",
            summary=f"Pod {{{{ $labels.pod }}}} fills {{{{ $value | humanize }}}}% of the memory of {gpu}.",
        ),
        # The gauge holds the number of the last error, so it has no rate, and stays until the driver starts anew.
        _alert(
            "GpuXidError",
            f"DCGM_FI_DEV_XID_ERRORS {hardware}",
            hold="0s",
            severity="critical",
            summary=f"{gpu} reports XID {{{{ $value }}}}, an error of the hardware or the driver.",
        ),
        _alert(
            "GpuIdle",
            'count by (namespace, pod) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{pod!=""}[30m]) '
            f"< {thresholds.idle_percent})",
            hold="30m",
            severity="warning",
            summary="Pod {{ $labels.pod }} holds {{ $value }} GPUs that have done nothing for an hour.",
        ),
    ]


def _pending() -> dict[str, Any]:
    """A new node has a quarter of an hour to appear, and its image some minutes to arrive.
    Source: kubernetes/autoscaler FAQ.md, max-node-provision-time."""
    return _alert(
        "GpuPodPending",
        'kube_pod_status_phase{phase="Pending"} == 1 and on (namespace, pod) '
        'kube_pod_container_resource_requests{resource=~"nvidia_com_.+"} > 0',
        hold="20m",
        severity="warning",
        summary="Pod {{ $labels.pod }} has waited for its GPUs, image or volumes for 20 minutes.",
    )


def _endpoints(thresholds: Thresholds) -> list[dict[str, Any]]:
    """vLLM and Triton, by the Service that an endpoint's series are labelled with."""
    endpoint = "Endpoint {{ $labels.service }}"
    by, by_pod = "by (namespace, service)", "by (namespace, service, pod)"
    slowest = f"histogram_quantile(0.95, sum {by[:-1]}, le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))"
    microseconds, requests = (
        f"sum {by} (rate(nv_inference_{what}[5m]))" for what in ("request_duration_us", "request_success")
    )
    return [
        _alert(
            "EndpointQueueDepth",
            f"avg {by} (sum {by_pod} (vllm:num_requests_waiting or nv_inference_pending_request_count)) "
            f"> {thresholds.waiting_requests}",
            hold="5m",
            severity="warning",
            summary=f"{endpoint} has {{{{ $value | humanize }}}} requests waiting at each replica.",
        ),
        _alert(
            "EndpointLatency",
            f"{slowest} > {thresholds.first_token_seconds} "
            f"or {microseconds} / {requests} / 1e6 > {thresholds.request_seconds}",
            hold="10m",
            severity="warning",
            summary=f"{endpoint} answers late: {{{{ $value | humanizeDuration }}}} to the first token or result.",
        ),
    ]


def _alert(name: str, expression: str, *, hold: str, severity: str, summary: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": hold,
        "labels": {"severity": severity},
        "annotations": {"summary": summary},
    }
