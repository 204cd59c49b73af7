"""GKE's ComputeClass: the order in which it tries the node pools of one group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuyard.components.node_groups.base import Taint
from gpuyard.components.spec import Manifest

LABEL = "cloud.google.com/compute-class"
"""The label and the taint of a class's nodes, and what pods select a class by. Source: GKE, custom ComputeClasses."""


def labels(name: str) -> dict[str, str]:
    """The label of a class's nodes, and of its pods' node selector."""
    return {LABEL: name}


def taint(name: str) -> Taint:
    """The taint by which GKE knows a node pool that was made by hand for a class's own."""
    return Taint(key=LABEL, value=name)


def manifest(name: str, pools: Sequence[Any]) -> Manifest:
    """The class called `name`: pools are tried in this order; their names may be Outputs.

    Pools are named and not left to GKE to make, because a pool that it makes has no limit that cost and quota could be
    judged by. Pods wait where no pool has room, instead of getting any other node.
    """
    return {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": name},
        "spec": {
            "priorities": [{"nodepools": [pool]} for pool in pools],
            "nodePoolAutoCreation": {"enabled": False},
            "whenUnsatisfiable": "DoNotScaleUp",
        },
    }
