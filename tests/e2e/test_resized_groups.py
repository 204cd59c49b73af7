"""The limits of a group on EKS are edited while the autoscaler has another number of nodes than it began with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from clouds.client import Client
from clouds.cloud import Cloud
from clouds.estate import GROUP, Eks
from clouds.package import package
from engine.engine import ROOT, Engine
from ruamel.yaml import YAML

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = ROOT / "tests" / "programs" / "autoscaled"


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud", "https://127.0.0.1:6443", "the certificate")


@pytest.fixture
def engine(tmp_path: Path, cloud: Cloud) -> Iterator[Engine]:
    made = Engine(tmp_path / "engine", cloud=cloud, program=PROGRAM)
    try:
        with Client(package("aws"), cloud, region="us-east-1") as client:
            eks = Eks(client)
        given = {"cluster": eks.cluster.id, "role": eks.nodes.outputs["arn"], "subnet": eks.subnets[0].id}
        configure(made, {**given, "min": 1, "max": 6})
        made.up()
        yield made
    finally:
        made.kill_processes()


def configure(engine: Engine, given: Mapping[str, object]) -> None:
    """Edits the stack's file."""
    engine.pulumi("config", "set-all", *(f"--plaintext={key}={value}" for key, value in given.items()))


def sizes(cloud: Cloud) -> tuple[int, int, int]:
    """Least, present and largest number of nodes."""
    [group] = [thing for thing in cloud.resources(GROUP) if "l40s" in thing.id]
    found = group.inputs["scalingConfig"]
    return found["minSize"], found["desiredSize"], found["maxSize"]


def scale(cloud: Cloud, low: int, now: int, high: int) -> None:
    """What the autoscaler does, or somebody with `aws eks update-nodegroup-config`."""
    [group] = [thing for thing in cloud.resources(GROUP) if "l40s" in thing.id]
    cloud.drift(GROUP, group.id, {"scalingConfig": {"minSize": low, "desiredSize": now, "maxSize": high}})


def test_an_edit_of_the_limits_ends_no_node_as_long_as_the_engine_asks_first(engine: Engine, cloud: Cloud) -> None:
    assert sizes(cloud) == (1, 1, 6)
    scale(cloud, 1, 6, 6)
    configure(engine, {"max": 8})
    engine.up("--refresh")
    assert sizes(cloud) == (1, 6, 8)
    # More at least than there are: first in the cloud, then in the file, as docs/changing.md has it.
    configure(engine, {"min": 7})
    assert "can't be greater than desired size 6" in engine.up("--refresh", expect_failure=True).output
    scale(cloud, 7, 7, 8)
    engine.up("--refresh")
    assert sizes(cloud) == (7, 7, 8)
    # The engine would put the last number that it knows in the place of the present one.
    scale(cloud, 7, 8, 8)
    configure(engine, {"max": 9})
    engine.up("--refresh=false")
    assert sizes(cloud) == (7, 7, 9)


def test_the_project_has_the_engine_always_ask_first() -> None:
    assert YAML(typ="safe", pure=True).load((ROOT / "Pulumi.yaml").read_text())["options"] == {"refresh": "always"}
