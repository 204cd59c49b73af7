"""Fixtures of the tests with whole stacks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clouds.cloud import Cloud
from control_plane.plane import ControlPlane
from engine.engine import Engine
from engine.fixtures import charts

__all__ = ["charts"]

CUT_OFF = Path(__file__).parents[1] / "programs" / "cut_off"


@pytest.fixture
def cloud(tmp_path: Path, plane: ControlPlane) -> Cloud:
    """An empty account, whose clusters are the control plane."""
    return Cloud(tmp_path / "cloud", plane.url, plane.certificate_authority)


@pytest.fixture
def engine(tmp_path: Path, plane: ControlPlane, cloud: Cloud) -> Iterator[Engine]:
    """An engine with a small program, of which something is left wherever it is cut off."""
    made = Engine(tmp_path / "engine", plane=plane, cloud=cloud, program=CUT_OFF)
    try:
        yield made
    finally:
        made.kill_processes()
        plane.delete([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cut-off"}}])
