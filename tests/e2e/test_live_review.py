"""`gpuyard review --live` reads a real preview: what it would change, and what the rules say of that."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from control_plane.plane import ControlPlane
from engine.engine import Engine

pytestmark = pytest.mark.engine

GPUYARD = Path(sys.executable).with_name("gpuyard")
SECONDS = 120

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s

enforced = {"enforce": "restricted", "enforce-version": "v1.35"}
labels = {f"pod-security.kubernetes.io/{key}": value for key, value in enforced.items()}
space = k8s.core.v1.Namespace("team", metadata={"name": "team", "labels": labels})
k8s.core.v1.ConfigMap("settings", metadata={"name": "settings", "namespace": "team", "labels": {"a": "1"}},
                      opts=pulumi.ResourceOptions(depends_on=[space]))
k8s.core.v1.Secret("token", metadata={"name": "token", "namespace": "team"}, string_data={"token": "hush-hush"},
                   opts=pulumi.ResourceOptions(depends_on=[space]))
"""

WALLS = """
k8s.networking.v1.NetworkPolicy("walls", metadata={"name": "default-deny", "namespace": "team"},
                                spec={"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
                                opts=pulumi.ResourceOptions(depends_on=[space]))
"""

Json = dict[str, Any]


@pytest.fixture
def program(tmp_path: Path, plane: ControlPlane) -> Callable[[str], Engine]:
    """A program in a project of its own; what it runs may be written anew."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    engines: list[Engine] = []

    def write(source: str) -> Engine:
        (folder / "__main__.py").write_text(textwrap.dedent(source))
        if not engines:
            engines.append(Engine(tmp_path / "engine", program=folder, plane=plane))
        return engines[0]

    return write


def review(engine: Engine, *options: str) -> subprocess.CompletedProcess[str]:
    command = [GPUYARD, "review", engine.stack, "--live", *options]
    return subprocess.run(
        command, cwd=engine.project, env=engine.environment, capture_output=True, text=True, timeout=SECONDS,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def told(engine: Engine) -> tuple[int, Json]:
    answer = review(engine, "--format", "json")
    assert answer.stdout, answer.stderr
    return answer.returncode, json.loads(answer.stdout)[0]


def operations(report: Json) -> dict[str, str]:
    return {change["urn"].rpartition("::")[2]: change["operation"] for change in report["changes"]}


def test_what_would_be_created_then_changed_then_lost(program: Callable[[str], Engine]) -> None:
    engine = program(PROGRAM + WALLS)
    code, first = told(engine)
    assert (code, first["verdict"], first["findings"]) == (0, "may deploy", [])
    assert {*operations(first).values()} == {"create"}
    assert {"team", "settings", "token", "walls"} <= operations(first).keys()
    recorded = {resource["urn"] for resource in first["document"]["resources"]}
    assert {urn.rpartition("::")[2] for urn in recorded} == {"team", "settings", "token", "walls"}

    engine.up()
    code, same = told(engine)
    assert (code, same["changes"]) == (0, [])

    # A renamed namespace is another one; a rule judges what is planned, not what is there.
    engine = program((PROGRAM + WALLS).replace('"name": "team"', '"name": "crew"').replace('"a": "1"', '"a": "2"'))
    code, changed = told(engine)
    assert operations(changed)["team"] == "replace"
    assert operations(changed)["settings"] == "update"
    text = review(engine).stdout
    assert "REPLACE Namespace team because of metadata.name: everything in the namespace" in " ".join(text.split())
    assert "isolation/default_deny" in text, "the new namespace has no walls"
    engine.destroy()


def test_a_finding_refuses_and_no_secret_is_shown(program: Callable[[str], Engine]) -> None:
    answer = review(program(PROGRAM), "--format", "json")
    report = json.loads(answer.stdout)[0]
    assert answer.returncode == 1
    assert [finding["rule"] for finding in report["findings"]] == ["isolation/default_deny"]
    assert "hush-hush" not in answer.stdout + answer.stderr
    assert "hush-hush" not in review(program(PROGRAM)).stdout


def test_what_is_protected_and_would_be_replaced_refuses_beside_the_rules(program: Callable[[str], Engine]) -> None:
    source = PROGRAM.replace('"labels": labels})', '"labels": labels}, opts=pulumi.ResourceOptions(protect=True))')
    source = (source + WALLS).replace('"team"', '"vault"').replace('Namespace("vault"', 'Namespace("team"')
    engine = program(source)
    engine.up()
    code, report = told(program(source.replace('"vault"', '"strongroom"')))
    assert (code, report["verdict"]) == (1, "refused")
    assert operations(report)["team"] == "replace"
    assert any("protect" in failure for failure in report["failures"]), report["failures"]
    engine.destroy("--ignore-protect")


def test_a_program_that_fails_is_wrong_input_with_its_own_words(program: Callable[[str], Engine]) -> None:
    answer = review(program(PROGRAM + "\nraise pulumi.RunError('no such zone')\n"))
    assert answer.returncode == 2
    assert "pulumi preview fails" in answer.stderr
    assert "no such zone" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_stack_that_the_backend_lacks_is_wrong_input(program: Callable[[str], Engine]) -> None:
    engine = program(PROGRAM)
    (engine.project / "Pulumi.lost.yaml").write_text("config: {}\n")
    answer = subprocess.run(
        [GPUYARD, "review", "lost", "--live"], cwd=engine.project, env=engine.environment, capture_output=True,
        text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert "no stack named 'lost' found" in answer.stderr
