"""A model server of last year. It works, so nobody has touched it since."""

import pulumi_kubernetes as k8s

labels = {"app": "qwen3-8b"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.13.0",
    "args": ["--model=Qwen/Qwen3-8B", "--revision=0123456789abcdef0123456789abcdef01234567"],
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
    "qwen3-8b",
    metadata={"name": "qwen3-8b", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
