"""Declares Kubernetes objects and Helm releases from plain data, one Pulumi resource an object."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import pulumi

from gpuyard.components.spec import Manifest

PROVIDER_VERSION = version("pulumi-kubernetes")


def token(manifest: Manifest) -> str:
    """The Pulumi type of an object: the one that the typed class of that kind has."""
    api = manifest["apiVersion"]
    return f"kubernetes:{api if '/' in api else f'core/{api}'}:{manifest['kind']}"


def declare(name: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declares one object as it is: the same URN and state as the typed class, at a quarter of its cost."""
    versioned = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=PROVIDER_VERSION))
    return pulumi.CustomResource(token(manifest), name, manifest, versioned)


def declare_all(name: str, manifests: Iterable[Manifest], opts: pulumi.ResourceOptions) -> list[pulumi.CustomResource]:
    """Declares the objects of the component called `name`; each Pulumi name starts with it."""
    return [declare(_child_name(name, m["metadata"]["name"]), m, opts) for m in manifests]


def _child_name(component: str, object_name: str) -> str:
    if object_name == component or object_name.startswith(f"{component}-"):
        return object_name
    return f"{component}-{object_name}"


def release(name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declares a Helm release from the inputs that `artifacts.release_inputs` gives."""
    versioned = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=PROVIDER_VERSION))
    return pulumi.CustomResource("kubernetes:helm.sh/v3:Release", name, inputs, versioned)
