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
                "automount_service_account_token": False,
                "containers": [
                    {
                        "name": "vllm",
                        "image": "vllm/vllm-openai:v0.32.0",
                        "args": [
                            "--model=Qwen/Qwen3-8B",
                            "--revision=0123456789abcdef0123456789abcdef01234567",
                            "--download-dir=/models",
                        ],
                        "resources": {
                            "requests": {"cpu": "8", "memory": "32Gi"},
                            "limits": {"memory": "32Gi", "nvidia.com/gpu": "1"},
                        },
                        "security_context": {
                            "allow_privilege_escalation": False,
                            "capabilities": {"drop": ["ALL"]},
                            "read_only_root_filesystem": True,
                            "run_as_non_root": True,
                            "seccomp_profile": {"type": "RuntimeDefault"},
                        },
                        "volume_mounts": [{"name": "models", "mount_path": "/models"}],
                    },
                ],
                "volumes": [{"name": "models", "host_path": {"path": "/mnt/nvme/models"}}],
            },
        },
    },
)
