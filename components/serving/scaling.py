"""How Prometheus measures an endpoint, and how KEDA scales it by that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.serving.template import ServingTemplate
from gpuyard.components.serving.workload import selector
from gpuyard.components.spec import Manifest

SCRAPE_INTERVAL = "15s"

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def service_monitor(name: str, engine: ServingTemplate, *, namespace: str, labels: Mapping[str, str]) -> Manifest:
    """Tells Prometheus where the endpoint's metrics are."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {
            "selector": {"matchLabels": selector(name)},
            "endpoints": [{"port": engine.metrics.port, "path": engine.metrics.path, "interval": SCRAPE_INTERVAL}],
        },
    }


def scaled_object(
    name: str, spec: EndpointSpec, engine: ServingTemplate, *, placement: Placement, labels: Mapping[str, str]
) -> Manifest:
    """KEDA's autoscaler: replicas follow the requests in flight, and never fall below the least of the hour."""
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name, "namespace": placement.namespace, "labels": dict(labels)},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicaCount": spec.replicas.min,
            "maxReplicaCount": spec.replicas.max,
            "pollingInterval": 15,
            "cooldownPeriod": 300,
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {
                        # A replica takes minutes to load, so a second of quiet is no reason to end one.
                        "scaleUp": _pace(30, pods=2, seconds=60),
                        "scaleDown": _pace(300, pods=1, seconds=120),
                    }
                }
            },
            "triggers": _triggers(name, spec, engine, placement),
        },
    }


def _pace(stabilization: int, *, pods: int, seconds: int) -> dict[str, Any]:
    policy = {"type": "Pods", "value": pods, "periodSeconds": seconds}
    return {"stabilizationWindowSeconds": stabilization, "policies": [policy]}


def _triggers(name: str, spec: EndpointSpec, engine: ServingTemplate, placement: Placement) -> list[dict[str, Any]]:
    own = f'{{namespace="{placement.namespace}",service="{name}"}}'
    triggers: list[dict[str, Any]] = [
        {
            "type": "prometheus",
            "metricType": "AverageValue",
            "metadata": {
                "serverAddress": placement.prometheus,
                "query": engine.load.query.format(selector=own),
                "threshold": str(spec.replicas.load or engine.load.target),
            },
        }
    ]
    if spec.hours is not None:
        window = {"start": _cron(spec.hours.start, spec.hours.days), "end": _cron(spec.hours.end, spec.hours.days)}
        floor = {"timezone": spec.hours.timezone, "desiredReplicas": str(spec.hours.replicas)}
        triggers.append({"type": "cron", "metadata": floor | window})
    return triggers


def _cron(time: str, days: str | None) -> str:
    hour, minute = time.split(":")
    return f"{int(minute)} {int(hour)} * * {_days(days) if days else '*'}"


def _days(days: str) -> str:
    """Every day by name: cron's own ranges cannot pass from Saturday to Sunday."""
    first, _, last = days.partition("-")
    start = WEEK.index(first)
    length = (WEEK.index(last or first) - start) % len(WEEK) + 1
    return ",".join(WEEK[(start + step) % len(WEEK)] for step in range(length))
