"""NVIDIA's GPU Operator as its guide installs it."""

import pulumi_kubernetes as k8s

k8s.helm.v3.Release(
    "gpu-operator",
    chart="gpu-operator",
    version="v26.7.0",
    namespace="gpu-operator",
    repository_opts={"repo": "https://helm.ngc.nvidia.com/nvidia"},
    values={"driver": {"enabled": True}, "toolkit": {"enabled": True}},
)
