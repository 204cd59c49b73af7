"""Fixtures that every test may use."""

from __future__ import annotations

import os
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
        assert data == YAML(typ="safe", pure=True).load(path.read_text()), f"{path.name} differs: run `make generate` and read the change"

    return compare
