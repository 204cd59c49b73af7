"""Steps of an engine's preview become what would happen to each resource."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from gpuyard.review.changes import Change, changes, counted, losses

STACK = "urn:pulumi:prod::platform::"


def step(op: str, type_: str, name: str, **more: object) -> dict[str, object]:
    return {"op": op, "urn": f"{STACK}gpuyard:index:Platform${type_}::{name}", **more}


def test_the_steps_of_a_replacement_are_one_change_with_what_forces_it() -> None:
    found = changes(
        step(op, "aws:eks/cluster:Cluster", "prod", keys=["roleArn"], diffs=["roleArn", "tags"])
        for op in ("create-replacement", "replace", "delete-replaced")
    )
    assert [(c.operation, c.type, c.name, c.because) for c in found] == [
        ("replace", "aws:eks/cluster:Cluster", "prod", ("roleArn",))
    ]
    assert losses(found) == found
    assert found[0].lost == "the cluster and everything in it"


def test_an_update_says_what_differs_and_loses_nothing() -> None:
    (found,) = changes([step("update", "aws:eks/cluster:Cluster", "prod", diffs=["version"])])
    assert (found.operation, found.because, found.lost) == ("update", ("version",), "")


def test_what_differs_is_also_taken_from_a_provider_that_says_it_path_by_path() -> None:
    version, node = {"spec.version": {"diffKind": "update"}}, {"metadata.name": {"diffKind": "update-replace"}}
    driver = "kubernetes:nvidia.com/v1alpha1:NVIDIADriver"
    (found,) = changes([step("update", driver, "canary", detailedDiff=version)])
    assert found.because == ("spec.version",)
    (found,) = changes([step("replace", driver, "canary", detailedDiff=version | node)])
    assert found.because == ("metadata.name",)
    (found,) = changes([step("update", driver, "canary", detailedDiff=None)])
    assert found.because == ()


@pytest.mark.parametrize(
    ("type_", "lost"),
    [
        ("gcp:container/nodePool:NodePool", "its nodes: pods on them end, and come back where there is room"),
        ("kubernetes:core/v1:Namespace", "everything in the namespace"),
        ("kubernetes:core/v1:PersistentVolumeClaim", "the data on the volume"),
        ("pulumi:providers:kubernetes", "every object that it made in the cluster"),
        (
            "kubernetes:nvidia.com/v1alpha1:NVIDIADriver",
            "the GPUs' driver on its nodes: no pod starts there until they have another",
        ),
        ("kubernetes:core/v1:ConfigMap", ""),
        ("aws:eks/clusterPolicy:ClusterPolicy", ""),
    ],
)
def test_a_deletion_says_what_goes_with_it(type_: str, lost: str) -> None:
    (found,) = changes([step("delete", type_, "x")])
    assert found.lost == lost


def test_changes_are_counted_with_the_gravest_first() -> None:
    found = changes(
        [
            step("same", "a:b:C", "1"),
            step("create", "a:b:C", "2"),
            step("create", "a:b:C", "3"),
            step("delete", "a:b:C", "4"),
        ]
    )
    assert list(counted(found).items()) == [("delete", 1), ("create", 2), ("same", 1)]


def test_a_step_that_is_not_known_is_an_error_and_not_harmless() -> None:
    with pytest.raises(ValueError, match=r"step 'vaporise' of .*::x is not known"):
        changes([step("vaporise", "a:b:C", "x")])


def test_every_type_among_the_losses_is_one_that_the_installed_sdk_has() -> None:
    """A token with a slip would silently lose nothing."""
    rows = YAML(typ="safe", pure=True).load(files("gpuyard.review").joinpath("losses.yaml").read_text())
    tokens = [type_ for row in rows for type_ in row["types"] if type_.startswith(("aws:", "gcp:"))]
    assert len(tokens) > 20
    for token in tokens:
        package, module = token.split(":")[0], token.split(":")[1].split("/")[0]
        folder = Path(str(files(f"pulumi_{package}"))) / module
        pattern = re.compile("'" + re.escape(token).replace(r"\*", r"[\w/:]+") + "'")
        assert any(pattern.search(file.read_text()) for file in folder.glob("*.py")), token


def test_a_change_names_its_resource() -> None:
    change = Change(f"{STACK}a:b:C$kubernetes:core/v1:Namespace::fraud", "delete")
    assert (change.type, change.name) == ("kubernetes:core/v1:Namespace", "fraud")
