"""Programs that never heard of gpuyard, and what is their own: environment, limits, rules."""

from __future__ import annotations

import json
import sys
import sysconfig
import venv
from pathlib import Path

from command import CONFIG_MAP, FORBIDDEN, gpuyard, program, rule

from gpuyard import policies

WHO_RUNS = """
import importlib.util, sys
who = {"prefix": sys.prefix, "gpuyard": str(importlib.util.find_spec("gpuyard"))}
pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "who", {
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "who", "namespace": "default"}, "data": who,
})
"""


def test_a_program_runs_in_its_own_virtual_environment_where_gpuyard_is_not_installed(tmp_path: Path) -> None:
    where = program(tmp_path, WHO_RUNS)
    (where / "Pulumi.yaml").write_text("name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n")
    venv.create(where / "venv", with_pip=False, symlinks=True)
    purelib = sysconfig.get_path("purelib", vars={"base": str(where / "venv")})
    # Without network, the packages of this environment; its .pth files, gpuyard's among them, do not count there.
    (Path(purelib) / "pulumi.pth").write_text(sysconfig.get_path("purelib"))
    answer = gpuyard("review", "--program", where, "--format", "json")
    assert answer.code == 0, answer.err
    (who,) = [r["inputs"]["data"] for r in json.loads(answer.out)[0]["document"]["resources"] if r["name"] == "who"]
    assert who == {"prefix": str(where / "venv"), "gpuyard": "None"}
    assert sys.prefix != who["prefix"]


def test_a_folder_inside_a_program_is_judged_by_the_programs_own_rules_and_limits(tmp_path: Path) -> None:
    inside = program(tmp_path, CONFIG_MAP) / "docs"
    inside.mkdir()
    assert gpuyard("review", cwd=inside).code == 0
    rule(tmp_path, FORBIDDEN)
    answer = gpuyard("review", cwd=inside)
    assert answer.code == 1
    assert "the house forbids settings" in answer.out
    limits = tmp_path / "policies" / "limits"
    limits.mkdir()
    for path in (Path(*policies.__path__) / "limits").iterdir():
        (limits / path.name).write_text(path.read_text().replace("development", "workshop"))
    (limits / "development.yaml").rename(limits / "workshop.yaml")
    assert "dev  workshop, " in gpuyard("review", cwd=inside).out
    assert "house/own" in gpuyard("explain", cwd=inside).out
