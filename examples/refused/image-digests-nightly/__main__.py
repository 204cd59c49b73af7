"""An exporter with a fix that is not released yet."""

import pulumi_kubernetes as k8s

labels = {"app": "exporter"}
server = {
    "name": "exporter",
    "image": "quay.io/prometheus/node-exporter:master",
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
}

k8s.apps.v1.Deployment(
    "exporter",
    metadata={"name": "exporter", "namespace": "assistants"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"automount_service_account_token": False, "containers": [server]},
        },
    },
)
