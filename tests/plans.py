"""What an update would do to a stack whose file changes, worked out from two recordings of the program.

Which state a resource continues is decided as the engine does it (pulumi, pkg/resource/deploy/step_generator.go:
generateAliases, inheritedChildAlias, getOldResource); what forces a replacement is what the providers say.
"""

from __future__ import annotations

import copy
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clouds.kind import kind_of
from clouds.package import package
from ruamel.yaml import YAML

from gpuyard.components.platform import Platform
from gpuyard.components.stack import load as load_stack
from gpuyard.review.recording import Resource, record

STACKS = Path(__file__).parent.parent / "stacks"
NAMES = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in STACKS.glob("Pulumi.*.yaml"))

Described = dict[str, Any]
Change = Callable[[Described], object]
Resources = Mapping[str, Resource]

KUBERNETES = {
    "Deployment": ("spec.selector",),
    "StorageClass": ("parameters", "provisioner"),
    "RoleBinding": ("roleRef",),
    "ClusterRoleBinding": ("roleRef",),
    "ConfigMap": ("data", "binaryData"),
}
"""Inputs whose change replaces an object, beside its name and namespace. Source: pulumi-kubernetes,
provider/pkg/provider/diff.go."""

IMMUTABLE = {"PriorityClass": ("value", "preemptionPolicy"), "ResourceQuota": ("spec.scopes",)}
"""Inputs that an API server refuses to change. Source: kubernetes, pkg/apis/*/validation."""


@dataclass(frozen=True)
class Plan:
    """What would be done, by the new URN, or the old one of what goes."""

    before: Resources
    after: Resources
    continues: Mapping[str, str]
    """The URN of the state that each resource goes on with; one that is not here is made anew."""

    @property
    def created(self) -> set[str]:
        return set(self.after) - set(self.continues)

    @property
    def deleted(self) -> set[str]:
        return set(self.before) - set(self.continues.values())

    @property
    def changed(self) -> dict[str, set[str]]:
        """The inputs that differ, as dotted paths; components aside."""
        found = {urn: set(_differing(*self._inputs(urn))) for urn in self.continues if self.after[urn]["custom"]}
        return {urn: paths for urn, paths in found.items() if paths}

    @property
    def replaced(self) -> dict[str, set[str]]:
        """The inputs that force a replacement, or that nobody can change."""
        found = {
            urn: {path for path in paths if _forces(self.after[urn]["type"], path, *self._inputs(urn))}
            for urn, paths in self.changed.items()
        }
        return {urn: paths for urn, paths in found.items() if paths}

    def _inputs(self, urn: str) -> tuple[Described, Described]:
        return self.before[self.continues[urn]]["inputs"], self.after[urn]["inputs"]


def described(stack: str) -> Described:
    """The platform that a shipped stack file describes."""
    content = YAML(typ="safe", pure=True).load((STACKS / f"Pulumi.{stack}.yaml").read_text())
    platform: Described = content["config"]["gpuyard:platform"]
    return platform


def resources(stack: str, *changes: Change) -> Resources:
    """What a shipped stack registers, after these changes of its file."""
    platform = described(stack)
    for change in changes:
        change(platform)
    with tempfile.TemporaryDirectory() as folder:
        recording = record(
            lambda: Platform(stack, load_stack(platform, stack)),
            project="gpuyard", stack=stack, config={}, directory=Path(folder),
        )  # fmt: skip
    return {resource["urn"]: resource for resource in recording.resources}


def plan(before: Resources, after: Resources) -> Plan:
    """What an update from one to the other would do."""
    continues: dict[str, str] = {}
    for urn in sorted(after, key=lambda urn: len(list(_ancestors(urn, after)))):
        state = next((old for old in _candidates(after[urn], continues) if old in before), None)
        if state is not None:
            assert state not in continues.values(), f"two resources would continue {state}"
            continues[urn] = state
    return Plan(before, after, continues)


def _ancestors(urn: str, of: Resources) -> Iterator[str]:
    parent = of[urn]["parent"]
    while parent in of:
        yield parent
        parent = of[parent]["parent"]


def _candidates(resource: Resource, continues: Mapping[str, str]) -> Iterator[str]:
    """The URNs under which the engine looks for a resource's state, in its order."""
    own = [resource["urn"], *resource["options"].get("aliases", [])]
    yield from own
    parent = resource["parent"]
    former = continues.get(parent)
    if former is None or former == parent:
        return
    stack, type_, former_name = former.rsplit("::", 2)
    parent_name = parent.rpartition("::")[2]
    for urn in own:
        name = urn.rpartition("::")[2]
        if name.startswith(parent_name):
            name = former_name + name.removeprefix(parent_name)
        yield f"{stack}::{type_}${resource['type']}::{name}"


def _differing(old: Any, new: Any, path: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {*old, *new}:
            yield from _differing(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differing(before, after, f"{path}[{index}]")
    elif old != new:
        yield path


def _forces(type_: str, path: str, old: Described, new: Described) -> bool:
    provider = type_.partition(":")[0]
    if provider == "kubernetes":
        return _within(path, _of_an_object(type_.rpartition(":")[2]))
    if type_.startswith("pulumi:providers:"):
        # A Kubernetes provider is another one when its cluster is; the clouds' when their place is.
        return path in ("clusterIdentifier", "region", "project")
    package(provider)  # which reads the rows that kind_of finds
    return kind_of(type_).must_replace(re.sub(r"\[[0-9]+\]", "", path), old, new)


def _of_an_object(kind: str) -> tuple[str, ...]:
    if kind == "Release":
        return ("name", "namespace")
    named = ("metadata.name", "metadata.namespace")
    return (*named, *KUBERNETES.get(kind, ()), *IMMUTABLE.get(kind, ()))


def _within(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith((f"{root}.", f"{root}[")) for root in roots)


def rename(part: str, old: str, new: str, *former: str) -> Change:
    """Gives a part of a stack another key, as its owner does it: with `was`, and in all that refer to it."""

    def change(platform: Described) -> None:
        platform[part] = {new if key == old else key: value for key, value in platform[part].items()}
        platform[part][new] = {**platform[part][new], "was": [*former, old] if former else old}
        refer(platform, part, old, new)

    return change


def refer(platform: Described, part: str, old: str, new: str) -> None:
    """Changes what endpoints and tenants call it."""
    for endpoint in platform.get("endpoints", {}).values():
        for key, kind in (("on", "node_groups"), ("tenant", "tenants")):
            if part == kind and endpoint[key] == old:
                endpoint[key] = new
    if part == "node_groups":
        for tenant in platform["tenants"].values():
            shares = copy.deepcopy(tenant["accelerators"])
            tenant["accelerators"] = {new if group == old else group: share for group, share in shares.items()}
