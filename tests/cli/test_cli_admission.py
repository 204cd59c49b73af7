"""`gpuyard admission`, as its user runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from admitted import given
from command import FORBIDDEN, gpuyard, program, refused, rule
from ruamel.yaml import YAML

from gpuyard.cli.admission import CONSTRAINTS, TEMPLATES, VALUES
from gpuyard.review.admission.webhook import resource


def loaded(path: Path) -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all(path.read_text()))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What is written for a program with a rule and a waiver of its own, and what is said."""
    shop = program(tmp_path_factory.mktemp("shop"))
    rule(shop, FORBIDDEN)
    own = shop / "policies" / "rules" / "house" / "own" / "own.rego"
    own.write_text(own.read_text().replace("#   waivable: false", "#   waivable: false\n#   scope: resource"))
    (shop / "policies" / "waivers.yaml").write_text(
        "waivers:\n  - {rule: isolation/privileged, resource: fraud/Pod/mighty, stack: dev, reason: so, ticket: A-1,"
        " approver: ben@example.com, expires: 2027-01-15}\n"
    )
    answer = gpuyard("admission", "--stack", "dev", "--out", shop / "out", cwd=shop)
    assert (answer.code, answer.err) == (0, "")
    return shop / "out", answer.out


def test_each_template_has_its_constraints_with_the_limits_of_the_stack(written: tuple[Path, str]) -> None:
    templates = {one["spec"]["crd"]["spec"]["names"]["kind"] for one in loaded(written[0] / TEMPLATES)}
    constraints = loaded(written[0] / CONSTRAINTS)
    assert templates == {one["kind"] for one in constraints}
    assert {one["spec"]["parameters"]["environment"] for one in constraints} == {"development"}


def test_every_rule_is_listed_with_what_the_cluster_does_or_why_it_cannot(written: tuple[Path, str]) -> None:
    assert "deny and warn: GpuyardIsolationPodSecurity" in written[1]
    assert "not judged: it reads servers, which only the review prepares" in written[1]


def test_texts_come_out_of_the_file_as_they_went_in(written: tuple[Path, str]) -> None:
    wanted = {rule: template["spec"] for rule, template in given().templates.items()}
    texts = {one["metadata"]["name"]: one["spec"]["targets"] for one in loaded(written[0] / TEMPLATES)}
    assert {rule: texts[f"gpuyard{rule.replace('/', '').replace('_', '')}"] for rule in wanted} == {
        rule: spec["targets"] for rule, spec in wanted.items()
    }


def test_the_webhook_asks_about_every_kind_of_a_constraint_and_no_other(written: tuple[Path, str]) -> None:
    (values,) = loaded(written[0] / VALUES)
    asked = {
        (group, name)
        for one in values["validatingWebhookCustomRules"]
        for group in one["apiGroups"]
        for name in one["resources"]
    }
    wanted = {
        (group, resource(kind))
        for constraint in loaded(written[0] / CONSTRAINTS)
        for match in constraint["spec"]["match"]["kinds"]
        for group in match["apiGroups"]
        for kind in match["kinds"]
    }
    own = {(group, name) for group, name in asked if group.endswith(".gatekeeper.sh")}
    assert asked - own == wanted | {("", "pods/ephemeralcontainers")}
    assert {("templates.gatekeeper.sh", "*"), ("constraints.gatekeeper.sh", "*")} <= own
    assert values["validatingWebhookFailurePolicy"] == "Fail"


def test_a_rule_of_the_program_is_among_them(written: tuple[Path, str]) -> None:
    own = next(one for one in loaded(written[0] / CONSTRAINTS) if one["kind"] == "GpuyardHouseOwn")
    assert own["spec"]["match"]["kinds"] == [{"apiGroups": [""], "kinds": ["ConfigMap"]}]


def test_a_waiver_that_the_cluster_does_not_know_is_told(written: tuple[Path, str]) -> None:
    assert "waived in the review, and not in the cluster: fraud/Pod/mighty (isolation/privileged)" in written[1]


def test_without_a_stack_the_strictest_limits_hold(tmp_path: Path) -> None:
    answer = gpuyard("admission", cwd=program(tmp_path / "shop"))
    assert answer.code == 0
    assert "by the limits of production: nothing is written without --out" in answer.out


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Pod", "pods"),
        ("NetworkPolicy", "networkpolicies"),
        ("EC2NodeClass", "ec2nodeclasses"),
        ("*", "*"),
    ],
)
def test_a_kind_has_the_resource_that_kubernetes_guesses(kind: str, name: str) -> None:
    assert resource(kind) == name


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--environment", "moon"), "--environment moon: there are no limits of that name: give one of development"),
        (("--stack", "dev", "--environment", "production"), "the stack dev is judged as development"),
        (("--out", "/dev/null/x"), "give a folder that can be written to"),
    ],
)
def test_a_wrong_option_is_one_error(options: tuple[str, ...], says: str, tmp_path: Path) -> None:
    assert says in refused(gpuyard("admission", *options, cwd=program(tmp_path / "shop")), 2)
