"""A model by vLLM's own chart. With all privileges, for a start; then we take them away one by one."""

import pulumi_kubernetes as k8s

k8s.helm.v3.Release(
    "llama",
    chart="vllm-stack",
    version="0.1.12",
    namespace="assistants",
    repository_opts={"repo": "https://vllm-project.github.io/production-stack"},
    values={
        "servingEngineSpec": {
            "containerSecurityContext": {"privileged": True},
            "modelSpec": [
                {
                    "name": "llama",
                    "repository": "vllm/vllm-openai",
                    "tag": "v0.32.0",
                    "modelURL": "meta-llama/Llama-3.1-8B-Instruct",
                    "vllmConfig": {"extraArgs": ["--revision=0123456789abcdef0123456789abcdef01234567"]},
                    "replicaCount": 1,
                    "requestGPU": 1,
                },
            ],
        },
    },
)
