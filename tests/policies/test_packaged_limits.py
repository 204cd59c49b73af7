"""The limits that gpuyard ships."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from gpuyard import catalogue
from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation.rules import load

FOLDER = Path(__file__).parent.parent.parent / "policies" / "limits"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.name != limits.ENVIRONMENTS)
THRESHOLDS = load([FOLDER.parent]).thresholds
STRICTEST = limits.environment("a-name-that-nobody-listed", FOLDER)
NAMED = {"dev": "development", "dev-anna": "development", "staging-2": "staging", "prod-aws": "production"}


def of(environment: str, stack: str = "a-name-that-nobody-listed") -> dict[str, Any]:
    return limits.limits(stack, environment, FOLDER, THRESHOLDS)


@pytest.mark.parametrize(("stack", "environment"), NAMED.items())
def test_a_stacks_name_gives_its_environment(stack: str, environment: str) -> None:
    assert limits.environment(stack, FOLDER) == environment
    assert limits.environment(f"acme/shop/{stack}", FOLDER) == environment


@pytest.mark.parametrize("name", NAMES)
def test_the_strictest_is_stricter_than_any_other_in_everything(name: str) -> None:
    """A stack whose name nobody listed must not get more than one that somebody did."""
    strict, other = of(STRICTEST), of(name)
    assert strict["accelerators"]["max"] <= other["accelerators"]["max"]
    assert strict["budget"]["month_usd"] <= other["budget"]["month_usd"]
    assert strict["budget"]["unknown_price"] == "mandatory"
    assert strict["api"]["widest_ipv4"] >= other["api"]["widest_ipv4"]
    assert strict["api"]["widest_ipv6"] >= other["api"]["widest_ipv6"]
    for narrow in ("machines", "capabilities"):
        assert set(strict[narrow]) <= set(other[narrow])
    for registry in strict["registries"]:
        assert registry.startswith(tuple(other["registries"]))
    for narrow in ("privileged", "system"):
        assert set(strict["namespaces"][narrow]) <= set(other["namespaces"][narrow])
    assert set(strict["tags"]) >= set(other["tags"])


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_of_a_machine_matches_one_of_the_catalogue_or_is_a_known_family(name: str) -> None:
    known = set(catalogue.machines())
    stacks = {"a-name-that-nobody-listed", "prod-aws", "onprem"}
    patterns = {pattern for stack in stacks for pattern in of(name, stack)["machines"]}
    unmatched = {p for p in patterns if not any(fnmatchcase(machine, p) for machine in known)}
    assert unmatched <= {"t3.*"}, "a pattern that matches nothing is a typing error"


@pytest.mark.parametrize("name", NAMES)
def test_where_privileged_pods_run_is_where_no_tenant_is(name: str) -> None:
    namespaces = of(name)["namespaces"]
    for namespace in namespaces["privileged"]:
        assert any(fnmatchcase(namespace, pattern) for pattern in namespaces["system"])


@pytest.mark.parametrize("namespace", ["cert-manager", "karpenter", "ingress-nginx", "argocd", "flux-system", "velero"])
@pytest.mark.parametrize("name", NAMES)
def test_namespaces_of_well_known_operators_are_no_tenants(name: str, namespace: str) -> None:
    patterns = of(name)["namespaces"]["system"]
    assert any(fnmatchcase(namespace, pattern) for pattern in patterns)
    assert not any(fnmatchcase(f"{namespace}-team", pattern) for pattern in patterns), "a tenant chooses its own name"


@pytest.mark.parametrize("name", NAMES)
def test_images_that_gpuyard_itself_brings_are_of_allowed_registries(name: str) -> None:
    # The one of AMD's operator, which only the operator's own resource names.
    allowed = ("docker.io/library/busybox", *of(name)["registries"])
    own = {f"{image.registry}/{image.repository}" for image in catalogue.images().values()}
    assert {image for image in own if not image.startswith(allowed)} == set()


def test_a_stack_that_is_named_gets_what_it_is_granted() -> None:
    granted, common = of("production", "prod-aws"), of("production")
    assert granted["accelerators"]["max"] > common["accelerators"]["max"]
    assert granted["registries"] == common["registries"]
