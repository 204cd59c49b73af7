"""Judges what a recorded GKE node pool says of its capacity, its placement and its networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard import catalogue


def problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    """What GKE would refuse in a node pool of a cluster that is on a release channel."""
    if at(inputs, "management.autoUpgrade") is False:
        # The container API: "Auto_upgrade must be true when release_channel REGULAR is set".
        yield "/management/autoUpgrade: a cluster on a release channel needs it on"
    yield from _flex_start_problems(inputs)
    yield from _placement_problems(inputs)
    yield from _interface_problems(inputs)


def at(block: Any, path: str) -> Any:
    """What lies at a dotted path, or None."""
    for step in path.split("."):
        block = block.get(step) if isinstance(block, Mapping) else None
    return block


def _flex_start_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    """Rules of flex-start, and of queued provisioning. Source: cluster-toolkit@1047080, gke-node-pool/main.tf."""
    config = inputs.get("nodeConfig") or {}
    scaling, tpu = inputs.get("autoscaling") or {}, str(config.get("machineType", "")).startswith(("ct", "tpu"))
    queued, flex_start = bool(at(inputs, "queuedProvisioning.enabled")), bool(config.get("flexStart"))
    if not queued and not flex_start:
        return
    if config.get("spot"):
        yield "/nodeConfig/spot: excludes flexStart and queuedProvisioning"
    if at(config, "reservationAffinity.consumeReservationType") != "NO_RESERVATION":
        yield "/nodeConfig/reservationAffinity: flexStart and queuedProvisioning need NO_RESERVATION"
    if flex_start and at(inputs, "management.autoRepair") is not False:
        yield "/management/autoRepair: flexStart needs it off"
    if scaling.get("totalMinNodeCount") or scaling.get("minNodeCount") or "nodeCount" in inputs or not scaling:
        yield "/autoscaling: flexStart and queuedProvisioning start from no nodes"
    if inputs.get("upgradeSettings"):
        yield "/upgradeSettings: GKE makes it SHORT_LIVED with flexStart and queuedProvisioning, and that stays"
    if queued and (config.get("labels") or {}).get("cloud.google.com/gke-queued") != "true":
        yield "/nodeConfig/labels: queuedProvisioning needs cloud.google.com/gke-queued"
    if at(inputs, "placementPolicy.type") == "COMPACT" and not tpu:
        if queued:
            yield "/placementPolicy: queuedProvisioning excludes COMPACT"
        if flex_start and not str(config.get("machineType")).startswith(("a3-ultragpu-", "a4-", "h4d-")):
            yield "/placementPolicy: flexStart does not place this machine COMPACT"


def _placement_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    policy = inputs.get("placementPolicy") or {}
    machine = catalogue.machines().get((inputs.get("nodeConfig") or {}).get("machineType", ""))
    if policy.get("type") == "COMPACT":
        if len(inputs.get("nodeLocations") or []) != 1:
            yield "/placementPolicy: COMPACT is in one zone"
        if at(inputs, "upgradeSettings.strategy") == "BLUE_GREEN":
            yield "/placementPolicy: COMPACT excludes BLUE_GREEN"
    topology = policy.get("tpuTopology")
    if topology and machine:
        found = catalogue.slices(machine.name).get(topology)
        most = at(inputs, "autoscaling.maxNodeCount")
        if found is None or found.hosts != most:
            yield f"/placementPolicy/tpuTopology: {topology} of {machine.name} is no slice of {most} nodes"


def _interface_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    network = inputs.get("networkConfig") or {}
    profile, more = network.get("acceleratorNetworkProfile"), network.get("additionalNodeNetworkConfigs")
    if profile is not None and profile != "auto":
        yield f"/networkConfig/acceleratorNetworkProfile: {profile!r} is not auto, the only one"
    if profile and more:
        yield "/networkConfig: acceleratorNetworkProfile excludes additionalNodeNetworkConfigs"
    if more and len(more) > 8:
        yield "/networkConfig/additionalNodeNetworkConfigs: a node has eight more at the most"
