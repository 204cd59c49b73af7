"""Fixtures that every test may use."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from control_plane.fixtures import plane, pytest_runtest_makereport  # noqa: F401 - they are fixtures and hooks here
from hypothesis import settings
from made import program
from ruamel.yaml import YAML
from xdist.scheduler import LoadFileScheduling

ENGINE_SECONDS = 600
"""A machine that does other things, too, takes long to start a cluster."""

GOLDEN = Path(__file__).parent / "golden"

# Nor is a property wrong because the machine was busy while it was looked at.
settings.register_profile("gpuyard", deadline=None)
settings.load_profile("gpuyard")


@pytest.fixture
def golden() -> Callable[[str, Any], None]:
    """Compares data with `tests/golden/<name>.yaml`; `GOLDEN=write` writes the file instead."""

    def compare(name: str, data: Any) -> None:
        yaml = YAML(typ="rt")
        yaml.width = 120
        path = GOLDEN / f"{name}.yaml"
        if os.environ.get("GOLDEN") == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w") as file:
                yaml.dump(data, file)
        assert path.exists(), f"{path.name} is missing: run `make generate`"
        assert data == YAML(typ="safe", pure=True).load(path.read_text()), (
            f"{path.name} differs: run `make generate` and read the change"
        )

    return compare


@pytest.fixture(autouse=True)
def _event_loop() -> Iterator[None]:
    """A loop of its own for each test: a recording in this thread leaves none behind, as at the end of a program."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()


@pytest.fixture(scope="session")
def opa() -> Path:
    """The `opa` program."""
    return program("opa")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what writes goldens and what needs the OPA program by the fixtures that it takes. What needs the engine or
    a control plane comes first: it takes longest, and may wait for these."""
    for item in items:
        for name in {"golden", "opa"}.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(name)
        if item.get_closest_marker("engine") and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(ENGINE_SECONDS))
    items.sort(key=lambda item: item.get_closest_marker("engine") is None)


class FilesStayTogether(LoadFileScheduling):
    """Gives a worker the tests of one file, which share a control plane and what stands in it. Each platform's life has
    a control plane of its own, and need not wait for the others."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if "/test_lifecycle.py" in nodeid else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesStayTogether:
    return FilesStayTogether(config, log)
