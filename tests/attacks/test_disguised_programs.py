"""Ways in which a program itself may hide what it makes from those who record it: each is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from verdicts import STACK, recorded, review

EVIL = "ghcr.io/acmeevil/server:1"
GOOD = "docker.io/vllm/vllm-openai:v0.32.0"
REGISTRIES = "supply_chain/registries"
PRIVILEGED = "isolation/privileged"


def pod(image: Any = GOOD, name: str = "model", **options: Any) -> pulumi.CustomResource:
    """A pod of a tenant, as any program declares it."""
    privileged = options.pop("privileged", False)
    namespace = options.pop("namespace", "fraud")
    inputs = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "spec": {"containers": [{"name": "c", "image": image, "securityContext": {"privileged": privileged}}]},
    }
    return pulumi.CustomResource("kubernetes:core/v1:Pod", name, inputs, pulumi.ResourceOptions(**options))


class Hidden(pulumi.ComponentResource):
    def __init__(self, name: str, within: pulumi.Resource | None = None) -> None:
        super().__init__("acme:index:Hidden", name, {}, pulumi.ResourceOptions(parent=within))
        if within is None:
            Hidden(f"{name}-deeper", self)
        else:
            pod(EVIL, parent=self)
        self.register_outputs({})


def evil(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Changes what was declared after whoever reads the program has seen it."""
    if args.type_ != "kubernetes:core/v1:Pod":
        return None
    spec = {"containers": [{"name": "c", "image": EVIL}]}
    return pulumi.ResourceTransformResult(args.props | {"spec": spec}, args.opts)


def transformed() -> None:
    pulumi.runtime.register_resource_transform(evil)
    pod()


def second_provider() -> None:
    inside = pulumi.ProviderResource("kubernetes", "other", {"kubeconfig": "{}", "namespace": "gpu-operators"})
    pod(privileged=True, namespace=None, provider=inside)


def by_variable(monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """A program that reads the environment, as the deployment's will be."""
    monkeypatch.setenv("MODEL_IMAGE", EVIL)

    def build() -> None:
        import os

        pod(os.environ["MODEL_IMAGE"])

    return build


async def later() -> None:
    pod(EVIL)


WAYS: dict[str, tuple[Callable[[], object], str]] = {
    "a transform": (transformed, REGISTRIES),
    "an alias": (lambda: pod(EVIL, aliases=[pulumi.Alias(name="approved")]), REGISTRIES),
    "a component in a component": (lambda: Hidden("outer"), REGISTRIES),
    "a secret": (lambda: pod(pulumi.Output.secret(EVIL)), REGISTRIES),
    "an output of parts": (lambda: pod(pulumi.Output.concat("ghcr.io/", "acmeevil", "/server:1")), REGISTRIES),
    "a callback": (lambda: pulumi.Output.from_input("x").apply(lambda _: pod(EVIL) and None), REGISTRIES),
    "an asynchronous program": (later, REGISTRIES),
    "ignore_changes": (lambda: pod(EVIL, ignore_changes=["spec"]), REGISTRIES),
    "retain_on_delete": (lambda: pod(EVIL, retain_on_delete=True), REGISTRIES),
    "delete_before_replace": (lambda: pod(EVIL, delete_before_replace=True), REGISTRIES),
    "protect": (lambda: pod(EVIL, protect=True), REGISTRIES),
    "an import of what is there": (lambda: pod(EVIL, import_="fraud/model"), REGISTRIES),
    "the namespace of a second provider": (second_provider, PRIVILEGED),
}


def denied(build: Callable[[], object], folder: Path, stack: str = STACK) -> set[str]:
    """The rules that deny what a program registers."""
    return {one.rule for one in review(*recorded(build, folder, stack), stack=stack).findings if one.denies}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_program_hides_is_refused(way: str, tmp_path: Path) -> None:
    build, rule = WAYS[way]
    assert denied(build, tmp_path) == {rule}


def test_an_image_by_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert denied(by_variable(monkeypatch), tmp_path) == {REGISTRIES}


def test_a_stack_of_another_name_has_the_strictest_limits(tmp_path: Path) -> None:
    hub = "docker.io/library/busybox:1.37"
    assert denied(lambda: pod(hub), tmp_path, "dev") == set()
    for name in ("DEV", "dev ", "Dev-1", "devel", "xdev", "dеv"):  # noqa: RUF001 - the last has a letter of another alphabet
        assert denied(lambda: pod(hub), tmp_path, name) == {REGISTRIES}


def test_without_the_trick_it_is_allowed(tmp_path: Path) -> None:
    assert denied(pod, tmp_path) == set()
