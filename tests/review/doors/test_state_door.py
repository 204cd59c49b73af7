"""The state of a stack is judged as its program was; secrets stay secret, and what is going is not there."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_stack import broken
from documents import DATE, Json

from gpuyard.cli.given import each_given, of_state
from gpuyard.review.doors import Given
from gpuyard.review.doors.state import from_state
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.recording import Recording
from gpuyard.review.report.json import to_json

INTERRUPTED = Path(__file__).parents[2] / "cli" / "interrupted.json"
SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
URN = "urn:pulumi:prod::shop::"
STACK = f"{URN}pulumi:pulumi:Stack::shop-prod"
POLICIES = find_policies(Path("/nonexistent"))
TOKEN = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3h"


def entry(type_: str, name: str, inputs: Json | None = None, **more: Any) -> Json:
    provider = f"{URN}pulumi:providers:{type_.partition(':')[0]}::default_7_51_1::0af1"
    made = {"urn": f"{URN}{type_}::{name}", "custom": True, "type": type_, "id": name, "parent": STACK}
    return made | ({"inputs": inputs} if inputs is not None else {}) | {"provider": provider} | more


AWS = {
    "urn": f"{URN}pulumi:providers:aws::default_7_51_1",
    "custom": True,
    "id": "0af1",
    "type": "pulumi:providers:aws",
    "inputs": {"region": "us-east-1", "secretKey": {SIGNATURE: SECRET, "ciphertext": "v1:abc"}},
}
GROUP = entry(
    "aws:eks/nodeGroup:NodeGroup",
    "gpu",
    {
        "__defaults": ["nodeGroupName", "diskSize"],
        "nodeGroupName": "gpu-0f3a",
        "diskSize": 20,
        "instanceTypes": ["p5.48xlarge"],
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"__defaults": [], "minSize": 1, "desiredSize": 1, "maxSize": 2},
        "clusterName": "c",
    },
    protect=True,
    dependencies=[AWS["urn"]],
    sourcePosition="project:///infra/__main__.py#7,0",
)


def pod(**container: Any) -> Json:
    spec = {"containers": [{"name": "c", "image": "docker.io/vllm/vllm-openai:v0.32.0"} | container]}
    metadata = {"name": "p-8f1", "namespace": "fraud", "annotations": {"pulumi.com/autonamed": "true"}}
    return entry("kubernetes:core/v1:Pod", "p", {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def given(folder: Path, *entries: Json, **deployment: Any) -> Given:
    return from_state(stored(folder, *entries, **deployment))


def stored(folder: Path, *entries: Json, **deployment: Any) -> Path:
    stack = {"urn": STACK, "custom": False, "type": "pulumi:pulumi:Stack"}
    file = folder / "state.json"
    file.write_text(json.dumps({"version": 3, "deployment": {"resources": [stack, *entries], **deployment}}))
    return file


def test_resources_are_what_the_program_said_without_what_providers_have_added(tmp_path: Path) -> None:
    recording = given(tmp_path, AWS, GROUP, pod()).recording
    assert (recording.project, recording.stack, recording.config) == ("shop", "prod", {"aws:region": "us-east-1"})
    group, made = recording.resources
    assert group == {
        "urn": GROUP["urn"],
        "type": GROUP["type"],
        "name": "gpu",
        "parent": STACK,
        "custom": True,
        "provider": "",
        "inputs": {
            "instanceTypes": ["p5.48xlarge"],
            "capacityType": "ON_DEMAND",
            "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
            "clusterName": "c",
        },
        "unknown": [],
        "secret": [],
        "options": {"protect": True, "depends_on": [AWS["urn"]]},
        "source": "infra/__main__.py:7",
    }
    assert (made["inputs"]["metadata"], made["autoname"]) == ({"namespace": "fraud"}, "p-8f1")


def test_what_is_deployed_is_judged_with_its_cost_and_by_its_own_name(tmp_path: Path) -> None:
    file = stored(tmp_path, AWS, GROUP, pod(securityContext={"privileged": True}))
    found, _ = of_state(file, ("prod",))
    review = each_given(found, POLICIES, DATE).made["prod"]
    assert review.document["environment"] == "production"
    assert review.document["cost"]["total"]["max"] > 50_000
    assert {"quota/machines", "isolation/privileged"} <= {one.rule for one in review.findings if one.denies}


def test_a_secret_stays_secret_and_is_unknown_unless_the_file_tells_it(tmp_path: Path) -> None:
    told, kept = pod(env=[{"name": "HF_TOKEN", "value": {SIGNATURE: SECRET, "plaintext": json.dumps(TOKEN)}}]), pod()
    kept["urn"] = kept["urn"] + "2"
    kept["inputs"]["spec"]["containers"] = {SIGNATURE: SECRET, "ciphertext": "v1:abc"}
    found = given(tmp_path, told, kept)
    one, other = found.recording.resources
    assert (one["secret"], one["unknown"]) == (["/spec/containers/0/env/0/value"], [])
    assert (other["secret"], other["unknown"]) == (["/spec/containers"], ["/spec/containers"])
    assert [part.what for part in found.hidden] == ["p2/spec/containers, which is a secret of the state"]
    made = each_given([found], POLICIES, DATE).made["prod"]
    assert TOKEN not in to_json([made])
    assert [part for part in made.unseen if part.urn == kept["urn"]]


def test_what_is_going_or_is_not_the_stacks_is_not_judged_and_said_so(tmp_path: Path) -> None:
    going = pod(securityContext={"privileged": True}) | {"delete": True}
    foreign = entry("aws:s3/bucket:Bucket", "theirs", {}, external=True)
    coming = {"type": "creating", "resource": entry("aws:s3/bucket:Bucket", "coming", {})}
    found = given(tmp_path, AWS, pod(), going, foreign, pending_operations=[coming])
    assert [one["name"] for one in found.recording.resources] == ["p"]
    assert [part.what for part in found.hidden] == [
        "the p that is still to be deleted",
        "theirs, which somebody else has made",
        "coming, whose creation was cut off",
    ]


def test_a_resource_without_inputs_is_judged_like_any_other(tmp_path: Path) -> None:
    silent = entry("aws:efs/fileSystem:FileSystem", "silent")
    assert [one["inputs"] for one in given(tmp_path, AWS, silent).recording.resources] == [{}]


def test_what_the_engine_wrote_is_read(tmp_path: Path) -> None:
    found = from_state(INTERRUPTED)
    assert (found.recording.project, found.recording.stack) == ("cut-off", "dev")
    assert [one["type"] for one in found.recording.resources] == ["pulumi:providers:aws"]
    assert {part.what.partition(",")[2] for part in found.hidden} == {" whose creation was cut off"}


def whole(change: Callable[[Json], object]) -> Callable[[Json], Any]:
    def changed(state: Json) -> Any:
        change(state["deployment"]["resources"][1])
        return state

    return changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: [], "is no state of a stack"),
        (lambda state: {"version": 3, "checkpoint": {"latest": state["deployment"]}}, "is no state of a stack"),
        (lambda state: {"deployment": {}}, "has no resource"),
        (lambda state: {"deployment": {"resources": {}}}, "has no resource"),
        (lambda state: {"deployment": {"resources": {"a": 1}}}, "is no list"),
        (lambda state: {"deployment": {"resources": ["a"]}}, "resources[0]: is no resource"),
        (whole(lambda one: one.pop("urn")), "resources[1].urn: is missing"),
        (whole(lambda one: one.update(urn="pod")), "is no URN"),
        (whole(lambda one: one.update(inputs=[])), "resources[1].inputs: is no mapping"),
        (whole(lambda one: one.update(type=3)), "resources[1].type: is no text"),
        (whole(lambda one: one.update(delete="no")), "resources[1].delete: is no truth value"),
        (whole(lambda one: one.update(dependencies=[3])), "resources[1].dependencies: is no list of texts"),
        (whole(lambda one: one.update(urn=one["urn"].replace(":prod:", ":dev:"))), "several stacks"),
        (whole(lambda one: one["inputs"].update(x={SIGNATURE: SECRET, "plaintext": "{"})), "is no JSON"),
        (lambda state: {"deployment": {"resources": state["deployment"]["resources"] * 2}}, "2 resources are called"),
    ],
)
def test_any_other_file_is_one_error_that_names_it(change: Callable[[Json], Any], said: str, tmp_path: Path) -> None:
    file = stored(tmp_path, copy.deepcopy(pod()))
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(InputError) as error:
        from_state(file)
    assert str(error.value).startswith(str(file))
    assert said in str(error.value)
    assert "pulumi stack export" in str(error.value)


def exported(one: Json) -> Json:
    """A resource as the state has it once it is deployed; its provider lists no default, for there is none."""
    made = {key: one[key] for key in ("urn", "type", "custom", "inputs", "parent")} | one["options"]
    made |= {
        "dependencies": made.pop("depends_on", []),
        "provider": f"{one['provider']}::id" if one["provider"] else "",
    }
    if one.get("source"):
        made["sourcePosition"] = f"project:///{one['source'].replace(':', '#')},0"
    return made


def test_a_stack_that_breaks_almost_every_rule_is_refused_for_the_same(tmp_path: Path) -> None:
    own = [one for one in broken().document["resources"] if one["urn"].startswith("urn:pulumi:dev:")]
    plain = [one for one in own if not one["unknown"] and not one["secret"]]
    assert len(plain) > 60
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"deployment": {"resources": [exported(copy.deepcopy(one)) for one in plain]}}))
    before = judge(Recording("shop", "dev", plain, [], 0.0), POLICIES, date=DATE)
    after = each_given([from_state(file)], POLICIES, DATE).made["dev"]
    assert to_json([after]) == to_json([before])
