"""What no tenant's pod or Service may say, whatever the namespace has a share of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from gpuyard.components.kubernetes import declare_all
from gpuyard.components.scheduling.groups import TENANTS_ONLY, VARIABLES
from gpuyard.components.spec import Manifest

ADMISSION = "admissionregistration.k8s.io/v1"

SYSTEM_CLASSES = "pods-take-no-system-class"
EXTERNAL_ADDRESSES = "services-take-no-external-address"


class TenantWalls(pulumi.ComponentResource):
    """Policies of the API server for the namespaces of all tenants."""

    def __init__(self, name: str, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpuyard:index:TenantWalls", name, {}, opts)
        declare_all(name, policies(), pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def policies() -> list[Manifest]:
    """The policies, each with its binding."""
    return [*system_classes(), *external_addresses()]


def system_classes() -> list[Manifest]:
    """Refuses Kubernetes' own priority classes: their pods evict everybody else's, and are evicted by none.

    Admission writes a cluster's default class into a pod before this is asked; a name with this beginning is never one.
    """
    pods = [_rule(group, kind, ["CREATE"]) for group, kind in (("", "pods"), ("batch", "jobs"))]
    check = {
        "expression": "!variables.class.startsWith('system-')",
        "message": "priority classes that begin with system- are for what the cluster itself needs: "
        "leave priorityClassName out, or give that of a node group",
    }
    variables = [variable for variable in VARIABLES if variable["name"] in ("pod", "class")]
    return _policy(SYSTEM_CLASSES, pods, check, {"variables": variables})


def external_addresses() -> list[Manifest]:
    """Refuses external IPs of Services: every node sends traffic to such an address, whoever owns it, to the tenant's
    pods (CVE-2020-8554)."""
    check = {
        "expression": "!has(object.spec.externalIPs) || object.spec.externalIPs.size() == 0",
        "message": "externalIPs take the traffic of others to these addresses: leave them out",
    }
    return _policy(EXTERNAL_ADDRESSES, [_rule("", "services", ["CREATE", "UPDATE"])], check, {})


def _rule(group: str, resource: str, operations: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations), "resources": [resource]}


def _policy(
    name: str, rules: Sequence[Mapping[str, Any]], check: Mapping[str, str], more: Mapping[str, Any]
) -> list[Manifest]:
    spec = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}, **more, "validations": [check]}
    binding = {
        "policyName": name,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": TENANTS_ONLY},
    }
    return [
        {"apiVersion": ADMISSION, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": ADMISSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": binding,
        },
    ]
