"""Declares Kubernetes objects and Helm releases from plain data, one Pulumi resource an object."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import pulumi

from gpuyard.components.spec import Manifest

PROVIDER_VERSION = version("pulumi-kubernetes")

FIELD_MANAGER = "pulumi.com/patchFieldManager"

LONGEST_MANAGER = 128
"""Characters of a field manager's name. Source: Kubernetes, apimachinery, FieldManagerMaxLength."""


def token(manifest: Manifest) -> str:
    """The Pulumi type of an object: the one that the typed class of that kind has."""
    api = manifest["apiVersion"]
    return f"kubernetes:{api if '/' in api else f'core/{api}'}:{manifest['kind']}"


def declare(name: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declares one object as it is: the same URN and state as the typed class, at a quarter of its cost."""
    versioned = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=PROVIDER_VERSION))
    return pulumi.CustomResource(token(manifest), name, _owned(manifest), versioned)


def _owned(manifest: Manifest) -> Manifest:
    """The object, with the name of the stack as the owner of its fields.

    By itself the provider takes a random name at each creation. An object whose creation was cut off, and is repeated
    where the provider lets it (PULUMI_K8S_UPSERT_EXISTING_OBJECTS; docs/state.md), would have two owners, and its next
    change be refused as a conflict between them.
    """
    annotations = {FIELD_MANAGER: f"{pulumi.get_project()}/{pulumi.get_stack()}"[:LONGEST_MANAGER]}
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}}


def declare_all(
    name: str, manifests: Iterable[Manifest], opts: pulumi.ResourceOptions, *, known_as: str | None = None
) -> list[pulumi.CustomResource]:
    """Declares the objects of the component called `name`; each Pulumi name starts with it.

    `known_as` is the component's name in the cluster, where it was renamed.
    """
    return [declare(_child_name(name, m["metadata"]["name"], known_as or name), m, opts) for m in manifests]


def _child_name(component: str, object_name: str, known_as: str) -> str:
    """A renamed component's children keep the rest of their names, or the engine would not know them again."""
    if object_name == known_as or object_name.startswith(f"{known_as}-"):
        return f"{component}{object_name.removeprefix(known_as)}"
    return f"{component}-{object_name}"


def release(name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declares a Helm release from the inputs that `artifacts.release_inputs` gives."""
    versioned = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=PROVIDER_VERSION))
    return pulumi.CustomResource("kubernetes:helm.sh/v3:Release", name, inputs, versioned)
