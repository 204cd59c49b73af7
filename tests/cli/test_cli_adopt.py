"""What an interrupted run was making is listed with its id, and becomes part of the state."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from clouds import sdk
from command import gpuyard, refused
from ruamel.yaml import YAML

from gpuyard.cli.adopt import adopt
from gpuyard.cli.interrupted import SIGNATURE, Creation, adopted, chosen, creations
from gpuyard.review.errors import InputError

IDS = YAML(typ="safe", pure=True).load((Path(__file__).parents[2] / "cli" / "ids.yaml").read_text())
EXPORT = Path(__file__).with_name("interrupted.json").read_text()
"""What `pulumi stack export` 3.274.1 wrote after a run of tests/programs/cut_off was cut off, without positions in the
program's source."""
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"hunter2"'}
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
    given = state(ROLE, VPC, *HARMLESS)
    mended = adopted(given, {ROLE["urn"]: "node-1a2b3c4"}, [VPC["urn"]])["deployment"]
    assert mended["resources"] == [{**ROLE, "id": "node-1a2b3c4"}]
    assert [operation["resource"] for operation in mended["pending_operations"]] == HARMLESS


def test_nothing_that_was_being_made_is_forgotten_unless_it_is_said_to_be_absent() -> None:
    with pytest.raises(InputError, match=f"neither taken over nor absent: {VPC['urn']}, {GROUP['urn']}$"):
        adopted(state(ROLE, VPC, GROUP), {ROLE["urn"]: "x"})


def test_what_is_said_to_be_absent_is_not_taken_over_though_its_id_is_known() -> None:
    assert chosen(creations(state(ROLE, GROUP)), {}, [ROLE["urn"]]) == {GROUP["urn"]: "prod-1:h100-2"}


def test_other_operations_stay_for_a_refresh_to_settle() -> None:
    given = state(ROLE, one="updating", two="deleting")
    assert [one.urn for one in creations(given)] == [ROLE["urn"]]
    kept = adopted(given, {ROLE["urn"]: "x"})["deployment"]["pending_operations"]
    assert [operation["type"] for operation in kept] == ["updating", "deleting"]


def test_an_operation_of_another_kind_makes_no_resource_of_what_is_taken_over() -> None:
    given = state(VPC, one="updating", two="deleting")
    mended = adopted(given, {VPC["urn"]: "vpc-1"})["deployment"]
    assert mended["resources"] == [{**VPC, "id": "vpc-1"}]
    assert [operation["type"] for operation in mended["pending_operations"]] == ["updating", "deleting"]


def again(one: dict[str, Any], **inputs: str) -> dict[str, Any]:
    return {**one, "inputs": {**one["inputs"], **inputs}}


def test_what_was_begun_twice_is_taken_over_once_as_the_newest_run_wanted_it() -> None:
    # The engine keeps creations of earlier runs, behind those of the latest.
    newest = again(ROLE, path="/new/")
    [one] = creations(state(newest, ROLE))
    assert one.known_id == "node-1a2b3c4"
    mended = adopted(state(newest, ROLE), {one.urn: one.known_id})["deployment"]
    assert mended == {"resources": [{**newest, "id": "node-1a2b3c4"}], "pending_operations": []}
    wider = again(VPC, cidrBlock="10.0.0.0/8")
    assert adopted(state(wider, VPC), {VPC["urn"]: "vpc-1"})["deployment"]["resources"] == [{**wider, "id": "vpc-1"}]


def test_what_was_begun_twice_under_two_names_is_not_taken_over_unasked() -> None:
    given = state(again(ROLE, name="node-2"), ROLE)
    [one] = creations(given)
    assert (one.known_id, one.ids) == (None, ("node-2", "node-1a2b3c4"))
    assert adopted(given, {one.urn: "node-1a2b3c4"})["deployment"]["resources"] == [{**ROLE, "id": "node-1a2b3c4"}]


def test_what_was_being_replaced_is_not_in_the_state_twice() -> None:
    making = creations(state(ROLE, there=({**ROLE, "id": "old"},)))
    assert [(one.there, one.known_id, one.ids) for one in making] == [("old", None, ("node-1a2b3c4",))]
    with pytest.raises(InputError, match=r"the state has it already, as old: .* give --absent instead"):
        chosen(making, {ROLE["urn"]: "new"}, [])
    assert chosen(making, {}, [ROLE["urn"]]) == {}


def test_what_a_later_run_made_under_the_same_id_is_in_the_state() -> None:
    assert creations(state(SPACE, there=({**SPACE, "id": "fraud"},))) == []


def test_the_successor_of_what_is_deleted_takes_its_place() -> None:
    old = {**GROUP, "id": "prod-1:h100-1"}
    behind = {**VPC, "id": "vpc-1", "dependencies": [GROUP["urn"]]}
    deleted = adopted(
        state(GROUP, there=({**old, "pendingReplacement": True}, behind)), {GROUP["urn"]: "prod-1:h100-2"}
    )
    assert deleted["deployment"]["resources"] == [{**GROUP, "id": "prod-1:h100-2"}, behind]
    to_delete = {**old, "delete": True}
    both = adopted(state(GROUP, there=(to_delete,)), {GROUP["urn"]: "prod-1:h100-2"})
    assert both["deployment"]["resources"] == [to_delete, {**GROUP, "id": "prod-1:h100-2"}]


def creation(type_: str, inputs: Any) -> Creation:
    [one] = creations(state(resource(type_, "x", inputs)))
    return one


@pytest.mark.parametrize(
    ("inputs", "tags"),
    [
        ({"tags": ["ssh"], "labels": {"stack": "dev"}}, {"stack": "dev"}),
        ({"resourceLabels": {"stack": "dev", "n": 1}}, {"stack": "dev"}),
        ({"tags": SECRET, "labels": {"stack": "dev", "key": SECRET}}, {"stack": "dev"}),
        ({"tags": None}, {}),
        (None, {}),
    ],
)
def test_tags_and_labels_are_told_and_secrets_are_not(inputs: Any, tags: dict[str, str]) -> None:
    assert creation("gcp:compute/instance:Instance", inputs).tags == tags


@pytest.mark.parametrize("metadata", [None, {}, [], {"name": SECRET}, {"name": "a", "namespace": SECRET}, SECRET])
def test_an_object_whose_name_is_not_told_has_no_id(metadata: Any) -> None:
    assert creation("kubernetes:core/v1:Pod", {"metadata": metadata}).known_id is None


@pytest.mark.parametrize("name", [None, "", SECRET, 1])
def test_an_input_that_is_not_told_makes_no_id(name: Any) -> None:
    assert creation("aws:iam/role:Role", {"name": name}).known_id is None


def test_the_command_lists_and_mends(tmp_path: Path) -> None:
    given, mended = tmp_path / "interrupted.json", tmp_path / "mended.json"
    given.write_text(json.dumps(state(ROLE, VPC)))
    listed = gpuyard("adopt", given)
    assert listed.code == 0
    assert "id node-1a2b3c4" in listed.out
    assert "look for the tags Name=net, stack=prod" in listed.out
    message = refused(gpuyard("adopt", given, "--out", mended), 2)
    assert VPC["urn"] in message
    assert ROLE["urn"] not in message
    assert not mended.exists()
    done = gpuyard("adopt", given, "--out", mended, "--absent", VPC["urn"])
    assert done.out == "1 taken over, 1 absent\n"
    assert [r["id"] for r in json.loads(mended.read_text())["deployment"]["resources"]] == ["node-1a2b3c4"]
    assert gpuyard("adopt", given, "--out", mended, "--id", VPC["urn"], "vpc-1").out == "2 taken over, 0 absent\n"
    assert gpuyard("adopt", mended).out == "nothing was being made\n"


def test_what_was_being_replaced_is_listed_and_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    given, mended = tmp_path / "interrupted.json", tmp_path / "mended.json"
    given.write_text(json.dumps(state(ROLE, VPC, VPC, GROUP, there=({**ROLE, "id": "old"},))))
    assert gpuyard("adopt", given).out == (
        f"{ROLE['urn']}\n  the state has old, and there may be another: look for id node-1a2b3c4, delete it, "
        "then give --absent\n"
        f"{VPC['urn']}\n  begun 2 times: look for the tags Name=net, stack=prod, keep one by --id, and delete any other\n"
        f"{GROUP['urn']}\n  id prod-1:h100-2\n"
    )
    absent = ("--absent", ROLE["urn"], "--absent", VPC["urn"])
    assert gpuyard("adopt", given, *absent, "--out", mended).out == "1 taken over, 2 absent\n"


def changes(node: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a document, as the container and the key in it."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from changes(node[key])


def test_a_state_that_is_changed_anywhere_is_mended_or_refused_and_never_crashes(tmp_path: Path) -> None:
    given, mended = tmp_path / "interrupted.json", tmp_path / "mended.json"
    document = json.loads(EXPORT)
    operations = document["deployment"]["pending_operations"]
    operations += [{"type": "creating", "resource": one} for one in (SPACE, SERVICE, RELEASE)]
    document["deployment"]["resources"].append({**ROLE, "id": "node-1a2b3c4"})
    [network] = [one["resource"]["urn"] for one in operations if one["resource"]["type"] == "aws:ec2/vpc:Vpc"]

    def run(*arguments: str) -> int:
        given.write_text(json.dumps(document))
        result = CliRunner().invoke(adopt, [str(given), *arguments])
        assert isinstance(result.exception, InputError | None), (container, key, result.exc_info)
        return result.exit_code

    container = key = None
    assert run("--absent", network, "--out", str(mended)) == 0
    for container, key in list(changes(document)):
        before = copy.copy(container)
        for value in (None, [], "", "x", 1, {"x": None}, SECRET):
            container[key] = value
            run()
            run("--absent", network, "--out", str(mended))
        del container[key]
        run()
        run("--absent", network, "--out", str(mended))
        container.clear()
        container.update(before) if isinstance(container, dict) else container.extend(before)
    assert run("--absent", network, "--out", str(mended)) == 0


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, (), "state.json: No such file or directory: give the file"),
        ("{", (), "is no JSON"),
        ("[]", (), "is no state of a stack"),
        ('{"resources": []}', (), "this is no state of a stack"),
        (json.dumps(state(ROLE)), ("--id", "urn:x", "1"), f"urn:x: is not being made in this state: give one of {ROLE['urn']}"),
        (json.dumps(state(ROLE)), ("--out", "/nowhere/mended.json"), "give a file that can be written"),
        (json.dumps(state(ROLE)), ("--absent", "urn:x"), "urn:x: is not being made in this state"),
        (json.dumps(state(VPC)), ("--id", VPC["urn"], "1", "--absent", VPC["urn"]), "give one of them"),
        (json.dumps(state(VPC)), ("--id", VPC["urn"], "1", "--id", VPC["urn"], "2"), "two ids for one URN"),
        (json.dumps(state(VPC)), ("--id", VPC["urn"], ""), "the id is empty"),
        (json.dumps(state({"urn": "urn:x"})), (), "state.json: deployment.pending_operations[0].resource.type: is missing"),
        (json.dumps(state(again(VPC) | {"inputs": []})), (), "pending_operations[0].resource.inputs: is no mapping"),
        ('{"deployment": {"pending_operations": [{}]}}', (), "deployment.pending_operations[0]: has no type"),
        ('{"deployment": {"resources": {}}}', (), "state.json: deployment.resources: is no list"),
        ("[" * 100_000, (), "is no JSON"),
    ],
)  # fmt: skip
def test_what_is_no_state_or_no_creation_is_refused(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "state.json"
    if content is not None:
        path.write_text(content)
    assert message in refused(gpuyard("adopt", path, *arguments), 2)


def test_the_export_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(state(ROLE)))
    assert "is the exported state" in refused(gpuyard("adopt", path, "--out", path), 2)
    assert json.loads(path.read_text()) == state(ROLE)


@pytest.mark.parametrize("type_", [one for one in IDS if not one.startswith("kubernetes:")])
def test_an_id_is_made_of_inputs_that_its_type_has(type_: str) -> None:
    known = set(sdk.inputs(type_)["block"])
    assert {part.partition("}")[0] for part in IDS[type_].split("{")[1:]} <= known
