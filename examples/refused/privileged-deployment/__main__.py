"""A model server. The weights stay on the node's disk, so that a new pod need not load them again."""

import pulumi_kubernetes as k8s

labels = {"app": "qwen3-8b"}

k8s.apps.v1.Deployment(
    "qwen3-8b",
    metadata={"name": "qwen3-8b", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [
                    {
                        "name": "vllm",
                        "image": "vllm/vllm-openai:v0.32.0",
                        "args": ["--model=Qwen/Qwen3-8B", "--download-dir=/models"],
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                        "volume_mounts": [{"name": "models", "mount_path": "/models"}],
                    },
                ],
                "volumes": [{"name": "models", "host_path": {"path": "/mnt/nvme/models"}}],
            },
        },
    },
)
