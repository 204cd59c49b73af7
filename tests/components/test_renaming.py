"""A key that is renamed by `was`: everything goes on under the names that the cloud and the cluster know."""

from __future__ import annotations

import functools

import pytest
from plans import NAMES, Change, Resources, described, plan, refer, rename, resources

from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack
from gpuyard.review.capacity import capacity
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups

PARTS = ("node_groups", "tenants", "endpoints")

RENAMES = [(stack, part, key) for stack in NAMES for part in PARTS for key in described(stack).get(part, {})]


@functools.cache
def shipped(stack: str) -> Resources:
    return resources(stack)


def names_of(found: set[str]) -> set[str]:
    return {urn.rpartition("::")[2] for urn in found}


@pytest.mark.parametrize(("stack", "part", "key"), RENAMES, ids=lambda value: str(value))
def test_a_renamed_part_goes_on_with_all_that_it_had(stack: str, part: str, key: str) -> None:
    # A name that begins with the old one, as people choose it, is the hardest: prefixes are what aliases go by.
    found = plan(shipped(stack), resources(stack, rename(part, key, f"{key}-new")))
    assert found.created == set()
    assert found.deleted == set()
    assert found.changed == {}, "neither the cloud nor the cluster may see a difference"
    moved = {urn.rpartition("::")[2] for urn, old in found.continues.items() if urn != old}
    assert f"{key}-new" in moved


@pytest.mark.parametrize("stack", NAMES)
def test_all_keys_of_a_stack_can_be_renamed_at_once(stack: str) -> None:
    platform = described(stack)
    changes = [rename(part, key, f"x{n}") for part in PARTS for n, key in enumerate(platform.get(part, {}))]
    found = plan(shipped(stack), resources(stack, *changes))
    assert (found.created, found.deleted, found.changed) == (set(), set(), {})


@pytest.mark.parametrize(("stack", "part", "key"), [RENAMES[0], RENAMES[-1]], ids=lambda value: str(value))
def test_renamed_twice_it_goes_on_from_either_of_its_former_keys(stack: str, part: str, key: str) -> None:
    second: Change = rename(part, key, "second")
    third: Change = rename(part, key, "third", key)

    def both(platform: dict[str, object]) -> None:
        third(platform)
        platform[part]["third"]["was"] = [key, "second"]  # type: ignore[index]

    for before in (shipped(stack), resources(stack, second)):
        found = plan(before, resources(stack, both))
        assert (found.created, found.deleted, found.changed) == (set(), set(), {})


@pytest.mark.parametrize(("stack", "part", "key"), RENAMES, ids=lambda value: str(value))
def test_a_rename_is_taken_back_and_nothing_is_made_anew(stack: str, part: str, key: str) -> None:
    second: Change = rename(part, key, "second")

    def back(platform: dict[str, dict[str, dict[str, object]]]) -> None:
        platform[part][key]["was"] = [key, "second"]

    for before in (shipped(stack), resources(stack, second)):
        found = plan(before, resources(stack, back))
        assert (found.created, found.deleted, found.changed) == (set(), set(), {})


def test_a_rename_that_is_only_reverted_makes_all_anew_under_names_that_are_taken() -> None:
    found = plan(resources("prod-aws", rename("endpoints", "fraud-score", "score")), shipped("prod-aws"))
    assert "fraud-score" in names_of(found.created)
    assert "score" in names_of(found.deleted)


def test_without_was_a_new_key_is_a_new_thing() -> None:
    def change(platform: dict[str, dict[str, object]]) -> None:
        platform["tenants"]["vision-new"] = platform["tenants"].pop("vision")
        refer(platform, "tenants", "vision", "vision-new")

    found = plan(shipped("onprem"), resources("onprem", change))
    assert "vision" in names_of(found.deleted)
    assert "vision-new" in names_of(found.created)


def test_a_stack_that_is_new_is_made_under_the_old_names_too() -> None:
    found = resources("prod-aws", rename("tenants", "fraud", "risk"), rename("node_groups", "l40s", "small"))
    spaces = {r["inputs"]["metadata"]["name"] for r in found.values() if r["type"] == "kubernetes:core/v1:Namespace"}
    assert "fraud" in spaces
    assert "risk" not in spaces
    [group] = [r for r in found.values() if r["type"] == "aws:eks/nodeGroup:NodeGroup" and r["name"] == "small"]
    assert group["inputs"]["labels"]["gpuyard.io/node-group"] == "l40s"


@pytest.mark.parametrize(
    ("stack", "group"), [("prod-aws", "l40s"), ("dev", "l4"), ("onprem", "dgx"), ("serving", "l40s")]
)
def test_a_review_adds_up_a_renamed_group_under_its_key(stack: str, group: str) -> None:
    before = list(shipped(stack).values())
    after = list(resources(stack, rename("node_groups", group, "new")).values())
    assert cost(node_groups(after), after)["tenants"] == cost(node_groups(before), before)["tenants"]
    lines = {line["name"]: line["accelerators"] for line in capacity(node_groups(before), before)["groups"]}
    renamed = {line["name"]: line["accelerators"] for line in capacity(node_groups(after), after)["groups"]}
    assert renamed == {"new" if name == group else name: found for name, found in lines.items()}


@pytest.mark.parametrize(
    ("part", "key", "was", "message"),
    [
        ("tenants", "fraud", "fraud", "tenants.fraud.was: fraud is its key now: give the key that it had before"),
        ("tenants", "fraud", ["fraud"], "tenants.fraud.was: fraud is its key now: give the key that it had before"),
        ("tenants", "fraud", ["risk", "fraud"], "tenants.fraud.was: fraud is its key now: give the key that it had"),
        ("tenants", "fraud", "assistants", "tenants.fraud.was: assistants is a key of tenants too"),
        ("node_groups", "l40s", ["a", "h100"], "node_groups.l40s.was: h100 is a key of node_groups too"),
        ("endpoints", "llama-70b", ["a", "b", "a"], "endpoints.llama-70b: was names a twice"),
        (
            "endpoints",
            "llama-70b",
            "Llama",
            "endpoints.llama-70b.was: 'Llama' (text) given: give at most 40 lower-case",
        ),
        ("tenants", "fraud", "monitoring", "tenants.fraud: a namespace monitoring has another use in the cluster"),
    ],
)
def test_a_former_key_that_cannot_be_is_refused(part: str, key: str, was: object, message: str) -> None:
    platform = described("prod-aws")
    platform[part][key]["was"] = was
    with pytest.raises(InvalidStack) as refused:
        load(platform, "prod-aws")
    [line] = str(refused.value).splitlines()
    assert line.startswith(f"gpuyard:platform.{message}")


def test_two_parts_cannot_have_been_one() -> None:
    platform = described("prod-aws")
    for tenant in ("fraud", "assistants"):
        platform["tenants"][tenant]["was"] = "old"
    with pytest.raises(InvalidStack, match=r"tenants\.assistants\.was: old is what fraud was, too"):
        load(platform, "prod-aws")
