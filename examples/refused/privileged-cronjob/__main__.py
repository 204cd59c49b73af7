"""Runs NVIDIA's diagnosis on a GPU every night."""

import pulumi_kubernetes as k8s

diagnosis = {
    "name": "diagnosis",
    "image": "nvcr.io/nvidia/cloud-native/dcgm:4.6.0-1-ubuntu24.04",
    "command": ["dcgmi", "diag", "--run", "2"],
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi", "nvidia.com/gpu": "1"}},
    "security_context": {"privileged": True},
}
pod = {"host_pid": True, "restart_policy": "Never", "containers": [diagnosis]}

k8s.batch.v1.CronJob(
    "gpu-diagnosis",
    metadata={"name": "gpu-diagnosis", "namespace": "training"},
    spec={
        "schedule": "0 3 * * *",
        "job_template": {"spec": {"active_deadline_seconds": 3600, "template": {"spec": pod}}},
    },
)
