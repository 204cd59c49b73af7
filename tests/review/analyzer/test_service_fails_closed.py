"""What is wrong with rules, limits or the engine stops a deployment, with one line that shows no secret."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from documents import kubernetes, pod_spec, resource, workload
from pack import EVERYBODYS, Pack, RefusedError, registration

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.engines import Embedded
from gpuyard.review.evaluation.evaluate import Policies, find_policies


def pod(**spec: Any) -> Any:
    return registration(kubernetes(workload("Pod", pod_spec() | spec)))


def own(folder: Path, body: str, scope: str = "resource") -> Policies:
    rule = folder / "policies/rules/ours/rule"
    rule.mkdir(parents=True)
    metadata = (
        "# METADATA\n# title: T\n# description: D.\n# custom:\n#   id: X1\n#   severity: low\n#   level: mandatory\n"
        f'#   on_unknown: deny\n#   scope: {scope}\n#   reads:\n#     - {{type: "a:b/c:D", path: /x}}\n#   remediation: R.\n'
    )
    (rule / "rule.rego").write_text(f"{metadata}package gpuyard.rules.ours.rule\n\n{body}\n")
    return find_policies(folder)


FIRES = 'deny contains {"urn": r.urn, "path": "/x", "message": "found"} if some r in input.by_type["a:b/c:D"]'
THING = resource("a:b/c:D", "thing", {"x": "s3cr3t-value"}, secret=["/x"])


@pytest.mark.parametrize(("scope", "early"), [("resource", True), ("sum", False), ("stack", False)])
def test_a_rule_of_ones_own_is_asked_when_its_scope_says(scope: str, early: bool, tmp_path: Path) -> None:
    pack = Pack(policies=own(tmp_path, FIRES, scope))
    assert bool(pack.analyze(registration(THING))) == early
    assert bool(pack.analyze_stack([THING])) == (not early)


BROKEN_RULES = {
    "a syntax error": "deny contains {",
    "an error on this resource": FIRES.replace('"found"', "m").replace("if some", "if {\n\tsome")
    + "\n\tm := to_number(r.inputs.x)\n}",
    "another shape": 'deny contains "found"',
    "no set": "text := `\ndeny contains x`\n\ndeny := {}",
    "somebody elses resource": 'deny contains {"urn": "urn:x", "path": "", "message": "m"}',
}


@pytest.mark.parametrize("body", BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_a_rule_that_does_not_work_stops_the_deployment_with_one_line(body: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as error:
        Pack(policies=own(tmp_path, body)).analyze(registration(THING))
    assert str(error.value).startswith("FAILED_PRECONDITION: gpuyard cannot judge this, so nothing is deployed: ")
    assert len(str(error.value).splitlines()) == 1
    assert "s3cr3t-value" not in str(error.value)


def test_a_rule_of_the_whole_stack_that_does_not_work_stops_it_at_last(tmp_path: Path) -> None:
    pack = Pack(policies=own(tmp_path, BROKEN_RULES["an error on this resource"], "stack"))
    assert pack.analyze(registration(THING)) == []
    with pytest.raises(RefusedError, match="nothing is deployed") as error:
        pack.analyze_stack([THING])
    assert "s3cr3t-value" not in str(error.value)


def test_wrong_limits_stop_the_deployment_before_it_begins(tmp_path: Path) -> None:
    shutil.copytree(EVERYBODYS.limits, tmp_path / "policies/limits")
    with (tmp_path / "policies/limits/development.yaml").open("a") as file:
        file.write("tagz: []\nmachinez: []\n")
    with pytest.raises(RefusedError, match=r"development.yaml: tagz: .*; .*development.yaml: machinez: ") as error:
        Pack(policies=find_policies(tmp_path))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("failure", [GateError("the engine is dead"), RuntimeError("x s3cr3t-value\ny"), KeyError("z")])
def test_an_engine_that_fails_stops_the_deployment(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Embedded, given: str, rules: Any) -> Any:
        raise failure

    monkeypatch.setattr(Embedded, "deny", fail)
    message = pod(hostNetwork=True)
    message.properties.fields["secret"].struct_value.update(
        {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s3cr3t-value"}
    )
    with pytest.raises(RefusedError, match="nothing is deployed") as error:
        Pack().analyze(message)
    assert "s3cr3t-value" not in str(error.value)
    assert len(str(error.value).splitlines()) == 1


SECRET_CONFIG = {"shop:db": '{"password": "hunter2hunter2", "port": 54321, "tls": true}', "shop:token": "s3cr3t-value"}
LEAKS = "hunter2hunter2 54321 s3cr3t-value true"


@pytest.mark.parametrize("early", [True, False], ids=["before the first resource", "with resources"])
def test_no_error_shows_secret_configuration_nor_what_stands_in_it(
    early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(LEAKS)

    pack = Pack(config=SECRET_CONFIG, secret_keys=[*SECRET_CONFIG, "shop:gone"])
    if early:
        monkeypatch.setattr("gpuyard.review.analyzer.service.GrowingStack", fail)
    else:
        monkeypatch.setattr(Embedded, "deny", fail)
    with pytest.raises(RefusedError) as error:
        pack.analyze(pod(hostNetwork=True))
    assert str(error.value).endswith("RuntimeError: (secret) (secret) (secret) true")


def test_rules_that_cannot_be_read_show_no_secret_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise GateError(LEAKS)

    monkeypatch.setattr("gpuyard.review.analyzer.service.rulebook", fail)
    with pytest.raises(RefusedError) as error:
        Pack(config=SECRET_CONFIG, secret_keys=list(SECRET_CONFIG))
    assert str(error.value).endswith("nothing is deployed: (secret) (secret) (secret) true")


def test_a_finding_shows_nothing_of_secret_configuration() -> None:
    pack = Pack(config={"shop:db": '{"user": {"image": "hunter2hunter2"}}'}, secret_keys=["shop:db"])
    [found] = pack.analyze(registration(kubernetes(workload("Pod", pod_spec(image="evil.example/hunter2hunter2:1")))))
    assert found.policyName == "supply_chain/registries"
    assert "hunter2hunter2" not in found.message
    assert "evil.example/(secret):1" in found.message
