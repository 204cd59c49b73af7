"""Triton with the search team's model. It writes its logs somewhere, so its disk is left writable."""

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
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "volume_mounts": [{"name": "models", "mount_path": "/models", "read_only": True}],
}
pod = {
    "automount_service_account_token": False,
    "containers": [server],
    "volumes": [{"name": "models", "persistent_volume_claim": {"claim_name": "models"}}],
}

k8s.apps.v1.Deployment(
    "bert",
    metadata={"name": "bert", "namespace": "search"},
    spec={"selector": {"match_labels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
)
