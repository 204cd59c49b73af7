"""A model server with the token that loads its weights."""

import pulumi_kubernetes as k8s

labels = {"app": "llama"}
server = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=meta-llama/Llama-3.1-8B-Instruct"],
    "env": [{"name": "HF_TOKEN", "value": "hf_ThisTokenIsFakeAndOpensNoDoorAtAll"}],
    "resources": {"limits": {"nvidia.com/gpu": "1"}},
}

k8s.apps.v1.Deployment(
    "llama",
    metadata={"name": "llama", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [server]}},
    },
)
