"""Walls for all tenants. What a real API server makes of them stands in tests/e2e."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registered import registered

from gpuyard.components.tenancy.walls import TenantWalls, policies


def test_the_walls_are_for_tenants_namespaces_and_refuse_when_they_cannot_judge(
    golden: Callable[[str, Any], None],
) -> None:
    found = policies()
    judged = [item["spec"] for item in found if item["kind"] == "ValidatingAdmissionPolicy"]
    bound = [item["spec"] for item in found if item["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert {spec["failurePolicy"] for spec in judged} == {"Fail"}
    selector = {"matchExpressions": [{"key": "gpuyard.io/tenant", "operator": "Exists"}]}
    assert all(spec["matchResources"] == {"namespaceSelector": selector} for spec in bound)
    assert all(spec["validationActions"] == ["Deny"] for spec in bound)
    golden("tenant_walls", found)


def test_every_wall_is_one_resource_of_the_component() -> None:
    component, *children = registered(lambda: TenantWalls("walls"))
    assert len(children) == len(policies()) == 4
    assert all(child["parent"] == component["urn"] for child in children)
    assert len({child["urn"] for child in children}) == len(children)
