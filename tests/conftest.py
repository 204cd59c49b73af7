"""Fixtures that every test may use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

GOLDEN = Path(__file__).parent / "golden"


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


@pytest.fixture(scope="session")
def opa() -> Path:
    """The `opa` program: the one on PATH, the cached one, or, once, a newly built one."""
    programs = Path(__file__).parent.parent / "tools" / "programs.py"
    answer = subprocess.run([sys.executable, str(programs), "opa"], capture_output=True, text=True, check=False)
    if answer.returncode:
        pytest.fail(f"opa is needed to test that both engines agree:\n{answer.stderr}")
    return Path(answer.stdout.strip())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what writes goldens and what needs the OPA program by the fixtures that it takes."""
    for item in items:
        for name in {"golden", "opa"}.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(name)
