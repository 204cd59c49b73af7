"""Clouds that throttle, do not answer, or whose answer is lost; then what docs/state.md says, and nothing leaks."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from agreement import CLOUDS, disagreements
from clouds.cloud import Cloud, Thing
from control_plane.processes import until
from deployed import deployed
from engine.charts import ChartMirror
from engine.engine import Engine, Running

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(900)]

ROLE, VPC = "aws:iam/role:Role", "aws:ec2/vpc:Vpc"

TRIES = 15
"""Runs in which a stack is up, or gone, with a fault or two in each."""


def strays(engine: Engine, cloud: Cloud) -> list[Thing]:
    """What exists, and whose id the stack's state does not have."""
    resources = engine.export().get("resources", [])
    known = {(r["type"], r["id"]) for r in resources if r["type"].startswith(CLOUDS)}
    return [thing for thing in cloud.left() if (thing.kind, thing.id) not in known]


def test_what_was_made_when_the_answer_was_lost_is_found_and_made_once(engine: Engine, cloud: Cloud) -> None:
    cloud.fail("create", ROLE, "throttle", 3)
    cloud.fail("create", VPC, "lose")
    assert "the connection was reset" in engine.up(expect_failure=True).output
    assert [call.outcome for call in cloud.calls("create", ROLE)] == ["throttled"] * 3 + ["done"]
    assert "pending_operations" not in engine.export(), "the engine takes it for a creation that failed"

    [lost] = strays(engine, cloud)
    assert (lost.kind, lost.inputs["tags"]["stack"]) == (VPC, "dev"), "it is found by its tag"
    cloud.remove(lost)
    engine.up()
    assert strays(engine, cloud) == []
    assert len(cloud.left()) == 2

    cloud.fail("delete", VPC, "lose")
    cloud.fail("delete", ROLE, "throttle", 9)
    assert "Rate exceeded" in engine.destroy(expect_failure=True).output
    engine.destroy()
    assert cloud.left() == []


def test_a_run_whose_cloud_does_not_answer_is_interrupted_and_the_next_goes_on(engine: Engine, cloud: Cloud) -> None:
    cloud.fail("create", ROLE, "hang")
    running = engine.start("up", "--skip-preview", "--yes")
    until(
        lambda: cloud.calls("create", ROLE) and _noted(running, VPC), "all is done but what the cloud does not answer"
    )
    os.kill(running.id, signal.SIGINT)
    run = running.wait()
    assert run.code != 0
    assert "the operation was cancelled" in run.output
    engine.up()
    assert strays(engine, cloud) == []
    assert len(cloud.left()) == 2


def _noted(running: Running, kind: str) -> bool:
    """Whether the engine knows the end of what it did with a resource of this type."""
    done = [event["resOutputsEvent"]["metadata"]["urn"] for event in running.events() if "resOutputsEvent" in event]
    return any(f"::{kind}::" in urn for urn in done)


@pytest.mark.parametrize(("stack", "seed"), [("prod-aws", 0), ("prod-aws", 1), ("dev", 0), ("dev", 1)])
def test_a_stack_whose_cloud_fails_here_and_there_is_up_and_gone_in_the_end(
    stack: str, seed: int, tmp_path: Path, charts: ChartMirror
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test is repeated by its number
    with deployed(stack, tmp_path, charts) as there:
        engine, cloud = there.engine, there.cloud
        engine.edit(lambda platform: platform.update(protect=False))
        prefix = "aws" if stack == "prod-aws" else "gcp"
        planned = engine.preview().operations()
        kinds = sorted({urn.split("::")[2].rpartition("$")[2] for urn in planned if f"${prefix}:" in urn})
        for operation in ("create", "delete"):
            for kind in chance.sample(kinds, len(kinds) // 2):
                how = chance.choice(["lose", "throttle", "refuse"])
                cloud.fail(operation, kind, how, 9 if how == "throttle" else 1)  # type: ignore[arg-type]
        for command in ("up", "destroy"):
            runs = 0
            while engine.start(command, "--skip-preview", "--yes").wait().code:
                runs += 1
                assert runs < TRIES
                for thing in strays(engine, cloud):
                    cloud.remove(thing)
            assert disagreements(there) == []
        assert cloud.left() == []
