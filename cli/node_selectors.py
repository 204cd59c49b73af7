"""Finds the labels by which pods get to some nodes of a cluster, and to no others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from operator import and_

from gpuyard.cli.nodes import Node

PREFERRED = (
    "gpuyard.io/node-group",
    "node.kubernetes.io/instance-type",
    "nvidia.com/gpu.product",
    "gpu.nvidia.com/model",
    "nebius.com/gpu-name",
    "amd.com/gpu.product-name",
    "amd.com/gpu.device-id",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-tpu-topology",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "compute.coreweave.com/node-pool",
    "nebius.com/node-group-id",
)
"""Labels that say what a node is, or which pool it is of: the first to take. Sources: Kubernetes, well-known labels;
GPU Feature Discovery; the node labels of EKS, Karpenter, GKE, AKS, CoreWeave and Nebius."""

PASSING = re.compile(
    r"^(kubernetes\.io/hostname|beta\.kubernetes\.io/.*|failure-domain\..*|topology\..*|feature\.node\.kubernetes\.io/.*)$"
    r"|version|driver|cuda|kernel|image|timestamp|uuid|clique|hash|hostname|gpu\.deploy|upgrade|checkpoint|csi",
    re.IGNORECASE,
)
"""Labels that are of one node, or that an upgrade changes: pods would lose their nodes by it."""

MOST = 4
"""Labels of a selector: whoever needs more has nodes that nobody tells apart."""


def selector(group: Sequence[Node], cluster: Iterable[Node], first: str | None = None) -> dict[str, str] | None:
    """The fewest labels that all nodes of the group have together, and no other node of the cluster; None where there
    are none. `first` is a label to prefer to all others."""
    inside = {node.name for node in group}
    outside = [node for node in cluster if node.name not in inside]
    common = set.intersection(*(set(node.labels.items()) for node in group))
    order = {key: rank for rank, key in reversed([*enumerate((first, *PREFERRED))])}
    candidates = sorted(
        (label for label in common if label[0] in order or not PASSING.search(label[0])),
        key=lambda label: (order.get(label[0], len(order)), label),
    )
    # By the nodes outside that have it too, as bits of a number: of labels that are equal there the first will do.
    useful: dict[int, tuple[str, str]] = {}
    for key, value in candidates:
        useful.setdefault(sum(1 << i for i, node in enumerate(outside) if node.labels.get(key) == value), (key, value))
    for size in range(1, MOST + 1):
        for chosen in combinations(useful, size):
            if not reduce(and_, chosen):
                return dict(useful[mask] for mask in chosen)
    return None
