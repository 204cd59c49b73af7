"""NVIDIA's operator at the version that was new when the cluster was built."""

import pulumi_kubernetes as k8s

k8s.helm.v3.Release(
    "gpu-operator",
    chart="gpu-operator",
    version="v25.10.1",
    namespace="gpu-operator",
    repository_opts={"repo": "https://helm.ngc.nvidia.com/nvidia"},
    values={
        "toolkit": {
            "env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}],
        },
    },
)
