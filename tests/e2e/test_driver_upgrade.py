"""A driver goes to the canary of three groups first, then to the rest, and back: on the real engine and API server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agreement import disagreements
from control_plane import kwok
from deployed import Deployed, deployed
from engine.charts import ChartMirror
from engine.run import Run

from gpuyard.review.changes import changes, losses

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(600)]

STABLE, NEXT = "580.126.20", "595.91.07"
HALLS = {"dgx": ["dgx-01", "dgx-02"], "spare": ["spare-01"], "canary": ["canary-01"]}
DRIVER = "kubernetes:nvidia.com/v1alpha1:NVIDIADriver"

Platform = Any
"""What a stack's file says, as its author edits it."""


def three_halls(platform: Platform) -> None:
    platform["cluster"].update(driver="operator", driver_version=STABLE)
    platform["node_groups"] = {
        group: {"machine": "dgx-h100", "count": len(names), "names": names, "usd_hour": 24.5}
        for group, names in HALLS.items()
    }
    platform["protect"] = False
    for part in ("tenants", "endpoints", "monitoring"):
        del platform[part]


def canary_first(platform: Platform) -> None:
    platform["node_groups"]["canary"]["driver_version"] = NEXT


def then_the_rest(platform: Platform) -> None:
    del platform["node_groups"]["canary"]["driver_version"]
    platform["cluster"]["driver_version"] = NEXT


def back(platform: Platform) -> None:
    canary_first(platform)
    platform["cluster"]["driver_version"] = STABLE


def moved(run: Run) -> dict[str, str]:
    """What is done to objects; components, which only hold them, aside."""
    return {name: operation for name, operation in run.done().items() if not name.startswith("gpuyard:")}


def reviewed(preview: Run) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What the review says of a preview: each object that moves, how, and by which inputs."""
    found = changes(event["resourcePreEvent"]["metadata"] for event in preview.events if "resourcePreEvent" in event)
    assert losses(found) == []
    return {
        f"{one.type}::{one.name}": (one.operation, one.because)
        for one in found
        if one.operation not in ("same", "read", "refresh") and not one.type.startswith("gpuyard:")
    }


def drivers(stack: Deployed) -> dict[str, tuple[str, str]]:
    """Version and identity of each group's driver, as the API server has it."""
    items = stack.get("/apis/nvidia.com/v1alpha1/nvidiadrivers")["items"]
    return {item["metadata"]["name"]: (item["spec"]["version"], item["metadata"]["uid"]) for item in items}


def test_a_driver_goes_to_the_canary_then_to_the_rest_and_back(tmp_path: Path, charts: ChartMirror) -> None:
    with deployed("onprem", tmp_path, charts) as stack:
        stack.plane.apply(
            kwok.node(name, {}, [], {"cpu": "224", "memory": "2048Gi", "nvidia.com/gpu": "8"})
            for group in ("spare", "canary")
            for name in HALLS[group]
        )
        engine = stack.engine
        engine.edit(three_halls)
        engine.up()
        first = drivers(stack)
        assert {name: version for name, (version, _) in first.items()} == dict.fromkeys(HALLS, STABLE)
        assert set(engine.preview().changes) == {"same"}

        for edit, versions in (
            (canary_first, {"canary": NEXT}),
            (then_the_rest, {"dgx": NEXT, "spare": NEXT}),
            (back, {"dgx": STABLE, "spare": STABLE}),
        ):
            before = drivers(stack)
            engine.edit(edit)
            objects = [f"{DRIVER}::nvidia-{group}" for group in versions]
            assert reviewed(engine.preview()) == dict.fromkeys(objects, ("update", ("spec.version",)))
            assert moved(engine.up()) == dict.fromkeys(objects, "update")
            wanted = {name: (versions.get(name, version), uid) for name, (version, uid) in before.items()}
            assert drivers(stack) == wanted, "these have another version, and all are what they were"
        assert disagreements(stack) == []

        engine.destroy()
        assert drivers(stack) == {}
