"""A few rules, limits that let them be waived, and a clock that stands still."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from waived import (
    ALLOWED,
    LIMITS,
    NOON,
    PACKAGED,
    RULE,
    at,
)

from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.program import yamlfile


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    at(NOON, monkeypatch)


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rules, and those about waivers."""
    folder = tmp_path_factory.mktemp("rules")
    packaged = PACKAGED.directories[0]
    shutil.copy(packaged / "main.rego", folder)
    shutil.copytree(packaged / "rules/waivers", folder / "rules/waivers")
    kinds = {
        "rule": {},
        "other": {},
        "kept": {},
        "sacred": {"waivable": "false"},
        "advice": {"level": "advisory", "on_unknown": "warn"},
        "later": {"on_unknown": "skip"},
    }
    for number, (name, more) in enumerate(kinds.items()):
        said = {"level": "mandatory", "on_unknown": "deny", "waivable": "true"} | more
        path = folder / f"rules/ours/{name}/{name}.rego"
        path.parent.mkdir(parents=True)
        path.write_text(RULE.format(name=name, number=number, **said))
    return folder


@pytest.fixture
def policies(rules: Path, tmp_path: Path) -> Policies:
    (tmp_path / "limits").mkdir()
    (tmp_path / "limits/environments.yaml").write_text(LIMITS)
    base = yamlfile.load(PACKAGED.limits / "production.yaml")
    common = {key: value for key, value in base.items() if key not in ("stacks", "thresholds", "waivers")}
    said = [f"{key}: {json.dumps(value)}\n" for key, value in common.items()]
    (tmp_path / "limits/development.yaml").write_text("".join(said) + ALLOWED)
    return Policies((rules,), tmp_path / "limits")
