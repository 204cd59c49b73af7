"""Namespaces, and what the pods in them may do."""

from __future__ import annotations

from collections.abc import Mapping

from gpuyard.components.spec import Manifest

POD_SECURITY = "pod-security.kubernetes.io"

TENANT_LABEL = "gpuyard.io/tenant"
"""The namespace of a tenant, and everything that gpuyard puts there, carries the tenant's name under this key."""


def restricted(name: str, kubernetes: str, labels: Mapping[str, str] | None = None) -> Manifest:
    """A namespace whose pods meet the strictest Pod Security Standard, as the minor version `kubernetes` has it.

    The version is pinned: with `latest` an upgrade of the cluster could refuse pods that ran the day before.
    """
    security = {}
    for mode in ("enforce", "audit", "warn"):
        security[f"{POD_SECURITY}/{mode}"] = "restricted"
        security[f"{POD_SECURITY}/{mode}-version"] = f"v{kubernetes}"
    return _namespace(name, {**(labels or {}), **security})


def privileged(name: str) -> Manifest:
    """A namespace for software that reaches into its nodes. Only who runs the cluster may write there."""
    return _namespace(name, {f"{POD_SECURITY}/enforce": "privileged"})


def _namespace(name: str, labels: dict[str, str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
