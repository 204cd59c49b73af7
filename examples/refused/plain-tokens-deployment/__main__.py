"""A model server with the token that loads its weights."""

import pulumi_kubernetes as k8s

labels = {"app": "llama"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=meta-llama/Llama-3.1-8B-Instruct", "--revision=0123456789abcdef0123456789abcdef01234567"],
    "env": [{"name": "HF_TOKEN", "value": "hf_ThisTokenIsFakeAndOpensNoDoorAtAll"}],
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
    "llama",
    metadata={"name": "llama", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
