"""How near the nodes of a group are to each other, for jobs whose pods talk: Kueue's Topology objects.

Kueue places the pods of a job on nodes that are there, and never waits for an autoscaler. So only a group of fixed size
has a topology; with one that starts at no node its jobs would wait for ever (Kueue, "Topology Aware Scheduling").
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuyard import catalogue
from gpuyard.components.spec import Manifest

API = "kueue.x-k8s.io/v1beta2"

HOSTNAME = "kubernetes.io/hostname"
"""The last level: with it Kueue knows each node, its taints, and which to replace when it fails."""

MOST = 15
"""Levels above the node. Source: Kueue, Topology: sixteen with it."""

AWS = "topology.k8s.aws/network-node-layer-"
"""Beginning of the labels that name layers of EC2's network; 1 is the farthest. Source: kubernetes/cloud-provider-aws,
pkg/providers/v1/well_known_labels.go."""

GCP = (
    "cloud.google.com/gce-topology-block",
    "cloud.google.com/gce-topology-subblock",
    "cloud.google.com/gce-topology-host",
)
"""Labels of GKE nodes that are placed together. Source: docs.cloud.google.com/ai-hypercomputer, "Run NCCL on custom GKE
clusters that use A3 Mega or A3 High"."""

REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
ASKS = (REQUIRED, PREFERRED, UNCONSTRAINED)
"""Annotations of a pod template, one of which says how near its pods are to be."""


def aws_levels(machine: str) -> tuple[str, ...]:
    """Labels of an EC2 machine's nodes that name its place, the farthest first; none where EC2 does not report it."""
    return tuple(f"{AWS}{layer}" for layer in range(1, catalogue.network_layers(machine) + 1))


def name(levels: Sequence[str]) -> str:
    """The Topology of these levels. Kueue never lets its levels change, so others have another name."""
    return f"levels-{digest(list(levels))}"


def topologies(levels: Iterable[Sequence[str]]) -> list[Manifest]:
    """A Topology for each different list of levels; groups without any need none."""
    return [
        {
            "apiVersion": API,
            "kind": "Topology",
            "metadata": {"name": name(each)},
            "spec": {"levels": [{"nodeLabel": label} for label in [*each, HOSTNAME]]},
        }
        for each in dict.fromkeys(tuple(each) for each in levels)
        if each
    ]


def refusals(levels: Sequence[str]) -> Iterator[str]:
    """Why labels that somebody lists could not be the levels of a topology."""
    if len(levels) > MOST:
        yield f"topology names {len(levels)} labels, and Kueue takes {MOST}: leave out those that tell no nodes apart"
    if twice := sorted({label for label in levels if levels.count(label) > 1}):
        yield f"topology names {', '.join(twice)} twice: give each label once, the farthest level first"
    if HOSTNAME in levels:
        yield f"topology names {HOSTNAME}, which is always its last level: leave it out"


def digest(content: Any) -> str:
    """Six characters that follow from a content: for the name of an object that the API server lets nobody change."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:6]
