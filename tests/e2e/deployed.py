"""A shipped stack between a control plane and a cloud of its own, and what of it is left behind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.cloud import Cloud
from clouds.existing import plant_named
from control_plane import kwok
from control_plane.plane import ControlPlane
from engine.charts import ChartMirror
from engine.engine import ROOT, Engine
from ruamel.yaml import YAML
from shipped_cluster import node_group

from gpuyard.components.aws_platform import AwsPlatformSpec
from gpuyard.components.gcp_platform import GcpPlatformSpec
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.stack import load

GPU_OPERATOR = {"clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"}

KEPT = GPU_OPERATOR | {
    "podmonitors.monitoring.coreos.com",
    "prometheusrules.monitoring.coreos.com",
    "servicemonitors.monitoring.coreos.com",
}
"""Kinds that Helm leaves behind: those of a chart's `crds/`."""


@dataclass
class Deployed:
    """One stack, and everything around it."""

    stack: str
    plane: ControlPlane
    cloud: Cloud
    engine: Engine
    before: set[str] = field(default_factory=set)
    """What the API server held before anything was deployed."""
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node to its labels before anything was deployed."""

    def objects(self) -> set[str]:
        """What the API server holds since the beginning."""
        return self.plane.inventory() - self.before

    def get(self, path: str) -> Any:
        """An object that must be there, by its path below the API's root."""
        found = self.plane.get(path)
        assert found is not None, f"{path} is not there"
        return found


@contextlib.contextmanager
def deployed(
    stack: str,
    folder: Path,
    charts: ChartMirror,
    *,
    edit: Callable[[Any], object] = lambda platform: None,
    bring: Callable[[ControlPlane, PlatformSpec], None] | None = None,
) -> Iterator[Deployed]:
    """The stage of one stack: nodes as its groups start with them, and nothing else.

    `edit` changes the stack's file first; `bring` brings other nodes.
    """
    with ControlPlane(folder / "plane") as plane:
        cloud = Cloud(folder / "cloud", plane.url, plane.certificate_authority)
        deployer = plane.token("deployer")
        cloud.login(deployer)
        described = (ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text()
        plant_named(cloud, described)
        platform = YAML(typ="safe", pure=True).load(described)["config"]["gpuyard:platform"]
        edit(platform)
        spec = load(platform, stack)
        (bring or bring_nodes)(plane, spec)
        engine = Engine(
            folder / "engine", stack, cloud=cloud, plane=plane, charts=charts,
            context=getattr(spec.cluster, "context", "unused"), token=deployer,
        )  # fmt: skip
        engine.edit(edit)
        try:
            yield Deployed(stack, plane, cloud, engine, plane.inventory(), node_labels(plane))
        finally:
            engine.kill_processes()


def node_labels(plane: ControlPlane) -> dict[str, dict[str, str]]:
    """Node to its labels."""
    return {node["metadata"]["name"]: node["metadata"]["labels"] for node in plane.get("/api/v1/nodes")["items"]}


def bring_nodes(plane: ControlPlane, spec: PlatformSpec) -> None:
    """The nodes of each group, as many as it starts with: clouds bring them labelled, a hall just has them."""
    if isinstance(spec, AwsPlatformSpec | GcpPlatformSpec):
        for group, part in spec.node_groups.items():
            node_group(plane, spec, group, max(part.nodes.start, 1))
        return
    for group, part in spec.node_groups.items():
        machine = spec.machine(group)
        capacity = {"cpu": str(machine.vcpus), "memory": f"{machine.memory_gib:.0f}Gi"}
        capacity[str(machine.resource)] = str(machine.accelerators)
        plane.apply(kwok.node(name, dict(part.selector), [], capacity) for name in _names(group, part))


def _names(group: str, part: Any) -> list[str]:
    return getattr(part, "names", []) or [f"{group}-{number}" for number in range(part.count)]
