"""Node groups told apart by priority classes. What a real API server makes of it stands in tests/e2e."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registered import registered

from gpuyard.components.scheduling.groups import (
    AcceleratorGroup,
    GroupClasses,
    binding,
    class_name,
    policy,
    priority_classes,
)

GROUPS = [
    AcceleratorGroup("h100", "nvidia.com/gpu", 32, {"gpuyard.io/node-group": "h100"}),
    AcceleratorGroup("l40s", "nvidia.com/gpu", 24, {"gpuyard.io/node-group": "l40s"}),
    AcceleratorGroup("old", "aws.amazon.com/neuron", 4, {"rack": "7", "kind": 'a "quoted" one'}),
]


def test_a_class_for_each_group_ranks_nobody(golden: Callable[[str, Any], None]) -> None:
    found = [*priority_classes(GROUPS), policy(GROUPS), binding()]
    classes = [item for item in found if item["kind"] == "PriorityClass"]
    assert [item["metadata"]["name"] for item in classes] == ["gpuyard-h100", "gpuyard-l40s", "gpuyard-old"]
    assert {(item["value"], item["globalDefault"]) for item in classes} == {(0, False)}
    golden("group_classes", found)


def test_the_policy_judges_tenants_pods_and_jobs_and_refuses_when_it_cannot() -> None:
    spec = policy(GROUPS)["spec"]
    assert spec["failurePolicy"] == "Fail"
    judged = [(rule["resources"], rule["operations"]) for rule in spec["matchConstraints"]["resourceRules"]]
    assert judged == [(["pods"], ["CREATE", "UPDATE"]), (["jobs"], ["CREATE"])]
    assert binding()["spec"]["validationActions"] == ["Deny"]
    selector = {"matchExpressions": [{"key": "gpuyard.io/tenant", "operator": "Exists"}]}
    assert binding()["spec"]["matchResources"] == {"namespaceSelector": selector}


def test_a_refusal_says_what_to_write() -> None:
    _, named, tolerated, *others = policy(GROUPS)["spec"]["validations"]
    for group, placed, taken in zip(GROUPS, others[:3], others[3:6], strict=True):
        labels = ", ".join(f"{key}: {value}" for key, value in group.selector.items())
        remedy = f"priorityClassName {class_name(group.name)} with nodeSelector {{{labels}}}"
        assert all(remedy in rule["message"] for rule in (named, tolerated, placed))
        assert f"limit of {group.resource}" in taken["message"]


def test_nobody_takes_the_cores_of_neuron_devices_past_the_quota_that_counts_devices() -> None:
    _, named, *others = policy(GROUPS)["spec"]["validations"]
    assert '["aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "nvidia.com/gpu"]' in named["expression"]
    [alone] = [rule for rule in others if "alone" in rule["message"]]
    assert alone["message"] == (
        "pods of class gpuyard-old take aws.amazon.com/neuron alone: ask for no aws.amazon.com/neuroncore beside it"
    )
    assert 'exists(r, r in ["aws.amazon.com/neuroncore"])' in alone["expression"]


def test_a_label_of_any_text_is_one_literal_of_the_policys_language() -> None:
    expressions = [rule["expression"] for rule in policy(GROUPS)["spec"]["validations"]]
    assert any(r'variables.nodes["kind"] == "a \"quoted\" one"' in expression for expression in expressions)


def test_every_object_is_one_resource_of_the_component() -> None:
    component, *children = registered(lambda: GroupClasses("groups", GROUPS))
    assert component["inputs"] == {"groups": ["h100", "l40s", "old"]}
    kinds = sorted(child["type"].rpartition(":")[2] for child in children)
    assert kinds == ["PriorityClass"] * 3 + ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]
    assert all(child["parent"] == component["urn"] for child in children)
    assert len({child["urn"] for child in children}) == len(children)
