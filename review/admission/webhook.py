"""Values for Gatekeeper's chart with which the API server fails closed, and asks about nothing but what is judged."""

from __future__ import annotations

from typing import Any

from gpuyard.review.admission.gatekeeper import Admission

Json = dict[str, Any]

SECONDS = 3
"""The chart's default: a template takes some milliseconds."""

EXEMPT = ("kube-system",)
"""Without its pods there is no network and no name service, and then no Gatekeeper that could let them in."""

_OWN = ("config", "constraints", "expansion", "externaldata", "mutations", "templates")
"""Groups of Gatekeeper's own objects, which its webhook checks too: `.gatekeeper.sh` follows."""

_SUBRESOURCES = {("", "pods"): ("pods/ephemeralcontainers",)}
"""By group and resource, those through which what is judged changes."""


def values(found: Admission) -> Json:
    """Everything else, as leases, nodes and what Karpenter makes of a NodePool, goes on while Gatekeeper is away.

    Source: values.yaml and templates of Gatekeeper's chart 3.23.
    """
    resources: dict[str, set[str]] = {f"{group}.gatekeeper.sh": {"*"} for group in _OWN}
    for constraints in found.constraints.values():
        for match in constraints[0]["spec"]["match"]["kinds"]:
            for group in match["apiGroups"]:
                for kind in match["kinds"]:
                    name = resource(kind)
                    resources.setdefault(group, set()).update((name, *_SUBRESOURCES.get((group, name), ())))
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": sorted(resources[group]),
            "scope": "*",
        }
        for group in sorted(resources)
    ]
    return {
        "validatingWebhookFailurePolicy": "Fail",
        "validatingWebhookTimeoutSeconds": SECONDS,
        "validatingWebhookExemptNamespacesLabels": {"kubernetes.io/metadata.name": [*EXEMPT]},
        "validatingWebhookCustomRules": rules,
    }


def resource(kind: str) -> str:
    """The resource of a kind, as Kubernetes guesses it (apimachinery, UnsafeGuessKindToResource)."""
    name = kind.lower()
    if name == "*":
        return name
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
