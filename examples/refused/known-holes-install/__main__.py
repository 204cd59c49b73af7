"""Weights that are converted by a script of a colleague, with the libraries of its time."""

import pulumi_kubernetes as k8s

labels = {"app": "convert"}
server = {
    "name": "convert",
    "image": "docker.io/library/python:3.12",
    "command": ["bash", "-c", "pip install torch==2.5.1 safetensors && python /scripts/convert.py"],
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "8", "memory": "32Gi"}, "limits": {"memory": "32Gi"}},
}

k8s.apps.v1.Deployment(
    "convert",
    metadata={"name": "convert", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
