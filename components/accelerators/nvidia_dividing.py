"""How the GPU Operator divides GPUs: a configuration each for slices and for sharing, chosen by labels of the nodes."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from gpuyard.components.node_groups.partition import Mig, Mps, TimeSlicing, configuration

WHOLE, UNCUT = "whole", "all-disabled"
"""What nodes get that carry no label: their GPUs as they are."""


def dividing_values(
    sliced: Collection[Mig],
    shared: Collection[Mps | TimeSlicing],
    driver: str,
    images: str | None,
    *,
    cuttable: bool = False,
) -> dict[str, Any]:
    """Values of gpu-operator for groups whose GPUs it divides, or, if any are `cuttable`, may have divided before.

    Empty where there are none. Nodes without a label of a cut get UNCUT by the operator (NVIDIA/gpu-operator@a22dbf6,
    controllers/nodelabeling_controller.go), and its manager makes their GPUs whole, or finds them so.

    What a configuration is called says all that is in it, so none ever changes: the operator's agents read one when
    its name in the node's label changes, and at no other time.
    """
    values: dict[str, Any] = {}
    if sliced:
        values["mig"] = {"strategy": "mixed" if any(part.mixed for part in sliced) else "single"}
    if sliced or cuttable:
        values["migManager"] = _manager(sliced, driver, images)
    if shared:
        data = {WHOLE: _text({"version": "v1"})}
        data |= {configuration(part): _text(sharing(part)) for part in shared}
        config = {"create": True, "name": "gpuyard-sharing", "default": WHOLE, "data": dict(sorted(data.items()))}
        values["devicePlugin"] = {"enabled": True, "config": config}
        if images:
            values["devicePlugin"]["repository"] = f"{images}/nvidia"
    return values


def slices(partitions: Collection[Mig]) -> dict[str, Any]:
    """What the operator's MIG manager reads."""
    cuts: dict[str, Any] = {UNCUT: [{"devices": "all", "mig-enabled": False}]}
    for part in partitions:
        whole = {"devices": "all", "mig-enabled": True, "mig-devices": dict(sorted(part.profiles.items()))}
        cuts[configuration(part)] = [whole]
    return {"version": "v1", "mig-configs": dict(sorted(cuts.items()))}


def sharing(partition: Mps | TimeSlicing) -> dict[str, Any]:
    """What the device plugin reads. A shared GPU gets a name of its own, and a container no more than one: two could be
    the same."""
    resource = {"name": "nvidia.com/gpu", "replicas": partition.clients}
    kind = "mps" if isinstance(partition, Mps) else "timeSlicing"
    rules = {"renameByDefault": True, "failRequestsGreaterThanOne": True, "resources": [resource]}
    return {"version": "v1", "sharing": {kind: rules}}


def _manager(sliced: Collection[Mig], driver: str, images: str | None) -> dict[str, Any]:
    config = {
        "create": True,
        "name": "gpuyard-slices",
        "default": UNCUT,
        "data": {"config.yaml": _text(slices(sliced))},
    }
    manager: dict[str, Any] = {"enabled": True, "config": config}
    if driver == "image":
        # In a virtual machine an A100 is not reset: it turns to slices when the node starts again. Source: NVIDIA, GPU
        # Operator with MIG; AWS, "Maximizing GPU utilization with NVIDIA's MIG on Amazon EKS".
        manager["env"] = [{"name": "WITH_REBOOT", "value": "true"}]
    if images:
        manager["repository"] = f"{images}/nvidia/cloud-native"
    return manager


def _text(config: Any) -> str:
    """JSON is YAML."""
    return json.dumps(config, indent=2)
