"""A node of one's own hall that moves from one group to another, and one that is given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from control_plane.plane import ControlPlane
from engine.engine import Engine

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(600)]

PROGRAM = Path(__file__).parents[1] / "programs" / "hall"
LABEL = "gpuyard.io/node-group"


def test_a_node_is_moved_to_another_group_and_stays_its_kubelets(plane: ControlPlane, tmp_path: Path) -> None:
    names = plane.nodes("hall", labels={"rack": "r7"}, count=3)

    def labels(name: str) -> Any:
        return plane.get(f"/api/v1/nodes/{name}")["metadata"]["labels"]

    def move(engine: Engine, old: list[str], new: list[str]) -> None:
        for group, members in (("old", old), ("new", new)):
            engine.pulumi("config", "set", group, " ".join(members))
        engine.up()
        assert [labels(name).get(LABEL) for name in names] == ["old" if name in old else "new" for name in names]

    engine = Engine(tmp_path / "engine", plane=plane, program=PROGRAM)
    try:
        move(engine, names[:2], names[2:])
        move(engine, names[:1], names[1:])
        engine.destroy()
    finally:
        engine.kill_processes()
        left = {name: labels(name) for name in names}
        plane.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names)
    assert all(LABEL not in found and found["rack"] == "r7" for found in left.values())
