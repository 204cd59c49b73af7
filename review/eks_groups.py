"""Node groups of EKS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.review import upgrades
from gpuyard.review.disks import of_template
from gpuyard.review.node_group import NodeGroup, group_name, largest, others
from gpuyard.review.resources import LAUNCH_TEMPLATE, Resource, account_of, component_of, of_provider
from gpuyard.review.values import at, mapping, number, text
from gpuyard.review.windows import window_of

DEFAULT_MACHINE = "t3.medium"
"""What a group has that names no machine, nor its launch template. Source: EKS API, CreateNodegroup, instanceTypes."""


def eks_group(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    """Reads a managed node group, and the launch template that it depends on."""
    inputs = resource["inputs"]
    template = _template(resource, by_urn)
    template_inputs = template["inputs"] if template else {}
    scaling = mapping(inputs.get("scalingConfig"))
    target = mapping(at(template_inputs, "capacityReservationSpecification", "capacityReservationTarget"))
    reserved = bool(target)
    market = "spot" if inputs.get("capacityType") == "SPOT" else "reservation" if reserved else "on_demand"
    if inputs.get("capacityType") == "CAPACITY_BLOCK":
        market = "capacity_block"
    machine = _machine(inputs, template_inputs if template or "launchTemplate" not in inputs else None)
    most = number(scaling.get("maxSize"))
    return NodeGroup(
        urn=resource["urn"],
        name=group_name(inputs.get("labels"), resource, by_urn),
        cloud="aws",
        region=text(inputs.get("region")) or of_provider(resource, by_urn, "region"),
        account=account_of(resource, by_urn),
        machine=machine,
        machine_path="/instanceTypes",
        also=others(inputs.get("instanceTypes"), machine, most),
        market=market,
        minimum=number(scaling.get("minSize")),
        initial=number(scaling.get("desiredSize")),
        maximum=most,
        reserved=_reserved_count(resource, by_urn) if reserved else None,
        reservations=(text(target.get("capacityReservationId")),) if reserved else (),
        window=window_of(component_of(resource, by_urn), market),
        disks=of_template(template_inputs),
        surge=upgrades.of_eks(inputs, most),
    )


def _template(resource: Resource, by_urn: Mapping[str, Resource]) -> Resource | None:
    """The launch template of a group; None where it depends on several, and nobody knows which one it names. That of
    its own component comes before others."""
    named = [by_urn[urn] for urn in resource["options"].get("depends_on", []) if urn in by_urn]
    found = [one for one in named if one["type"] == LAUNCH_TEMPLATE]
    if component_of(resource, by_urn):
        found = [one for one in found if one["parent"] == resource["parent"]] or found
    return found[0] if len(found) == 1 else None


def _machine(inputs: Mapping[str, Any], template: Mapping[str, Any] | None) -> str | None:
    """The largest machine that a group names, or its template; None where either is not known, as a template is that
    another program has made."""
    if "instanceTypes" in inputs and inputs["instanceTypes"] != []:
        return largest(inputs["instanceTypes"])
    if template is None or "instanceRequirements" in template:
        return None
    return text(template.get("instanceType", DEFAULT_MACHINE))


def _reserved_count(resource: Resource, by_urn: Mapping[str, Resource]) -> int | None:
    """The component around the group says how many machines the reservation has; EC2's own inputs do not."""
    return number(at(by_urn.get(resource["parent"]), "inputs", "capacity", "count"))
