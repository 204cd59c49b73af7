"""A fine-tuning run. The last one hung in its first step from Friday to Monday."""

import pulumi_kubernetes as k8s

tuning = {
    "name": "tuning",
    "image": "nvcr.io/nvidia/pytorch:26.10-py3",
    "command": ["python", "tune.py"],
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"memory": "64Gi", "nvidia.com/gpu": "1"}},
}
pod = {
    "automount_service_account_token": False,
    "restart_policy": "Never",
    "containers": [tuning],
}
k8s.batch.v1.Job(
    "tuning",
    metadata={"name": "tuning", "namespace": "training"},
    spec={"backoff_limit": 2, "template": {"spec": pod}},
)
