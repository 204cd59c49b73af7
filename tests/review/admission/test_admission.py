"""What `gpuyard admission` writes gives the same verdict as the review."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import regorus
from admitted import (
    POLICIES,
    Told,
    as_told,
    by_review,
    by_templates,
    given,
    given_limits,
    matched,
    modules_of,
    objects,
    rules,
)
from documents import Json, document, kubernetes, pod_spec, workload
from mutations import PUT_THERE, REMOVED, places

from gpuyard.review.admission import kinds, offered, rego
from gpuyard.review.admission.gatekeeper import admission
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.pods import OWN
from gpuyard.review.evaluation.prepare import known, prepare
from gpuyard.review.evaluation.rules import RuleSet

OFFERED = sorted(given().templates)
EACH = 23
"""One change of so many is tried, evenly."""


@pytest.fixture(scope="module")
def adapter() -> regorus.Engine:
    engine = regorus.Engine()
    engine.add_policy("kinds", kinds.module())
    engine.add_policy("prepared", (POLICIES.directories[0] / rego.PREPARED).read_text())
    return engine


def prepared(adapter: regorus.Engine, found: Json) -> Json:
    adapter.set_input_json(json.dumps({"review": {"object": found}, "parameters": {"environment": "e", "limits": {}}}))
    made: Json = adapter.eval_rule("data.gpuyard.admission.prepared.document")
    return made


def compared(given: Json) -> Json:
    """Objects and pods without what only the review knows, in one order."""
    objects = {key: [without_urn(one) for one in found] for key, found in given["objects"].items()}
    pods = [without_urn(pod) for pod in given["pods"]]
    for pod in pods:
        pod["containers"].sort(key=lambda one: one["path"])
    return {"objects": objects, "pods": sorted(pods, key=lambda pod: pod["path"])}


def without_urn(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if key != "urn"}


def changes() -> list[Json]:
    """Objects with a part missing, or of another type, as far as Kubernetes lets it come to an admission."""
    found = []
    for base in objects():
        for path in places(base):
            if path[0] in ("apiVersion", "kind") or path in FIXED or above_its_pod(base, path):
                continue
            found += [(base, path, new) for new in PUT_THERE]
    return [changed(*one) for one in found[::EACH]]


FIXED = {("metadata",), ("metadata", "name"), ("metadata", "namespace")}


def above_its_pod(base: Json, path: tuple[str | int, ...]) -> bool:
    """Whether a place is on the way to the pod of one of Kubernetes' own kinds, which it decodes before it asks."""
    return any(way[: len(path)] == path for way in OWN.values()) and base["apiVersion"] in ("v1", "apps/v1", "batch/v1")


def changed(base: Json, path: tuple[str | int, ...], new: Any) -> Json:
    whole = copy.deepcopy(base)
    at: Any = whole
    for step in path[:-1]:
        at = at[step]
    if new is REMOVED:
        del at[path[-1]]
    else:
        at[path[-1]] = copy.deepcopy(new)
    return whole


def test_an_object_is_prepared_as_in_the_review(adapter: regorus.Engine) -> None:
    different = []
    for found in [*objects(), *changes()]:
        own = compared(prepare(document([kubernetes(known(found), name="object")]), {}).input)
        if compared(prepared(adapter, found)) != own:
            different.append(found)
    assert different == []


def test_the_adapter_makes_what_rules_may_read(adapter: regorus.Engine) -> None:
    assert prepared(adapter, objects()[0]).keys() == offered.THERE


@pytest.fixture(scope="module")
def told(opa: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Json, Told]]]:
    """What each template says of each object that its constraint matches."""
    asked = [(rule, found) for rule in OFFERED for found in objects() if matched(rule, found)]
    reviews = [(rule, {"object": found, "operation": "CREATE"}) for rule, found in asked]
    answers = by_templates(opa, tmp_path_factory.mktemp("templates"), reviews)
    return {
        rule: [(found, answer) for (of, found), answer in zip(asked, answers, strict=True) if of == rule]
        for rule in OFFERED
    }


@pytest.mark.opa
@pytest.mark.parametrize("rule", OFFERED)
def test_a_template_gives_the_verdict_of_the_review(rule: str, told: dict[str, list[tuple[Json, Told]]]) -> None:
    different = [(found, answer) for found, answer in told[rule] if answer != as_told(rule, by_review(found)[rule])]
    assert different == []
    bad = [bool(answer) for _, answer in told[rule]]
    assert any(bad), "no object breaks it: add one to tests/admitted.py"
    assert not all(bad), "every object breaks it: add one to tests/admitted.py"


def test_a_program_s_own_rule_is_offered_by_what_it_reads() -> None:
    rule = rules().rules["isolation/privileged"]
    text = rules().modules["rules/isolation/privileged.rego"]

    def why(text: str, **changed: Any) -> str | None:
        own = rule.model_copy(update=changed)
        return offered.obstacle(own, RuleSet({own.id: own}, {**rules().modules, f"rules/{own.id}.rego": text}))

    assert why(text) is None
    assert why(f"{text}\nnames := input.servers") == "it reads servers, which only the review prepares"
    assert (
        why(f'{text}\nnames := input["servers"]')
        == "it names input without a part of it, so nobody can tell what it reads"
    )
    assert why(f"{text}\n# input.servers\n") is None
    assert why(text.replace("lib.match", "lib.software")) is None
    assert why(text, scope="stack") == "it needs more than one resource"
    assert why(text, reads=[read for read in rule.reads if "helm" in read.type]) == "it is about no object of a cluster"
    to = rule.refers[0].model_copy(update={"to": "kubernetes:apps/v1:Deployment"})
    assert why(text, refers=[to]) == "it follows references to kubernetes:apps/v1:Deployment"


@pytest.mark.parametrize("rule", OFFERED)
def test_a_rule_s_text_is_in_its_template_as_it_is(rule: str) -> None:
    name = re.compile(r"^(package |import data\.)lib\.", re.MULTILINE)
    texts = [name.sub(r"\1", text) for text in modules_of(given().templates[rule])]
    assert rules().modules[f"rules/{rule}.rego"] == texts[-2]


def test_what_denies_and_what_warns_are_constraints_of_their_own() -> None:
    actions = {
        rule: {one["spec"]["parameters"]["level"]: one["spec"]["enforcementAction"] for one in constraints}
        for rule, constraints in given().constraints.items()
    }
    assert actions["isolation/pod_security"] == {"mandatory": "deny", "advisory": "warn"}
    assert actions["isolation/privileged"] == {"mandatory": "deny"}
    assert actions["isolation/hardening"] == {"advisory": "warn"}


def test_parameters_have_what_the_rule_reads_of_the_limits_and_no_more() -> None:
    registries = given().constraints["supply_chain/registries"][0]["spec"]["parameters"]["limits"]
    digests = given().constraints["supply_chain/image_digests"][0]["spec"]["parameters"]["limits"]
    assert registries == {"registries": given_limits()["registries"]}
    assert {*digests["thresholds"]} == {"supply_chain/image_digests"}


def test_a_constraint_without_its_limits_does_not_fit_the_schema() -> None:
    crd = given().templates["supply_chain/registries"]["spec"]["crd"]["spec"]
    schema = crd["validation"]["openAPIV3Schema"]
    assert schema["required"] == ["environment", "level", "limits"]
    assert schema["properties"]["limits"]["required"] == ["registries"]


@pytest.mark.parametrize("rule", OFFERED)
def test_namespaces_of_operators_are_left_out_where_the_rule_does_not_decide_itself(rule: str) -> None:
    spec = given().constraints[rule][0]["spec"]
    decides = "namespaces" in spec["parameters"]["limits"]
    assert ("kube-system" in spec["match"].get("excludedNamespaces", [])) is not decides


def bad_pod() -> Json:
    return workload("Pod", pod_spec(securityContext={"privileged": True}))


def paths(opa: Path, folder: Path, *reviews: Json) -> list[set[str]]:
    """Where isolation/privileged finds something in each."""
    told = by_templates(opa, folder, [("isolation/privileged", review) for review in reviews])
    return [{path for _, path, _ in one} for one in told]


def test_what_is_created_and_updated_is_judged(opa: Path, tmp_path: Path) -> None:
    operations = ("CREATE", "UPDATE", "", "DELETE")
    reviews = [{"object": bad_pod(), "operation": operation, "oldObject": None} for operation in operations]
    assert [bool(found) for found in paths(opa, tmp_path, *reviews)] == [True, True, True, False]


def test_an_ephemeral_container_is_judged_as_it_is_added(opa: Path, tmp_path: Path) -> None:
    old = workload("Pod", pod_spec())
    new = copy.deepcopy(old)
    new["spec"]["ephemeralContainers"] = [{"name": "sh", "image": "busybox", "securityContext": {"privileged": True}}]
    review = {"object": new, "oldObject": old, "operation": "UPDATE", "subResource": "ephemeralcontainers"}
    assert paths(opa, tmp_path, review) == [{"/spec/ephemeralContainers/0/securityContext/privileged"}]


def test_an_update_is_refused_for_what_it_brings(opa: Path, tmp_path: Path) -> None:
    old = bad_pod()
    finished = copy.deepcopy(old)
    finished["metadata"]["finalizers"] = []
    worse = copy.deepcopy(old)
    worse["spec"]["hostPID"] = True
    reviews = [{"object": new, "oldObject": old, "operation": "UPDATE"} for new in (finished, worse)]
    assert paths(opa, tmp_path, *reviews) == [set(), {"/spec/hostPID"}]


def test_an_object_without_a_namespace_of_its_own_is_in_that_of_the_request(opa: Path, tmp_path: Path) -> None:
    pod = bad_pod()
    del pod["metadata"]["namespace"]
    reviews = [{"object": pod, "operation": "CREATE", "namespace": name} for name in ("gpu-operator", "fraud")]
    assert [bool(found) for found in paths(opa, tmp_path, *reviews)] == [False, True]


def test_the_page_has_every_rule_that_a_cluster_applies_and_what_it_does() -> None:
    page = (Path(__file__).parents[3] / "docs" / "admission.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+/\w+)` \| ([^:|]+):", page, re.MULTILINE))
    actions = {
        rule: [one["spec"]["enforcementAction"] for one in constraints]
        for rule, constraints in given().constraints.items()
    }
    assert {
        rule: [a for a in ("deny", "warn") if ("denies" if a == "deny" else "warns") in row]
        for rule, row in rows.items()
    } == actions


def test_two_rules_that_would_have_one_name_are_an_error() -> None:
    rule = rules().rules["isolation/pod_security"]
    other = rule.model_copy(update={"id": "isolation_pod/security"})
    modules = {**rules().modules, f"rules/{other.id}.rego": rules().modules[f"rules/{rule.id}.rego"]}
    with pytest.raises(GateError, match="both be GpuyardIsolationPodSecurity"):
        admission(RuleSet({rule.id: rule, other.id: other}, modules), POLICIES.directories[0], "e", given_limits())


def test_a_rule_whose_name_is_too_long_for_a_cluster_is_an_error() -> None:
    rule = rules().rules["isolation/pod_security"]
    other = rule.model_copy(update={"id": f"isolation/{'a' * 60}"})
    modules = {**rules().modules, f"rules/{other.id}.rego": rules().modules[f"rules/{rule.id}.rego"]}
    with pytest.raises(GateError, match="more than 63 letters: rename it"):
        admission(RuleSet({other.id: other}, modules), POLICIES.directories[0], "e", given_limits())


def test_a_missing_adapter_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"prepared.rego cannot be read"):
        admission(rules(), tmp_path, "e", given_limits())
