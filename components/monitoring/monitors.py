"""What a ServiceMonitor may not say."""

from __future__ import annotations

from gpuyard.components.spec import Manifest

NAME = "service-monitors-read-no-files"


def file_access_policy() -> list[Manifest]:
    """Refuses a tenant's ServiceMonitor that names a bearer token file: Prometheus would read it from its own disk and
    send it to the tenant's pod, and the file next door is the token with which it reads the whole cluster.

    Prometheus' own switch against this, arbitraryFSAccessThroughSMs, would also stop the chart's monitor of kubelets.
    """
    admission = "admissionregistration.k8s.io/v1"
    operators = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["monitoring", "gpu-operator"]}
    rule = {
        "apiGroups": ["monitoring.coreos.com"],
        # Not "*": only of a version that it is told can the API server check the expression. Others it converts to it.
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["servicemonitors"],
    }
    check = {
        "expression": "object.spec.endpoints.all(endpoint, !has(endpoint.bearerTokenFile))",
        "message": "bearerTokenFile is read from Prometheus' own disk: name a Secret of the namespace in authorization",
    }
    policy = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]}, "validations": [check]}
    binding = {
        "policyName": NAME,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchExpressions": [operators]}},
    }
    return [
        {"apiVersion": admission, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": NAME}, "spec": policy},
        {
            "apiVersion": admission,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": NAME},
            "spec": binding,
        },
    ]
