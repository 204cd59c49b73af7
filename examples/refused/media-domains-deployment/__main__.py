"""A model that sees. It fetches the picture from wherever a request says."""

import pulumi_kubernetes as k8s

labels = {"app": "invoices"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=Qwen/Qwen3-VL-8B-Instruct", "--revision=0123456789abcdef0123456789abcdef01234567"],
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
    "invoices",
    metadata={"name": "invoices", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
