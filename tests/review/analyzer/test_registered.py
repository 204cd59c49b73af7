"""From the engine's messages to resources as a recording has them."""

from __future__ import annotations

from typing import Any

import pytest
from documents import kubernetes, resource
from google.protobuf import struct_pb2
from pack import Json, engines_own, registration, struct, without_internal

from gpuyard.review.analyzer.registered import Registered, is_default_provider
from gpuyard.review.recording.values import SECRET, SIGNATURE, UNKNOWN, UNKNOWN_OTHERS

GROUP = "aws:eks/nodeGroup:NodeGroup"


def read(properties: Json, *, remediated: Json | None = None, type_: str = GROUP) -> Any:
    """What is read of properties as Remediate shows them; Analyze shows these, or others."""
    message = registration(resource(type_, "a", {}))
    message.properties.update(properties)
    registered = Registered()
    registered.defaults(message)
    if remediated is not None:
        message.properties.Clear()
        message.properties.update(remediated)
    message.properties.CopyFrom(without_internal(message.properties))
    return registered.resource(message)


def test_a_resource_is_as_a_recording_has_it() -> None:
    provider = resource("pulumi:providers:kubernetes", "k8s", {"kubeconfig": None}, unknown=["/kubeconfig"])
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": None, "c": "d"}}
    given = kubernetes(manifest, provider=provider, unknown=["/data/b"], parent="urn:pulumi:dev::shop::a:b:C::c")
    given["options"] = {"protect": True, "ignore_changes": ["data"], "aliases": ["urn:pulumi:dev::shop::a:b:C::d"]}
    found = Registered().resource(registration(given, [provider]))
    assert found == given
    assert Registered().resource(registration(provider)) == provider


def test_what_the_engine_makes_by_itself_is_no_resource_of_the_program() -> None:
    assert [Registered().resource(message) for message in engines_own("shop", "dev")] == [None, None]
    given = resource(GROUP, "a", {})
    message = registration(given)
    assert is_default_provider(message.provider.urn)
    found = Registered().resource(message)
    assert found is not None
    assert (found["provider"], found["custom"]) == ("", True)


@pytest.mark.parametrize(
    ("name", "default"),
    [("default", True), ("default_7_51_0", True), ("default_7_51_0_alpha", True), ("default-eu", False), ("eu", False)],
)
def test_a_provider_of_ones_own_may_be_called_nearly_as_the_engines(name: str, default: bool) -> None:
    assert is_default_provider(f"urn:pulumi:dev::shop::pulumi:providers:aws::{name}") == default


def test_a_provider_of_ones_own_that_is_called_as_the_engines_is_the_programs() -> None:
    """The engine gives its own no parent, and a program's always has one."""
    root = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
    own = resource("pulumi:providers:aws", "default", {"region": "eu-west-1"}, parent=root)
    group = resource(GROUP, "a", {"nodeRole": "b"}, provider=own)
    registered = Registered()
    assert registered.resource(registration(own)) == own
    message = registration(group, [own])
    registered.defaults(message)
    message.properties.CopyFrom(without_internal(message.properties))
    assert registered.resource(message) == group
    child = resource("pulumi:providers:aws", "default", {}, parent="urn:pulumi:dev::shop::a:b:C::c")
    child["urn"] = "urn:pulumi:dev::shop::a:b:C$pulumi:providers:aws::default"
    assert Registered().resource(registration(child)) == child


@pytest.mark.parametrize("name", ["pulumi:providers:x::default", "a::pulumi:providers:aws::default_1_2_3"])
def test_a_resources_name_makes_no_provider_of_it(name: str) -> None:
    given = kubernetes({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, name=name)
    assert not is_default_provider(given["urn"])
    assert Registered().resource(registration(given)) == given


def test_a_component_has_no_provider() -> None:
    found = Registered().resource(registration(resource("gpuyard:index:Tenant", "a", {"b": 1}, custom=False)))
    assert found is not None
    assert (found["custom"], found["provider"], found["inputs"]) == (False, "", {"b": 1})


def test_what_the_provider_added_is_taken_out_at_any_depth() -> None:
    found = read(
        {
            "__defaults": ["forceUpdate"],
            "forceUpdate": False,
            "scaling": {"__defaults": ["min"], "min": 1, "max": 2},
            "taints": [{"__defaults": ["effect"], "effect": "NO_SCHEDULE", "key": "a"}, {"__defaults": [], "key": "b"}],
            "hidden": {SIGNATURE: SECRET, "value": {"__defaults": ["x"], "x": 1, "y": 2}},
        }
    )
    assert found["inputs"] == {"scaling": {"max": 2}, "taints": [{"key": "a"}, {"key": "b"}], "hidden": {"y": 2}}
    assert found["secret"] == ["/hidden"]


@pytest.mark.parametrize("type_", ["kubernetes:helm.sh/v3:Release", "random:index/randomId:RandomId"])
def test_a_program_hides_no_input_by_calling_it_a_default(type_: str) -> None:
    """Of other packages' resources a program may write that key itself, and the engine shows it to nobody."""
    found = read({"__defaults": ["a"], "a": 1, "values": {"__defaults": ["image"], "image": "evil"}}, type_=type_)
    assert found["inputs"] == {"a": 1, "values": {"image": "evil"}}


def test_a_component_hides_no_input_by_calling_it_a_default() -> None:
    message = registration(resource(GROUP, "a", {"__defaults": ["a"], "a": 1}, custom=False))
    registered = Registered()
    registered.defaults(message)
    message.properties.CopyFrom(without_internal(message.properties))
    found = registered.resource(message)
    assert found is not None
    assert found["inputs"] == {"a": 1}


@pytest.mark.parametrize(("properties", "there"), [({}, False), ({"__defaults": []}, True)])
def test_what_the_engine_leaves_out_is_told_from_what_a_program_leaves_unsaid(properties: Json, there: bool) -> None:
    """Of a resource that is not targeted, and not there yet, it shows no inputs, and a checked one has its defaults."""
    message = registration(resource(GROUP, "a", {}))
    message.properties.Clear()
    message.properties.update(properties)
    registered = Registered()
    registered.defaults(message)
    message.properties.CopyFrom(without_internal(message.properties))
    assert (registered.resource(message) is not None) == there


def test_a_default_that_is_not_known_or_secret_leaves_no_mark() -> None:
    found = read({"__defaults": ["a", "b"], "a": UNKNOWN, "b": {SIGNATURE: SECRET, "value": "x"}, "c": UNKNOWN})
    assert (found["inputs"], found["unknown"], found["secret"]) == ({"c": None}, ["/c"], [])


def test_a_default_that_another_pack_changed_is_none() -> None:
    found = read({"__defaults": ["a", "b"], "a": 1, "b": 2}, remediated={"a": 3, "b": 2})
    assert found["inputs"] == {"a": 3}


def test_a_name_that_the_provider_chose_is_kept_apart() -> None:
    found = read({"__defaults": ["name"], "name": "a-1a2b3c4"})
    assert (found["inputs"], found["autoname"]) == ({}, "a-1a2b3c4")
    assert "autoname" not in read({"__defaults": [], "name": "a"})
    autonamed = {"name": "a-1a2b3c4d", "annotations": {"pulumi.com/autonamed": "true"}, "namespace": "b"}
    found = read({"metadata": autonamed}, type_="kubernetes:core/v1:ConfigMap")
    assert (found["inputs"], found["autoname"]) == ({"metadata": {"namespace": "b"}}, "a-1a2b3c4d")


def test_a_secrets_contents_are_secret_though_nobody_marks_them() -> None:
    found = read({"apiVersion": "v1", "kind": "Secret", "data": {"a": "Yg=="}}, type_="kubernetes:core/v1:Secret")
    assert found["secret"] == ["/data"]


@pytest.mark.parametrize("sign", sorted({UNKNOWN, *UNKNOWN_OTHERS}))
def test_every_sign_for_a_value_that_is_not_known_is_one(sign: str) -> None:
    found = read({"a": sign, "b": [sign]})
    assert (found["inputs"], found["unknown"]) == ({"a": None, "b": [None]}, ["/a", "/b/0"])


def test_output_values_of_components_of_other_programs_are_read() -> None:
    output = {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "dependencies": ["urn:pulumi:dev::shop::a:b:C::c"]}
    found = read({"a": output, "b": output | {"value": 1, "secret": True}})
    assert (found["inputs"], found["unknown"], found["secret"]) == ({"a": None, "b": 1}, ["/a"], ["/b"])


def test_a_number_that_json_does_not_have_names_the_resource() -> None:
    message = registration(resource(GROUP, "a", {}))
    message.properties.update({"a": float("inf")})
    with pytest.raises(ValueError, match=r"nodeGroup:NodeGroup::a: /a is inf"):
        Registered().resource(message)


def test_struct_makes_what_a_program_sends() -> None:
    made = struct({"a": {"b": None}, "c": 1}, ["/a/b"], ["/a", "/a/b"])
    inner = {SIGNATURE: SECRET, "value": {"b": {SIGNATURE: SECRET, "value": UNKNOWN}}}
    expected = struct_pb2.Struct()
    expected.update({"a": inner, "c": 1})
    assert made == expected
