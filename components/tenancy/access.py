"""What a tenant's people may do in its namespace.

Kubernetes' own role `edit` is not used: it reads every secret, mints tokens of service accounts and acts as them, and
it knows neither ScaledObjects nor ServiceMonitors, so an endpoint could not be deployed with it. Who may create a pod
can still mount a secret into it; without `get` a secret is at least not one command away, and not in a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuyard.components.spec import Manifest

ROLE = "tenant"

READ = ["get", "list", "watch"]
WRITE = [*READ, "create", "update", "patch", "delete"]

RULES = [
    {
        "apiGroups": [""],
        "resources": ["pods", "services", "configmaps", "persistentvolumeclaims", "serviceaccounts"],
        "verbs": WRITE,
    },
    {"apiGroups": [""], "resources": ["pods/log", "events", "resourcequotas", "limitranges"], "verbs": READ},
    {"apiGroups": [""], "resources": ["pods/exec", "pods/portforward"], "verbs": ["create"]},
    # Neither update nor patch: both answer with the whole secret.
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale", "statefulsets"], "verbs": WRITE},
    {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": READ},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": READ},
    {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": WRITE},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": WRITE},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": WRITE},
    # An endpoint brings its own. Policies only ever add, so this can open the namespace: the review shows it.
    {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": WRITE},
    # Not write: a claim may be of any class of devices, which no quota counts. The platform makes those that jobs need.
    {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims", "resourceclaimtemplates"], "verbs": READ},
    {"apiGroups": ["keda.sh"], "resources": ["scaledobjects"], "verbs": WRITE},
    # Not write: a workload says that its job is admitted, and to which node group.
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues", "workloads"], "verbs": READ},
    {"apiGroups": ["monitoring.coreos.com"], "resources": ["servicemonitors"], "verbs": WRITE},
]


def role() -> Manifest:
    """What it takes to deploy, watch and debug endpoints and jobs, and nothing beyond the namespace."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": ROLE},
        "rules": RULES,
    }


def bindings(groups: Sequence[str], viewers: Sequence[str]) -> list[Manifest]:
    """`groups` get the tenant's role, `viewers` Kubernetes' own `view`, which shows everything but secrets."""
    found = [_binding("tenant", {"kind": "Role", "name": ROLE}, groups)]
    if viewers:
        found.append(_binding("viewers", {"kind": "ClusterRole", "name": "view"}, viewers))
    return found


def _binding(name: str, reference: dict[str, str], groups: Sequence[str]) -> Manifest:
    rbac = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, **reference},
        "subjects": [{"apiGroup": rbac, "kind": "Group", "name": group} for group in groups],
    }
