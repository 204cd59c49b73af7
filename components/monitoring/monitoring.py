"""Prometheus with its operator, the alerts of a GPU platform, and where they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pulumi
from pydantic import Field

from gpuyard.components import namespace
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare_all, release
from gpuyard.components.monitoring.alerts import Thresholds, prometheus_rule
from gpuyard.components.monitoring.monitors import file_access_policy
from gpuyard.components.spec import Name, Quantity, SecretKey, Spec, in_bytes

NAMESPACE = "monitoring"

CHART = "kube-prometheus-stack"

FILLED = 80
"""Percent of the volume that samples may fill: the rest is for the write-ahead log and compaction.
Source: Prometheus, storage: at most 80-85% of the disk."""

SELECTORS = ("rule", "serviceMonitor", "podMonitor", "probe", "scrapeConfig")
"""What Prometheus looks for in every namespace. By default it sees only objects with its release's label."""

NOT_OURS = ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy", "coreDns")
"""Parts of the control plane, or of the node, that a managed cluster hides or an on-prem one binds to loopback: to
watch them would raise an alert that never ends. CoreDNS is kube-dns without these metrics on GKE."""

WITHOUT_ALERTMANAGER = {"rules": {"alertmanager": False}, "disabled": {"PrometheusNotConnectedToAlertmanagers": True}}
"""Rules of the chart that would alert for ever where no Alertmanager is meant to be."""


class AlertsSpec(Spec):
    """Where alerts are sent."""

    slack: SecretKey
    """The webhook's address, in a Secret of the namespace monitoring. Alertmanager starts once it is there."""


class MonitoringSpec(Spec):
    """How long metrics are kept, where, and who is told."""

    retention: Annotated[str, Field(pattern=r"^[1-9][0-9]*[hdwy]$")] = "15d"
    """How long samples are kept, in hours, days, weeks or years: 15d. A full volume drops the oldest sooner."""
    storage: Quantity
    """Size of Prometheus' volume."""
    storage_class: Name | None = None
    """Its StorageClass; the cluster's default when left out."""
    alerts: AlertsSpec | None = None
    """Receiver of alerts. Without one they are only seen in Prometheus, and no Alertmanager runs."""
    thresholds: Thresholds = Thresholds()
    """Where the alerts begin."""
    runbooks: Annotated[str, Field(min_length=1)] = "docs/runbooks"
    """Address below which an alert's runbook page is found; a path of gpuyard's repository when left out. Give a
    URL, or whoever is called at night cannot open it."""
    grafana: Name | None = None
    """Secret of the namespace monitoring with the keys admin-user and admin-password of Grafana's first account. Left
    out, no Grafana runs: one more login to guard, for what Prometheus answers too."""


class Monitoring(pulumi.ComponentResource):
    """Metrics and alerts of the cluster."""

    release: pulumi.Resource
    """The release that brings ServiceMonitor, PrometheusRule and their controller; what declares such objects needs
    it."""

    def __init__(
        self,
        name: str,
        spec: MonitoringSpec,
        *,
        artifacts: ArtifactsSpec,
        needs: Sequence[pulumi.Resource] = (),
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`needs` are the nodes to run on, and what makes their volumes: Helm waits for the pods. `protect` keeps the
        namespace, with which Prometheus' volume would go."""
        super().__init__("gpuyard:index:Monitoring", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        # With the namespace goes the volume, and only its driver, which is among the needs, can delete that.
        kept = pulumi.ResourceOptions(parent=self, protect=protect, depends_on=list(needs))
        # node-exporter reads its node's files, processes and network, which only this level allows.
        made = declare_all(name, [namespace.privileged(NAMESPACE)], kept)
        declare_all(name, file_access_policy(), child)
        inputs = release_inputs(CHART, NAMESPACE, values(spec, artifacts), artifacts)
        # The release names its namespace as plain text, and nothing in it names the nodes.
        ready = pulumi.ResourceOptions(parent=self, depends_on=[*made, *needs])
        self.release = release(f"{name}-{CHART}", inputs, ready)
        rule = prometheus_rule(NAMESPACE, spec.thresholds, spec.runbooks)
        declare_all(name, [rule], pulumi.ResourceOptions(parent=self, depends_on=[self.release]))
        self.register_outputs({})


def values(spec: MonitoringSpec, artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of kube-prometheus-stack."""
    chosen: dict[str, Any] = {part: {"enabled": False} for part in NOT_OURS}
    chosen["prometheus"] = {"prometheusSpec": _prometheus(spec)}
    # Helm waits for the pods of a release. One sick node must not stop every later deployment of this one.
    chosen["prometheus-node-exporter"] = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}}}
    if spec.alerts:
        chosen["alertmanager"] = _alertmanager(spec.alerts.slack)
    else:
        chosen |= {"alertmanager": {"enabled": False}, "defaultRules": WITHOUT_ALERTMANAGER}
    chosen["grafana"] = _grafana(spec.grafana) if spec.grafana else {"enabled": False}
    if artifacts.images:
        chosen["global"] = {"imageRegistry": artifacts.images}
    return chosen


def _prometheus(spec: MonitoringSpec) -> dict[str, Any]:
    claim: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": spec.storage}}}
    if spec.storage_class:
        claim["storageClassName"] = spec.storage_class
    return {
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in SELECTORS},
        "retention": spec.retention,
        "retentionSize": f"{in_bytes(spec.storage) * FILLED // 100 // 2**20}MiB",
        "storageSpec": {"volumeClaimTemplate": {"spec": claim}},
        # Not a sizing: without any request the kubelet would evict first what tells that the node is short of memory.
        "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}},
    }


def _alertmanager(slack: SecretKey) -> dict[str, Any]:
    """One message an alert and namespace. The address stays in its file: values of a release are kept in the clear."""
    message = {
        "api_url_file": f"/etc/alertmanager/secrets/{slack.secret}/{slack.key}",
        "send_resolved": True,
        "title": "{{ .Status | toUpper }} {{ .CommonLabels.alertname }} {{ .CommonLabels.namespace }}",
        "text": "{{ range .Alerts }}{{ .Annotations.summary }}\n{{ .Annotations.runbook_url }}\n{{ end }}",
    }
    # Watchdog fires always, to show that the way is open; nobody wants to read it.
    quiet = {"receiver": "null", "matchers": ['alertname = "Watchdog"']}
    return {
        "config": {
            "route": {"receiver": "slack", "group_by": ["namespace", "alertname"], "routes": [quiet]},
            "receivers": [{"name": "null"}, {"name": "slack", "slack_configs": [message]}],
        },
        "alertmanagerSpec": {"secrets": [slack.secret]},
    }


def _grafana(secret: str) -> dict[str, Any]:
    """Its sidecars look for dashboards here only: in all namespaces they would have to read everybody's secrets."""
    return {
        "enabled": True,
        "admin": {"existingSecret": secret},
        "rbac": {"namespaced": True},
        "sidecar": {"dashboards": {"searchNamespace": NAMESPACE}, "datasources": {"searchNamespace": NAMESPACE}},
    }
