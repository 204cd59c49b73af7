"""Triton with the search team's model."""

import pulumi_kubernetes as k8s

labels = {"app": "bert"}
server = {
    "name": "triton",
    "image": "nvcr.io/nvidia/tritonserver:26.07-py3",
    "args": ["tritonserver", "--model-repository=/models", "--model-control-mode=none"],
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi", "nvidia.com/gpu": "1"}},
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "volume_mounts": [{"name": "models", "mount_path": "/models", "read_only": True}],
}
pod = {
    "containers": [server],
    "volumes": [{"name": "models", "persistent_volume_claim": {"claim_name": "models"}}],
}

k8s.apps.v1.Deployment(
    "bert",
    metadata={"name": "bert", "namespace": "search"},
    spec={"selector": {"match_labels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
)
