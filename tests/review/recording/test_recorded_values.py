"""What a recording has of a value: unknown parts, references, numbers, and what callbacks and transforms make."""

from __future__ import annotations

from typing import Any

from recorded import by_name, record, write

from gpuyard.review.recording import Resource


def resource(source: str, tmp_path: Any) -> Resource:
    program = f"import pulumi\nfrom pulumi import CustomResource, Output, ResourceOptions\n{source}"
    return by_name(record(write(tmp_path, program)))["it"]


def test_a_text_with_an_unknown_part_is_unknown(tmp_path: Any) -> None:
    it = resource(
        """
other = CustomResource("a:b:C", "other", {"arn": None})
CustomResource("a:b:C", "it", {
    "url": Output.concat("https://", other.id), "list": [1, other.id, {"deep": other.id}],
    "json": Output.json_dumps({"a": other.id}), "keys": {"a/b": other.id, "c~d": {"": other.id}},
})
""",
        tmp_path,
    )
    assert it["unknown"] == ["/json", "/keys/a~1b", "/keys/c~0d/", "/list/1", "/list/2/deep", "/url"]
    assert it["inputs"]["list"] == [1, None, {"deep": None}]


def test_a_secret_that_is_not_known_is_both(tmp_path: Any) -> None:
    it = resource(
        """
other = CustomResource("a:b:C", "other")
CustomResource("a:b:C", "it", {"a": Output.secret(other.id), "b": Output.secret({"c": [1, "x"]})})
""",
        tmp_path,
    )
    assert (it["secret"], it["unknown"]) == (["/a", "/b"], ["/a"])
    assert it["inputs"]["b"] == {"c": [1, "x"]}


def test_a_reference_to_a_resource_is_its_urn(tmp_path: Any) -> None:
    it = resource(
        """
other = CustomResource("a:b:C", "other")
component = pulumi.ComponentResource("a:b:D", "component")
CustomResource("a:b:C", "it", {"custom": other, "component": component})
""",
        tmp_path,
    )
    assert it["inputs"] == {
        "custom": {"id": None, "urn": "urn:pulumi:dev::shop::a:b:C::other"},
        "component": {"urn": "urn:pulumi:dev::shop::a:b:D::component"},
    }
    assert it["unknown"] == ["/custom/id"]


def test_large_numbers_are_kept_and_fractions_too(tmp_path: Any) -> None:
    it = resource('CustomResource("a:b:C", "it", {"n": [0, -1, 1.5, 2**53, 1e300, 0.1, True]})', tmp_path)
    assert it["inputs"]["n"] == [0, -1, 1.5, 2**53, int(1e300), 0.1, True]


def test_resources_made_in_a_callback_on_known_values_are_recorded(tmp_path: Any) -> None:
    it = resource(
        """
def make(size):
    CustomResource("a:b:C", "it", {"size": size})
Output.from_input(3).apply(make)
""",
        tmp_path,
    )
    assert it["inputs"] == {"size": 3}


def test_a_method_of_a_resource_gives_an_unknown(tmp_path: Any) -> None:
    it = resource(
        """
other = CustomResource("a:b:C", "other")
called = pulumi.runtime.call("a:b:C/kubeconfig", {"__self__": other}, other)
CustomResource("a:b:C", "it", {"called": called, "one": called.apply(lambda v: v["one"])})
""",
        tmp_path,
    )
    assert it["unknown"] == ["/called", "/one"]


def test_an_asynchronous_program_is_awaited(tmp_path: Any) -> None:
    it = resource(
        """
import asyncio
async def main():
    await asyncio.sleep(0)
    CustomResource("a:b:C", "it", {"x": 1})
    return {"exported": 1}
pulumi.run(main)
""",
        tmp_path,
    )
    assert it["inputs"] == {"x": 1}


def test_new_options_of_a_transform_do_not_lose_what_the_inputs_depend_on(tmp_path: Any) -> None:
    it = resource(
        """
other, more, gone = (CustomResource("a:b:C", name) for name in ("other", "more", "gone"))
def changed(args):
    options = ResourceOptions(depends_on=[more], retain_on_delete=True, ignore_changes=["x"])
    return pulumi.ResourceTransformResult(args.props, options)
CustomResource("a:b:C", "it", {"x": other.id},
    ResourceOptions(transforms=[changed], depends_on=[gone], protect=True))
""",
        tmp_path,
    )
    prefix = "urn:pulumi:dev::shop::a:b:C::"
    assert it["options"] == {
        "retain_on_delete": True,
        "ignore_changes": ["x"],
        "depends_on": [f"{prefix}more", f"{prefix}other"],
    }


def test_invoke_transforms_run(tmp_path: Any) -> None:
    it = resource(
        """
def moved(args):
    return pulumi.InvokeTransformResult({**args.args, "region": "eu-central-1"}, args.opts)
pulumi.runtime.register_invoke_transform(moved)
region = pulumi.runtime.invoke("aws:index/getRegion:getRegion", {}).value
CustomResource("a:b:C", "it", {"region": region["id"]})
""",
        tmp_path,
    )
    assert it["inputs"] == {"region": "eu-central-1"}


def test_a_hook_does_not_disturb(tmp_path: Any) -> None:
    it = resource(
        """
def before(args):
    raise AssertionError("nothing is created here")
hook = pulumi.ResourceHook("before", before)
options = ResourceOptions(hooks=pulumi.ResourceHookBinding(before_create=[hook]))
CustomResource("a:b:C", "it", {"x": 1}, options)
""",
        tmp_path,
    )
    assert it["inputs"] == {"x": 1}


def test_the_root_directory_and_the_organisation_are_as_in_a_real_run(tmp_path: Any) -> None:
    it = resource(
        """
import os, sys
CustomResource("a:b:C", "it", {
    "root": pulumi.runtime.get_root_directory(), "cwd": os.getcwd(), "organization": pulumi.get_organization(),
    "preview": pulumi.runtime.is_dry_run(), "stack": pulumi.get_stack(), "project": pulumi.get_project(),
})
""",
        tmp_path,
    )
    assert it["inputs"] == {
        "root": str(tmp_path),
        "cwd": str(tmp_path),
        "organization": "organization",
        "preview": True,
        "stack": "dev",
        "project": "shop",
    }
