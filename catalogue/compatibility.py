"""Which software runs on which accelerator: an image's CUDA, the node's driver, the GPU's generation.

CUDA's forward compatibility (a newer user-mode driver inside the image) is not counted on: NVIDIA supports it for some
pairs of branches only, and vLLM's image leaves it off. GKE's own drivers have no rows: no dated statement of which
driver belongs to which GKE version was found, so there the driver is not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from gpuyard.catalogue.hardware import Accelerator
from gpuyard.catalogue.tables import load

RUNTIMES = {"nvidia": "cuda", "amd": "rocm", "aws": "neuron"}
"""What images compute with on the accelerators of a vendor."""

DRIVER = re.compile(r"^[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}\Z")
"""A version of NVIDIA's driver, or its branch alone: 580 or 580.126.09."""


@dataclass(frozen=True, slots=True)
class ImageRuntime:
    """What a container image is built for."""

    repository: str
    """Path inside the registry: a mirror keeps it."""
    tag: str
    runtime: str
    """cuda, rocm or neuron."""
    version: str
    """Of the runtime: 13.0 is CUDA 13.0."""
    capability: str | None
    """Lowest CUDA compute capability that its publisher builds it for; None is not known."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class DriverSupport:
    """Which drivers and toolkits know a GPU."""

    gpu: str
    """An accelerator, or a generation of them."""
    first_driver: str | None
    last_driver: str | None
    """The last branch; None while support goes on."""
    first_cuda: str | None
    last_cuda: str | None
    """The last major version; None while support goes on."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an image runs on an accelerator with a driver."""

    status: Literal["ok", "refused", "unknown"]
    reason: str
    """Refused: both values, and what to do. Unknown: what is not known. Empty where all is well."""


OK = Verdict("ok", "")


def runs_on(accelerator: Accelerator, driver: str | None, image: ImageRuntime | None) -> Verdict:
    """Whether an image runs on an accelerator with a driver. A driver or an image that is not known is None.

    What is known to fail is refused, however little else is known; nothing that is not known is well.
    """
    if image and (other := _vendor(accelerator, image)):
        return other
    if image and image.runtime != "cuda":
        return Verdict("unknown", f"which driver {_runtime(image)} of {_name(image)} needs is not known")
    support = driver_support(accelerator)
    found = [
        image and _generation(accelerator, support, image),
        driver and support and _gpu(accelerator, support, driver),
        driver and image and _cuda(driver, image),
        _missing(accelerator, support, driver, image),
    ]
    verdicts = [verdict for verdict in found if isinstance(verdict, Verdict)]
    return next((v for v in verdicts if v.status == "refused"), next(iter(verdicts), OK))


def runtime_of_image(repository: str, tag: str) -> ImageRuntime | None:
    """What an image is built for, or None where that is not known. `repository` may begin with any registry."""
    names = repository.split("/")
    tails = ("/".join(names[i:]) for i in range(len(names)))
    return next((found for tail in tails if (found := image_runtimes().get((tail, tag)))), None)


def driver_support(accelerator: Accelerator) -> DriverSupport | None:
    """What is known of drivers for an accelerator: by itself, else by its generation."""
    known = driver_supports()
    return known.get(accelerator.name) or known.get(accelerator.generation)


@cache
def image_runtimes() -> Mapping[tuple[str, str], ImageRuntime]:
    """Every image whose runtime is known, by repository and tag."""
    return load("image_runtimes.csv", _image)


@cache
def driver_supports() -> Mapping[str, DriverSupport]:
    """Every accelerator and generation of which it is known."""
    return load("driver_support.csv", _support)


@cache
def cuda_drivers() -> Mapping[str, str]:
    """The least driver of each major version of CUDA, through minor version compatibility."""
    return load("cuda.csv", lambda row: (row["major"], row["driver"]))


def _vendor(accelerator: Accelerator, image: ImageRuntime) -> Verdict | None:
    needed = RUNTIMES.get(accelerator.vendor)
    if needed is None:
        return Verdict("unknown", f"what images compute with on {accelerator.name} is not known")
    if needed == image.runtime:
        return None
    return Verdict(
        "refused",
        f"{_name(image)} is built for {_runtime(image)}, and {accelerator.name} computes with {needed}: give an image "
        f"that is built for {needed}, or a node group that the image runs on",
    )


def _generation(accelerator: Accelerator, support: DriverSupport | None, image: ImageRuntime) -> Verdict | None:
    what = f"{accelerator.name} (compute capability {accelerator.compute_capability})"
    other = "give an older image, or a node group with newer GPUs"
    if (
        image.capability
        and accelerator.compute_capability
        and _before(accelerator.compute_capability, image.capability)
    ):
        return Verdict(
            "refused", f"{_name(image)} runs from compute capability {image.capability} on, and not on {what}: {other}"
        )
    if support and support.last_cuda and _major(image.version) > int(support.last_cuda):
        return Verdict(
            "refused",
            f"{_name(image)} has {_runtime(image)}, and CUDA {support.last_cuda} is the last for {what}: {other}",
        )
    if support and support.first_cuda and _before(image.version, support.first_cuda):
        return Verdict(
            "unknown",
            f"{_name(image)} has {_runtime(image)}, and {support.first_cuda} is the first that knows {what}: it runs "
            "only if it is compiled for later GPUs too",
        )
    return None


def _gpu(accelerator: Accelerator, support: DriverSupport, driver: str) -> Verdict | None:
    if support.last_driver and _before(support.last_driver, driver.split(".")[0]):
        return Verdict(
            "refused",
            f"the driver is {driver}, and {support.last_driver} is the last for {accelerator.name}: keep the nodes on "
            f"{support.last_driver}, or choose another machine",
        )
    if not support.first_driver:
        return None
    if _before(driver, support.first_driver):
        return Verdict(
            "refused",
            f"the driver is {driver}, and {accelerator.name} needs {support.first_driver} or later: give its nodes a "
            "newer driver, or choose another machine",
        )
    return _unsure(driver, support.first_driver, accelerator.name)


def _cuda(driver: str, image: ImageRuntime) -> Verdict | None:
    needed = cuda_drivers().get(str(_major(image.version)))
    if needed is None:
        return Verdict("unknown", f"which driver {_runtime(image)} of {_name(image)} needs is not known")
    if _before(driver, needed):
        return Verdict(
            "refused",
            f"{_name(image)} has {_runtime(image)}, which needs driver {needed} or later, and the driver is {driver}: "
            "give the nodes a newer driver, or an image that is built for an older CUDA",
        )
    return _unsure(driver, needed, f"{_runtime(image)} of {_name(image)}")


def _unsure(driver: str, needed: str, what: str) -> Verdict | None:
    """A branch alone does not tell whether a version of it is late enough."""
    branch = driver.split(".")
    if needed.split(".")[: len(branch)] == branch and len(branch) < len(needed.split(".")):
        return Verdict("unknown", f"{what} needs driver {needed} or later, and only its branch, {driver}, is known")
    return None


def _missing(
    accelerator: Accelerator, support: DriverSupport | None, driver: str | None, image: ImageRuntime | None
) -> Verdict | None:
    if image is None:
        return Verdict("unknown", "what the image is built for is not known")
    if driver is None:
        return Verdict("unknown", "the driver of the nodes is not known")
    if support is None:
        return Verdict("unknown", f"which drivers know {accelerator.name} is not known")
    return None


def _before(version: str, other: str) -> bool:
    """Whether a version is certainly before another; what one of them leaves out is not compared."""
    pairs = zip(map(int, version.split(".")), map(int, other.split(".")), strict=False)
    return next((a < b for a, b in pairs if a != b), False)


def _major(version: str) -> int:
    return int(version.split(".")[0])


def _name(image: ImageRuntime) -> str:
    return f"image {image.repository}:{image.tag}"


def _runtime(image: ImageRuntime) -> str:
    return f"{'CUDA' if image.runtime == 'cuda' else image.runtime} {image.version}"


def _image(columns: dict[str, str]) -> tuple[tuple[str, str], ImageRuntime]:
    row = ImageRuntime(**columns | {"capability": columns["capability"] or None})  # type: ignore[arg-type]
    return (row.repository, row.tag), row


def _support(columns: dict[str, str]) -> tuple[str, DriverSupport]:
    row = DriverSupport(
        gpu=columns["gpu"],
        first_driver=columns["first_driver"] or None,
        last_driver=columns["last_driver"] or None,
        first_cuda=columns["first_cuda"] or None,
        last_cuda=columns["last_cuda"] or None,
        source=columns["source"],
        date=columns["date"],
    )
    return row.gpu, row
