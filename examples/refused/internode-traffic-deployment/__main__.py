"""The first of two nodes. It found its address by itself once it was told to take any."""

import pulumi_kubernetes as k8s

labels = {"app": "llama-405b"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=/models/llama-405b", "--nnodes=2", "--node-rank=0", "--master-addr=0.0.0.0"],
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
    "llama-405b",
    metadata={"name": "llama-405b", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
