"""EKS's images: for which machines they are, and which driver a release of one brings to them."""

from __future__ import annotations

import datetime
import fnmatch

import pytest
from botocore.loaders import Loader

from gpuyard import catalogue
from gpuyard.catalogue.node_images import node_drivers

AL2023, BOTTLEROCKET = "AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA"


@pytest.mark.parametrize(
    ("image", "kubernetes", "machine", "release", "driver"),
    [
        (AL2023, "1.36", "p5.48xlarge", None, "580"),
        (AL2023, "1.36", "p5.48xlarge", "1.36.2-20260714", "580.159.03"),
        (AL2023, "1.36", "p5.48xlarge", "v20260714", "580.159.03"),
        (AL2023, "1.35", "p5.48xlarge", "1.35.2-20260505", "580.126.09"),
        (AL2023, "1.35", "p5.48xlarge", "1.35.4-20260512", "580"),
        (AL2023, "1.34", "p5.48xlarge", "1.34.1-20251023", "580.95.05"),
        (AL2023, "1.33", "p5.48xlarge", "1.33.5-20251023", None),
        (AL2023, "1.34", "p5.48xlarge", "1.34.1-20251016", "570.195.03"),
        (AL2023, "1.33", "p5.48xlarge", "1.33.1-20250519", None),
        (AL2023, "1.36", "g7.2xlarge", None, "595"),
        (AL2023, "1.36", "g7.2xlarge", "1.36.3-20260917", "595"),
        (AL2023, "1.36", "g7.2xlarge", "1.36.2-20260714", "580.159.03"),
        (AL2023, "1.36", "g6f.xlarge", "1.36.3-20260917", "580"),
        (BOTTLEROCKET, "1.33", "p5.48xlarge", "1.52.0-6154605b", None),
        (BOTTLEROCKET, "1.33", "p5.48xlarge", "v1.53.0", "580"),
        (BOTTLEROCKET, "1.34", "p5.48xlarge", "1.47.0-6154605b", "580"),
        (f"{BOTTLEROCKET}_FIPS", "1.35", "", None, "580"),
        (AL2023, "1.36", "p5.48xlarge", "latest", None),
        ("AL2023_x86_64_STANDARD", "1.35", "m7i.large", None, None),
    ],
)
def test_a_driver_follows_from_image_release_and_machine(
    image: str, kubernetes: str, machine: str, release: str | None, driver: str | None
) -> None:
    assert catalogue.node_driver("aws", image, kubernetes, machine=machine, release=release) == driver


def test_nobody_says_which_driver_gke_brings_and_the_operators_chart_does() -> None:
    assert catalogue.node_driver("gcp", "COS_CONTAINERD", "1.35") is None
    chart = catalogue.chart("gpu-operator").version
    assert catalogue.node_driver("operator", chart, "1.35"), f"the driver of chart {chart} needs a row"


@pytest.mark.parametrize(
    ("machine", "system", "image"),
    [
        ("m7i.large", "al2023", "AL2023_x86_64_STANDARD"),
        ("g7.2xlarge", "al2023", AL2023),
        ("g7.2xlarge", "bottlerocket", None),
        ("g6f.xlarge", "bottlerocket", BOTTLEROCKET),
        ("p6e-gb200.36xlarge", "al2023", "AL2023_ARM_64_NVIDIA"),
        ("p6e-gb200.36xlarge", "bottlerocket", None),
        ("trn2u.48xlarge", "al2023", "AL2023_x86_64_NEURON"),
        ("dl1.24xlarge", "al2023", None),
        ("dl2q.24xlarge", "al2023", None),
    ],
)
def test_an_image_is_for_the_machines_that_eks_lists(machine: str, system: str, image: str | None) -> None:
    assert catalogue.eks_image(catalogue.machine(machine), system) == image


def test_images_are_as_eks_calls_them_and_for_machines_of_ec2() -> None:
    model = Loader().load_service_model("ec2", "service-2")
    machines = model["shapes"]["InstanceType"]["enum"]
    types = Loader().load_service_model("eks", "service-2")["shapes"]["AMITypes"]["enum"]
    for image in catalogue.eks_images().values():
        assert image.name in types
        assert [p for p in image.machines if not fnmatch.filter(machines, p)] == []


def test_every_row_has_a_source_and_a_day() -> None:
    for row in (*node_drivers().values(), *catalogue.eks_images().values()):
        assert row.source
        datetime.date.fromisoformat(row.date)
