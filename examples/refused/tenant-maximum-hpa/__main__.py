"""A scoring model of a team that has eight GPUs. Under load it is to have twice as many replicas."""

import pulumi_kubernetes as k8s

tenant = "fraud"
labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}
k8s.core.v1.Namespace(tenant, metadata={"name": tenant, "labels": labels})
k8s.networking.v1.NetworkPolicy(
    "default-deny",
    metadata={"name": "default-deny", "namespace": tenant},
    spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
)
k8s.core.v1.ResourceQuota(
    "gpus",
    metadata={"name": "gpus", "namespace": tenant},
    spec={"hard": {"requests.nvidia.com/gpu": "8"}},
)
k8s.core.v1.LimitRange(
    "defaults",
    metadata={"name": "defaults", "namespace": tenant},
    spec={"limits": [{"type": "Container", "default_request": {"cpu": "100m", "memory": "256Mi"}}]},
)
triton = {
    "name": "triton",
    "image": "nvcr.io/nvidia/tritonserver:26.10-py3",
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi", "nvidia.com/gpu": "1"}},
}
k8s.apps.v1.Deployment(
    "score",
    metadata={"name": "score", "namespace": tenant},
    spec={
        "replicas": 2,
        "selector": {"match_labels": {"app": "score"}},
        "template": {
            "metadata": {"labels": {"app": "score"}},
            "spec": {"automount_service_account_token": False, "containers": [triton]},
        },
    },
)
k8s.autoscaling.v2.HorizontalPodAutoscaler(
    "score",
    metadata={"name": "score", "namespace": tenant},
    spec={
        "scale_target_ref": {"api_version": "apps/v1", "kind": "Deployment", "name": "score"},
        "min_replicas": 2,
        "max_replicas": 16,
    },
)
