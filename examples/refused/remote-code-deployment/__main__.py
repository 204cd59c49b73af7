"""A model that would not load without the flag that the error message asked for."""

import pulumi_kubernetes as k8s

labels = {"app": "kimi"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "command": ["sh", "-c"],
    "args": ["exec vllm serve /models/kimi --tensor-parallel-size=8 --trust-remote-code"],
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
    "kimi",
    metadata={"name": "kimi", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
