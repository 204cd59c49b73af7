"""A model server that is always up to date."""

import pulumi_kubernetes as k8s

labels = {"app": "qwen3-8b"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:latest",
    "args": ["--model=Qwen/Qwen3-8B"],
    "resources": {"limits": {"nvidia.com/gpu": "1"}},
}

k8s.apps.v1.Deployment(
    "qwen3-8b",
    metadata={"name": "qwen3-8b", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [server]}},
    },
)
