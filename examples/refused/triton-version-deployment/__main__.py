"""Triton of the month in which the models were converted."""

import pulumi_kubernetes as k8s

labels = {"app": "fraud-score"}
server = {
    "name": "triton",
    "image": "nvcr.io/nvidia/tritonserver:25.12-py3",
    "command": ["tritonserver", "--model-repository=s3://models/fraud/12", "--model-control-mode=none"],
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "8", "memory": "32Gi"}, "limits": {"memory": "32Gi", "nvidia.com/gpu": "1"}},
}

k8s.apps.v1.Deployment(
    "fraud-score",
    metadata={"name": "fraud-score", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
