"""A run that is cut off while it makes things, and what docs/state.md says to do then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from clouds.cloud import Cloud
from control_plane.plane import ControlPlane
from control_plane.processes import until
from engine.engine import Engine

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

GPUYARD = Path(sys.executable).with_name("gpuyard")
ROLE, VPC = "aws:iam/role:Role", "aws:ec2/vpc:Vpc"
SPACE = "/api/v1/namespaces/cut-off"


def cut_off(engine: Engine, cloud: Cloud) -> None:
    """Ends the engine at once, after the cloud has made everything and before it has said so."""
    cloud.delay(30)
    running = engine.start("up", "--skip-preview", "--yes")
    until(lambda: cloud.resources(ROLE) and cloud.resources(VPC), "the cloud has made what was asked")
    running.kill()
    cloud.delay(0)


def adopt(*arguments: object, code: int = 0) -> str:
    done = subprocess.run([GPUYARD, "adopt", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_what_was_made_and_not_noted_is_taken_over_and_nothing_is_made_twice(
    engine: Engine, cloud: Cloud, plane: ControlPlane
) -> None:
    cut_off(engine, cloud)
    assert "currently locked by 1 lock" in engine.up(expect_failure=True).output
    engine.pulumi("cancel", "--yes")
    given, mended = engine.folder / "interrupted.json", engine.folder / "mended.json"
    engine.pulumi("stack", "export", "--file", str(given))
    listed = adopt(given)
    [role], [vpc] = cloud.resources(ROLE), cloud.resources(VPC)
    assert f"id {role.id}" in listed
    assert "look for the tags Name=network, stack=dev" in listed
    [urn] = [line for line in listed.splitlines() if f"{VPC}::" in line]
    # The engine's import would forget the network, which is there.
    assert urn in adopt(given, "--out", mended, code=2)
    assert not mended.exists()
    adopt(given, "--out", mended, "--id", urn, vpc.id)
    engine.pulumi("stack", "import", "--file", str(mended))
    engine.pulumi("refresh", "--clear-pending-creates", "--yes", "--skip-preview")
    assert "pending_operations" not in engine.export()

    assert "replace" not in engine.up().changes
    assert [thing.id for thing in (*cloud.resources(ROLE), *cloud.resources(VPC))] == [role.id, vpc.id]
    assert engine.preview("--expect-no-changes").changes.keys() == {"same"}
    engine.destroy()
    assert cloud.left() == []


def test_an_object_that_is_made_again_is_still_this_stacks_alone(
    engine: Engine, cloud: Cloud, plane: ControlPlane
) -> None:
    engine.up()
    engine.pulumi("state", "remove", _urn(engine, "Namespace"), "--yes")
    # The engine knows nothing of it any more, as after a run that was cut off and a creation that was cleared. The
    # provider 4.34.2 makes what exists again only when it is told to, as docs/state.md does.
    engine.environment["PULUMI_K8S_UPSERT_EXISTING_OBJECTS"] = "true"
    engine.up()
    del engine.environment["PULUMI_K8S_UPSERT_EXISTING_OBJECTS"]
    [owner] = {entry["manager"] for entry in plane.get(SPACE)["metadata"]["managedFields"]}
    assert owner == "cut-off/dev"
    engine.pulumi("config", "set", "label", "second")
    engine.up()
    assert plane.get(SPACE)["metadata"]["labels"]["a"] == "second"
    engine.destroy()


def _urn(engine: Engine, kind: str) -> str:
    [urn] = [r["urn"] for r in engine.export()["resources"] if r["type"].endswith(f":{kind}")]
    return str(urn)
