"""Waivers: which findings they take in, for which days, and by which names."""

from __future__ import annotations

import pytest
from documents import pod_spec, resource, workload
from waived import (
    THING,
    WAIVER,
    about,
    allowing,
    deployment,
    found,
    given,
    statuses,
    thing,
)

from gpuyard.review.errors import InputError
from gpuyard.review.evaluation import evaluate
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.gate import _sentence


def test_a_waived_finding_does_not_deny_and_says_why(policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER), thing()))
    assert (finding.status, finding.denies, finding.level) == ("waived", False, "mandatory")
    assert finding.waiver is not None
    assert finding.waiver.said == "waiver ML-1 by ben until 2026-12-31: the new one comes in January"
    assert finding.waiver.status == "violation"
    assert _sentence(finding).startswith(f"[{finding.waiver.said}] ours/rule: thing/x: x is bad.")


def test_a_waiver_is_about_one_rule_and_one_resource(policies: Policies) -> None:
    findings = found(given(policies, WAIVER), thing(), thing(name="thing2"))
    assert statuses(findings) == ["violation", "waived"]
    assert statuses(findings, "ours/other") == ["violation"] * 2


def test_advice_is_waived_too(policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"rule": "ours/advice"}), thing())
    assert statuses(findings, "ours/advice") == ["waived"]


def test_a_waiver_may_be_about_one_place_of_a_resource(policies: Policies) -> None:
    assert statuses(found(given(policies, WAIVER | {"path": "/x"}), thing())) == ["waived"]
    for path in ("/y", "/x/z", "/xx"):
        assert statuses(found(given(policies, WAIVER | {"path": path}), thing())) == ["violation"]


def test_what_cannot_be_decided_is_waived_and_its_status_stays_visible(policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER), thing(None, unknown=["/x"])))
    assert finding.waiver is not None
    assert (finding.status, finding.waiver.status, finding.patch) == ("waived", "undetermined", ())


def test_a_waiver_of_a_place_does_not_cover_what_is_not_known_elsewhere(policies: Policies) -> None:
    """One finding speaks of every place that is not known."""
    things = {"items": [workload("Deployment", pod_spec(), name=name) for name in ("one", "two")]}
    both = resource("kubernetes:apps/v1:DeploymentList", "all", things | {"apiVersion": "apps/v1", "kind": "List"})
    both["unknown"] = ["/items/0/spec/replicas", "/items/1/spec/replicas"]
    entry = WAIVER | {"resource": "fraud/Deployment/one", "stack": "dev"}
    assert statuses(found(given(policies, entry), both)) == ["undetermined"]
    both["unknown"] = ["/items/0/spec/replicas"]
    assert statuses(found(given(policies, entry), both)) == ["waived"]


@pytest.mark.parametrize("day", ["2026-11-30", "2026-12-01", "2026-12-31"])
def test_a_waiver_holds_from_its_first_day_to_its_last(day: str, policies: Policies) -> None:
    entry = WAIVER | {"granted": "2026-11-30"}
    assert statuses(found(given(policies, entry), thing(), date=day)) == ["waived"]


@pytest.mark.parametrize(
    ("day", "says"),
    [
        ("2026-11-29", "x is bad (the waiver ML-1 of ben is not in force before 2026-11-30)"),
        ("2027-01-01", "x is bad (the waiver ML-1 of ben has expired on 2026-12-31)"),
    ],
)
def test_outside_these_days_the_finding_is_back_and_says_so(day: str, says: str, policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER | {"granted": "2026-11-30"}), thing(), date=day))
    assert (finding.status, finding.denies, finding.message) == ("violation", True, says)


@pytest.mark.parametrize(
    ("day", "warned"), [("2026-12-23", 0), ("2026-12-24", 1), ("2026-12-31", 1), ("2027-01-01", 0)]
)
def test_a_waiver_that_is_needed_warns_before_it_expires(day: str, warned: int, policies: Policies) -> None:
    findings = about(found(given(policies, WAIVER), thing(), date=day), "waivers/expires")
    assert len(findings) == warned
    assert all(not finding.denies for finding in findings)


def test_a_waiver_that_waives_nothing_is_a_finding_of_its_own(policies: Policies) -> None:
    others = WAIVER | {"resource": THING.replace("thing", "thong")}
    findings = found(given(policies, WAIVER, others, WAIVER | {"rule": "ours/other"}), thing("good"))
    assert [finding.rule for finding in findings] == ["waivers/unused"] * 3
    assert {finding.path for finding in findings} == {
        f"/waivers/dev/ours~1{rule}/{name.replace('/', '~1')}"
        for rule, name in [("rule", THING), ("other", THING), ("rule", others["resource"])]
    }, "each has its own place, whatever its number in the file"
    assert found(given(policies, WAIVER), thing("good"), date="2027-01-01")[0].message.endswith(
        "it has expired on 2026-12-31"
    )
    assert statuses(found(given(policies, WAIVER), thing(), date="2027-01-01"), "waivers/unused") == []


def test_a_waiver_is_needed_for_what_only_the_deployment_decides(policies: Policies) -> None:
    """The rule says nothing before, and denies then."""
    findings = found(given(policies, WAIVER | {"rule": "ours/later"}), thing(None, unknown=["/x"]))
    assert statuses(findings, "waivers/unused") == []


def test_a_waiver_of_another_stack_is_none_of_this_one(policies: Policies) -> None:
    other = WAIVER | {"resource": THING.replace(":dev::", ":dev-2::")}
    findings = found(given(policies, other), thing())
    assert statuses(findings) == ["violation"]
    assert about(findings, "waivers/unused") == []


def test_a_stack_is_found_by_its_name_whatever_stands_before_it(policies: Policies) -> None:
    book = evaluate.rulebook("acme/shop/dev", given(policies, WAIVER))
    assert len(book.waivers.waivers) == 1


# --- names in Kubernetes


@pytest.mark.parametrize("name", ["fraud/Deployment/model", "fraud/Deployment.apps/model"])
def test_an_object_is_waived_by_its_name(name: str, policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), deployment())
    assert statuses(findings) == ["waived"]
    assert about(findings, "waivers/unused") == []


@pytest.mark.parametrize(
    "name",
    [
        "Deployment/model",
        "fraud/Deployment/Model",
        "fraud/deployment/model",
        "Fraud/Deployment/model",
        "fraud/StatefulSet/model",
        "fraud/Deployment.extensions/model",
        "fraud/Deployment/mode",
        "fraud/Deployment/model2",
        "fraud/Deployment/m\u043edel",
    ],
)
def test_a_name_that_is_nearly_the_objects_waives_nothing(name: str, policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), deployment())
    assert statuses(findings) == ["violation"]
    assert len(about(findings, "waivers/unused")) == 1


def test_an_object_that_names_no_namespace_is_named_without_one(policies: Policies) -> None:
    bare = deployment()
    del bare["inputs"]["metadata"]["namespace"]
    for name in ("Deployment/model", "default/Deployment/model"):
        assert statuses(found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), bare)) == ["waived"]


@pytest.mark.parametrize("pointer", ["/metadata/namespace", "/metadata/name"])
def test_an_object_whose_name_is_not_known_is_not_waived_by_one(pointer: str, policies: Policies) -> None:
    vague = deployment(unknown=[pointer])
    vague["inputs"]["metadata"][pointer.rpartition("/")[2]] = None
    entries = [
        WAIVER | {"resource": name, "stack": "dev"}
        for name in ("fraud/Deployment/model", "default/Deployment/model", "Deployment/model")
    ]
    assert statuses(found(given(policies, *entries), vague)) == ["violation"]


def test_a_name_that_two_clusters_have_waives_neither(policies: Policies) -> None:
    """A second provider: the same name, somewhere else."""
    entry = WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"}
    findings = found(given(policies, entry), deployment(name="here"), deployment(name="there"))
    assert statuses(findings) == ["violation"] * 2
    assert "that of 2 resources" in about(findings, "waivers/unused")[0].message
    by_urn = WAIVER | {"resource": deployment(name="here")["urn"]}
    assert statuses(found(given(policies, by_urn), deployment(name="here"), deployment(name="there"))) == [
        "violation",
        "waived",
    ]


# --- patterns


def test_patterns_are_taken_only_where_the_limits_allow_them(policies: Policies) -> None:
    entry = WAIVER | {"resource": "fraud/Deployment/mo*", "stack": "dev"}
    with pytest.raises(InputError, match="the limits of its stack allow no patterns"):
        found(given(policies, entry), deployment())
    allowing(policies, "patterns: false", "patterns: true")
    findings = found(given(policies, entry), deployment(), deployment(namespace="other", name="o"), thing())
    assert statuses(findings) == ["violation", "violation", "waived"]
    entry = WAIVER | {"resource": f"{THING[:-2]}*"}
    assert statuses(found(given(policies, entry), thing(), thing(name="thin::other"))) == ["violation", "waived"]
