"""What is to be sized: an endpoint of a stack, or a model, an engine and a machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.throughput import decodings
from gpuyard.components.existing_platform import ExistingPlatformSpec
from gpuyard.components.gcp_platform import GcpPlatformSpec
from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.serving import template
from gpuyard.components.serving.load.bill import Site
from gpuyard.components.serving.load.roofline import Conditions
from gpuyard.components.serving.load.speed import weights_format
from gpuyard.components.serving.model import HubModel
from gpuyard.components.stack import load
from gpuyard.review.errors import InputError
from gpuyard.review.program import stackfile
from gpuyard.review.program.project import find_project


@dataclass(frozen=True, slots=True)
class Target:
    """One endpoint, as far as its size depends on it."""

    called: str
    engine: str
    accelerators: int
    """Of one replica."""
    site: Site
    zones: int
    model: str | None
    """Id of a model of a hub; None for one of a store."""
    weights: str | None
    """What the engine calls the format of the weights; as the model has it when None."""
    most: int | None = None
    """Replicas that the stack allows."""

    def conditions(self, tokens: tuple[int, int]) -> Conditions:
        """What the catalogue can tell its speed from, for so many tokens in and out. Raises ValueError."""
        if self.model is None:
            raise ValueError(
                f"{self.called}: its model lies in a store, and nobody publishes how fast such a one is: measure one "
                "replica with perf_analyzer, and give its table by --measured"
            )
        known = catalogue.model(self.model)
        if known is None and self.model not in decodings():
            raise ValueError(
                f"{self.called}: the catalogue does not know {self.model}: measure one replica, and give --measured"
            )
        if known and known.max_context and sum(tokens) > known.max_context:
            raise ValueError(
                f"{self.called}: {tokens[0]} tokens in and {tokens[1]} out are more than the {known.max_context} of "
                f"{self.model}: ask for fewer"
            )
        return Conditions(
            model=self.model,
            accelerator=self.site.machine.accelerator or "",
            accelerators=self.accelerators,
            engine=self.engine,
            weights=weights_format(self.weights, known.dtype if known else "bf16"),
            input=tokens[0],
            output=tokens[1],
        )


def of_stack(program: Path, stack: str | None, endpoint: str) -> Target:
    """An endpoint of a stack; of the only one that has it, where none is named. Raises InputError."""
    project = find_project(program)
    names = [stack] if stack else stackfile.stacks(project)
    found = [(name, spec) for name in names if endpoint in (spec := _platform(program, name)).endpoints]
    if not found:
        known = [f"{name}: {', '.join(_platform(program, name).endpoints) or 'none'}" for name in names]
        raise InputError(f"endpoint {endpoint!r} is in no stack: give one that is ({'; '.join(known)})")
    if len(found) > 1:
        stacks = ", ".join(name for name, _ in found)
        raise InputError(f"endpoint {endpoint!r} is in stacks {stacks}: say which by --stack")
    return _target(*found[0], endpoint)


def of_machine(
    model: str, engine: str, machine: str, *, region: str | None, market: str, tensor: int, quantization: str | None
) -> Target:
    """A model of a hub on a machine of the catalogue, without a stack. Raises InputError."""
    try:
        kind = catalogue.machine(machine)
        template.load(engine)
    except ValueError as error:
        raise InputError(str(error)) from error
    if not kind.accelerators:
        raise InputError(f"--machine {machine}: has no accelerator: give one that has")
    if region and region not in catalogue.regions():
        raise InputError(f"--region {region}: no such region is known: see `gpuyard machines {machine}`")
    site = Site(kind, kind.accelerators, region, market)
    return Target(f"{model} on {machine}", engine, tensor, site, 1, model, quantization)


def _platform(program: Path, stack: str) -> PlatformSpec:
    found = stackfile.read(find_project(program), stack).values.get(stackfile.PLATFORM)
    try:
        # As the program reads it: the SDK hands a mapping over as JSON.
        return load(json.loads(found) if found else None, stack)
    except ValueError as error:
        raise InputError(f"stack {stack}: {error}") from error


def _target(stack: str, platform: PlatformSpec, name: str) -> Target:
    spec = platform.endpoints[name]
    group, offer = platform.part(spec.on)
    if offer is None:
        raise InputError(f"stack {stack}: endpoints.{name}.on: {spec.on} has no accelerator")
    node_group: Any = platform.node_groups[group]
    way = _way(node_group)
    site = Site(
        machine=platform.machine(group),
        offered=offer.a_node,
        region=platform.region,
        market={"reservation": "on_demand", "": "on_demand"}.get(way, way),
        usd_hour=getattr(node_group, "usd_hour", None),
        shared=isinstance(platform, ExistingPlatformSpec),
    )
    model = spec.model.id if isinstance(spec.model, HubModel) and not offer.divided else None
    return Target(
        called=f"{name} of stack {stack}",
        engine=spec.engine,
        accelerators=spec.accelerators,
        site=site,
        zones=_zones(platform, node_group),
        model=model,
        weights=spec.quantization,
        most=spec.replicas.max,
    )


def _way(node_group: Any) -> str:
    """How its machines are paid for, the first way of several."""
    given = getattr(node_group, "capacity", None)
    first = given[0] if isinstance(given, list) else given
    return getattr(first, "kind", "") or ""


def _zones(platform: PlatformSpec, node_group: Any) -> int:
    """Zones that the group's nodes are spread over, as far as the stack says it."""
    given = getattr(node_group, "capacity", None)
    first = given[0] if isinstance(given, list) else given
    if getattr(first, "zone", None):
        return 1
    cluster: Any = platform.cluster
    if isinstance(platform, GcpPlatformSpec):
        return len(node_group.zones or cluster.zones)
    if isinstance(platform, ManagedPlatformSpec):
        return len(getattr(node_group, "zones", None) or cluster.network.zones)
    return 1
