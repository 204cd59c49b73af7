"""Whether an endpoint's image runs on its node group's GPUs and driver, before anybody pays for a node to find out."""

from __future__ import annotations

from gpuyard import catalogue
from gpuyard.components.serving.spec import EndpointSpec


def group_problem(machine: catalogue.Machine, driver: str | None) -> str | None:
    """Why a driver cannot run the GPUs of a machine, whatever the image; None where nothing is known against it."""
    return _refusal(machine, driver, None)


def image_problem(name: str, machine: catalogue.Machine, driver: str | None) -> str | None:
    """Why an image, by its name in the catalogue, does not run on a machine with a driver; None where nothing is known
    against it."""
    image = catalogue.image(name)
    return _refusal(machine, driver, catalogue.runtime_of_image(image.repository, image.tag))


def endpoint_problem(
    spec: EndpointSpec, default_image: str, machine: catalogue.Machine, driver: str | None
) -> str | None:
    """Why an endpoint's image does not run on a machine with a driver, or None where nothing is known against it.

    `default_image` is the engine's, by its name in the catalogue. What holds for the group without the image is the
    group's own problem, and not said again.
    """
    refusal = _refusal(machine, driver, image_runtime(spec, default_image))
    return None if refusal == group_problem(machine, driver) else refusal


def image_runtime(spec: EndpointSpec, default_image: str) -> catalogue.ImageRuntime | None:
    """What the image of an endpoint is built for; None where that is not known, as of an image by digest alone."""
    if spec.image is None:
        image = catalogue.image(default_image)
        return catalogue.runtime_of_image(image.repository, image.tag)
    name, _, tag = spec.image.partition("@")[0].rpartition(":")
    return catalogue.runtime_of_image(name, tag)


def _refusal(machine: catalogue.Machine, driver: str | None, image: catalogue.ImageRuntime | None) -> str | None:
    if machine.accelerator is None:
        return None
    verdict = catalogue.runs_on(catalogue.accelerator(machine.accelerator), driver, image)
    return verdict.reason if verdict.status == "refused" else None
