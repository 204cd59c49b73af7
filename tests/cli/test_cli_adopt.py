"""What an interrupted run was making is listed with its id, and becomes part of the state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clouds import sdk
from command import gpuyard, refused
from ruamel.yaml import YAML

from gpuyard.cli.interrupted import adopted, creations
from gpuyard.review.errors import InputError

IDS = YAML(typ="safe", pure=True).load((Path(__file__).parents[2] / "cli" / "ids.yaml").read_text())
PROVIDER = "urn:pulumi:prod::gpuyard::pulumi:providers:aws::prod::1"


def resource(type_: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:prod::gpuyard::{type_}::{name}"
    return {"urn": urn, "type": type_, "custom": True, "inputs": inputs, "provider": PROVIDER} | more


ROLE = resource("aws:iam/role:Role", "node", {"name": "node-1a2b3c4", "__defaults": ["name"]})
VPC = resource("aws:ec2/vpc:Vpc", "net", {"cidrBlock": "10.0.0.0/16", "tags": {"stack": "prod", "Name": "net"}})
GROUP = resource("aws:eks/nodeGroup:NodeGroup", "h100", {"clusterName": "prod-1", "nodeGroupName": "h100-2"})
SPACE = resource("kubernetes:core/v1:Namespace", "fraud", {"metadata": {"name": "fraud"}})
SERVICE = resource("kubernetes:core/v1:Service", "score", {"metadata": {"name": "score", "namespace": "fraud"}})
RELEASE = resource("kubernetes:helm.sh/v3:Release", "keda", {"name": "keda", "namespace": "keda"})
HARMLESS = [
    resource("pulumi:providers:kubernetes", "prod", {}),
    resource("gpuyard:index:Tenant", "fraud", {}, custom=False),
]


def state(*making: dict[str, Any], there: tuple[dict[str, Any], ...] = (), **operations: str) -> dict[str, Any]:
    pending = [{"type": "creating", "resource": one} for one in making]
    pending += [{"type": type_, "resource": VPC} for type_ in operations.values()]
    return {"version": 3, "deployment": {"resources": list(there), "pending_operations": pending}}


def test_an_id_that_follows_from_the_inputs_is_told_and_else_the_tags_are() -> None:
    found = creations(state(ROLE, GROUP, VPC, SPACE, SERVICE, RELEASE, *HARMLESS))
    ids = [one.known_id for one in found]
    assert ids == ["node-1a2b3c4", "prod-1:h100-2", None, "fraud", "fraud/score", "keda/keda"]
    assert found[2].tags == {"stack": "prod", "Name": "net"}


def test_what_is_taken_over_keeps_the_name_that_the_engine_gave_it() -> None:
    # `pulumi import` would take the name for the program's own, and replace the resource at the next update.
    mended = adopted(state(ROLE, VPC), {ROLE["urn"]: "node-1a2b3c4"})["deployment"]
    assert mended["resources"] == [{**ROLE, "id": "node-1a2b3c4"}]
    assert [operation["resource"]["urn"] for operation in mended["pending_operations"]] == [VPC["urn"]]


def test_other_operations_stay_for_a_refresh_to_settle() -> None:
    given = state(ROLE, one="updating", two="deleting")
    assert [one.urn for one in creations(given)] == [ROLE["urn"]]
    kept = adopted(given, {ROLE["urn"]: "x"})["deployment"]["pending_operations"]
    assert [operation["type"] for operation in kept] == ["updating", "deleting"]


def test_what_was_being_replaced_is_not_in_the_state_twice() -> None:
    with pytest.raises(InputError, match="exists and was being replaced"):
        adopted(state(ROLE, there=(ROLE,)), {ROLE["urn"]: "new"})


def test_the_command_lists_and_mends(tmp_path: Path) -> None:
    given, mended = tmp_path / "interrupted.json", tmp_path / "mended.json"
    given.write_text(json.dumps(state(ROLE, VPC)))
    listed = gpuyard("adopt", given)
    assert listed.code == 0
    assert "id node-1a2b3c4" in listed.out
    assert "look for the tags Name=net, stack=prod" in listed.out
    assert gpuyard("adopt", given, "--out", mended).out.startswith("1 taken over, 1 left")
    assert [r["id"] for r in json.loads(mended.read_text())["deployment"]["resources"]] == ["node-1a2b3c4"]
    assert gpuyard("adopt", given, "--out", mended, "--id", VPC["urn"], "vpc-1").out == "2 taken over, 0 left\n"
    assert gpuyard("adopt", mended).out == "nothing was being made\n"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, (), "state.json: No such file or directory: give the file"),
        ("{", (), "is no JSON"),
        ("[]", (), "is no state of a stack"),
        ('{"resources": []}', (), "this is no state of a stack"),
        (json.dumps(state(ROLE)), ("--id", "urn:x", "1"), f"urn:x: is not being made in this state: give one of {ROLE['urn']}"),
        (json.dumps(state(ROLE)), ("--out", "/nowhere/mended.json"), "give a file that can be written"),
    ],
)  # fmt: skip
def test_what_is_no_state_or_no_creation_is_refused(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "state.json"
    if content is not None:
        path.write_text(content)
    assert message in refused(gpuyard("adopt", path, *arguments), 2)


@pytest.mark.parametrize("type_", [one for one in IDS if not one.startswith("kubernetes:")])
def test_an_id_is_made_of_inputs_that_its_type_has(type_: str) -> None:
    known = set(sdk.inputs(type_)["block"])
    assert {part.partition("}")[0] for part in IDS[type_].split("{")[1:]} <= known
