"""Node groups of EKS."""

from __future__ import annotations

from collections.abc import Mapping

from gpuyard.review.disks import of_template
from gpuyard.review.node_group import NodeGroup, group_name, largest
from gpuyard.review.resources import LAUNCH_TEMPLATE, Resource, account_of, component_of, dependency, of_provider
from gpuyard.review.values import at, mapping, number, text
from gpuyard.review.windows import window_of


def eks_group(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    """Reads a managed node group, and the launch template that it depends on."""
    inputs = resource["inputs"]
    template = dependency(resource, by_urn, LAUNCH_TEMPLATE)
    template_inputs = template["inputs"] if template else {}
    scaling = mapping(inputs.get("scalingConfig"))
    reserved = bool(mapping(at(template_inputs, "capacityReservationSpecification", "capacityReservationTarget")))
    market = "spot" if inputs.get("capacityType") == "SPOT" else "reservation" if reserved else "on_demand"
    if inputs.get("capacityType") == "CAPACITY_BLOCK":
        market = "capacity_block"
    return NodeGroup(
        urn=resource["urn"],
        name=group_name(inputs.get("labels"), resource, by_urn),
        cloud="aws",
        region=text(inputs.get("region")) or of_provider(resource, by_urn, "region"),
        account=account_of(resource, by_urn),
        machine=largest(inputs.get("instanceTypes")) or text(template_inputs.get("instanceType")),
        machine_path="/instanceTypes",
        market=market,
        minimum=number(scaling.get("minSize")),
        initial=number(scaling.get("desiredSize")),
        maximum=number(scaling.get("maxSize")),
        reserved=_reserved_count(resource, by_urn) if reserved else None,
        window=window_of(component_of(resource, by_urn), market),
        disks=of_template(template_inputs),
    )


def _reserved_count(resource: Resource, by_urn: Mapping[str, Resource]) -> int | None:
    """The component around the group says how many machines the reservation has; EC2's own inputs do not."""
    return number(at(by_urn.get(resource["parent"]), "inputs", "capacity", "count"))
