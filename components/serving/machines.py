"""What a machine of the catalogue can be used for, asked of what would refuse it in a stack."""

from __future__ import annotations

from gpuyard import catalogue
from gpuyard.components.node_groups import aws_spec
from gpuyard.components.serving import compatibility, template


def refusal(machine: catalogue.Machine) -> str | None:
    """Why no node group can have a machine, whatever else a stack says; None where one can."""
    if machine.cloud != "aws":
        return None
    found = [_of_system(machine, system) for system in aws_spec.SYSTEMS]
    return None if None in found else found[0]


def engines(machine: catalogue.Machine) -> tuple[str, ...]:
    """Engines of serving templates whose image is not known to fail on a machine."""
    if machine.resource is None or refusal(machine):
        return ()
    drivers = [_driver(machine, system) for system in aws_spec.SYSTEMS if not _of_system(machine, system)]
    return tuple(
        name
        for name in template.names()
        if machine.resource in template.load(name).accelerators
        and any(
            compatibility.image_problem(template.load(name).image, machine, driver) is None
            for driver in (drivers if machine.cloud == "aws" else [None])
        )
    )


def _of_system(machine: catalogue.Machine, system: str) -> str | None:
    """Why no group of EKS with that operating system, of its latest image, can have a machine."""
    refused = next(aws_spec.machine_refusals(machine, system), None)
    return refused or compatibility.group_problem(machine, _driver(machine, system))


def _driver(machine: catalogue.Machine, system: str) -> str | None:
    image = catalogue.eks_image(machine, system)
    newest = max(catalogue.eks_versions(), key=lambda version: int(version.partition(".")[2]))
    return catalogue.node_driver("aws", image, newest, machine=machine.name) if image else None
