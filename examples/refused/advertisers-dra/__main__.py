"""NVIDIA's GPU Operator, and its driver of dynamic resource allocation for jobs that span the nodes of one NVLink."""

import pulumi_kubernetes as k8s

REPOSITORY = {"repo": "https://helm.ngc.nvidia.com/nvidia"}

k8s.helm.v3.Release(
    "gpu-operator",
    chart="gpu-operator",
    version="v26.7.0",
    namespace="gpu-operator",
    repository_opts=REPOSITORY,
    values={
        "driver": {"enabled": False},
        "toolkit": {"env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}]},
    },
)
k8s.helm.v3.Release(
    "dra",
    chart="nvidia-dra-driver-gpu",
    version="25.12.0",
    namespace="gpu-operator",
    repository_opts=REPOSITORY,
    values={
        # Or the chart refuses to be installed.
        "gpuResourcesEnabledOverride": True,
    },
)
