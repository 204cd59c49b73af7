"""Machines that Cluster API makes of bare hosts: what is declared, where, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import recorded
from pydantic import ValidationError
from ruamel.yaml import YAML

from gpuyard.components.node_groups import metal3, onprem
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

SUM = "0123456789abcdef" * 4
MACHINES: dict[str, Any] = {
    "kind": "metal3",
    "management_context": "hall",
    "namespace": "hall",
    "cluster": "ai",
    "image": {"url": "https://images.example/node-1.35.2.qcow2", "checksum": SUM, "kubernetes": "1.35.2"},
    "hosts": {"machine": "dgx-h100"},
}
GROUP: dict[str, Any] = {"machine": "dgx-h100", "count": 4, "managed_by": MACHINES}


def group(**more: Any) -> onprem.NodeGroupSpec:
    return onprem.NodeGroupSpec.model_validate({**copy.deepcopy(GROUP), **more})


def machines(**more: Any) -> metal3.Metal3Spec:
    return metal3.Metal3Spec.model_validate({**copy.deepcopy(MACHINES), **more})


def made(spec: onprem.NodeGroupSpec, name: str = "dgx") -> dict[str, Any]:
    """The three objects by kind, of a group that the cluster knows by that name."""
    assert spec.managed_by is not None
    host = metal3.host_template(name, spec.managed_by)
    node = metal3.node_template(name, spec.managed_by, onprem.own_labels(name, spec), onprem.machine_taints(spec))
    deployment = metal3.machine_deployment(name, spec.managed_by, spec.count, host, node)
    return {each["kind"]: each for each in (host, node, deployment)}


def test_the_objects_of_a_group_change_only_on_purpose(golden: Callable[[str, Any], None]) -> None:
    taints = [{"key": "team", "value": "vision"}]
    spec = group(labels={"rack": "r7"}, taints=taints, managed_by={**MACHINES, "data_template": "dgx-addresses"})
    golden("metal3", list(made(spec).values()))


def test_nodes_get_the_labels_by_which_pods_find_them_and_the_taints_that_keep_others_off() -> None:
    spec = group(labels={"rack": "r7"}, taints=[{"key": "team", "value": "vision"}])
    registration = made(spec)["KubeadmConfigTemplate"]["spec"]["template"]["spec"]["joinConfiguration"][
        "nodeRegistration"
    ]
    [argument] = registration["kubeletExtraArgs"]
    labels = dict(label.split("=", 1) for label in argument["value"].split(","))
    assert onprem.node_selector("dgx", spec).items() <= labels.items()
    assert labels == {"metal3.io/uuid": "{{ ds.meta_data.uuid }}", "rack": "r7", "gpuyard.io/node-group": "dgx"}
    assert [(taint["key"], taint["value"], taint["effect"]) for taint in registration["taints"]] == [
        ("nvidia.com/gpu", "present", "NoSchedule"),
        ("team", "vision", "NoSchedule"),
    ]


def test_machines_without_accelerators_take_every_pod() -> None:
    spec = group(machine="onprem-cpu")
    registration = made(spec)["KubeadmConfigTemplate"]["spec"]["template"]["spec"]["joinConfiguration"][
        "nodeRegistration"
    ]
    assert registration["taints"] == []


def test_a_partition_reaches_the_operator_by_the_nodes_own_label() -> None:
    spec = group(partition={"kind": "mig", "profiles": {"1g.10gb": 7}})
    assert set(onprem.own_labels("dgx", spec)) > {"gpuyard.io/node-group"}
    registered = made(spec)["KubeadmConfigTemplate"]["spec"]["template"]["spec"]["joinConfiguration"][
        "nodeRegistration"
    ]
    for key, value in onprem.own_labels("dgx", spec).items():
        assert f",{key}={value}" in registered["kubeletExtraArgs"][0]["value"]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"managed_by": {**MACHINES, "image": {**MACHINES["image"], "checksum": SUM * 2}}}, "Metal3MachineTemplate"),
        ({"managed_by": {**MACHINES, "hosts": {"machine": "dgx-h200"}}}, "Metal3MachineTemplate"),
        ({"labels": {"rack": "r8"}}, "KubeadmConfigTemplate"),
        ({"taints": [{"key": "team"}]}, "KubeadmConfigTemplate"),
    ],
)
def test_another_content_is_another_template_to_which_the_machines_move(change: dict[str, Any], kind: str) -> None:
    before, after = made(group()), made(group(**change))
    other = {"Metal3MachineTemplate", "KubeadmConfigTemplate"} - {kind}
    assert before[kind]["metadata"]["name"] != after[kind]["metadata"]["name"]
    assert [before[name] for name in other] == [after[name] for name in other], "and nothing else changes"
    spec = after["MachineDeployment"]["spec"]["template"]["spec"]
    references = [spec["infrastructureRef"], spec["bootstrap"]["configRef"]]
    assert {r["kind"]: r["name"] for r in references} == {
        name: after[name]["metadata"]["name"] for name in ("Metal3MachineTemplate", "KubeadmConfigTemplate")
    }


def test_more_machines_are_no_other_machines() -> None:
    before, after = made(group()), made(group(count=5))
    assert after["MachineDeployment"]["spec"]["replicas"] == 5
    assert after["MachineDeployment"]["spec"]["template"] == before["MachineDeployment"]["spec"]["template"]


def test_no_host_is_needed_beside_those_of_the_group() -> None:
    rollout = made(group())["MachineDeployment"]["spec"]["rollout"]["strategy"]
    assert rollout == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def test_a_checksum_says_by_its_length_what_it_is() -> None:
    image = {**MACHINES["image"], "checksum": SUM * 2}
    template = metal3.host_template("dgx", machines(image=image))
    assert template["spec"]["template"]["spec"]["image"]["checksumType"] == "sha512"
    assert made(group())["Metal3MachineTemplate"]["spec"]["template"]["spec"]["image"]["checksumType"] == "sha256"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": ["a"], "count": 1}, "names and managed_by are given"),
        ({"selector": {"a": "b"}}, "selector and managed_by are given"),
        ({"labels": {"kubernetes.io/role": "gpu"}}, "a node may not give itself labels of Kubernetes"),
        ({"managed_by": {**MACHINES, "hosts": {}}}, "at least 1"),
        ({"managed_by": {**MACHINES, "image": {**MACHINES["image"], "checksum": "md5"}}}, "checksum"),
        ({"managed_by": {**MACHINES, "image": {**MACHINES["image"], "url": "file:///node"}}}, "url"),
        ({"managed_by": {**MACHINES, "image": {**MACHINES["image"], "url": "https://me:secret@x/y"}}}, "url"),
        ({"managed_by": {**MACHINES, "image": {**MACHINES["image"], "kubernetes": "1.35"}}}, "kubernetes"),
        ({"managed_by": {**MACHINES, "kind": "vsphere"}}, "metal3"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        group(**given)


def test_a_node_may_give_itself_labels_that_kubernetes_leaves_to_it() -> None:
    group(labels={"node.kubernetes.io/rack": "r7", "example.com/rack": "r7"})


def stack(**groups: dict[str, Any]) -> dict[str, Any]:
    return {
        "owner": "ml",
        "cost_center": "4711",
        "cluster": {"cloud": "onprem", "context": "ai", "kubernetes": "1.35", "driver_version": "580"},
        "node_groups": copy.deepcopy(groups),
    }


def other(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GROUP), "managed_by": {**copy.deepcopy(MACHINES), **more}}


def old(version: str) -> dict[str, Any]:
    return other(image={**MACHINES["image"], "kubernetes": version})


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": GROUP, "b": other(cluster="lab")}, "node_groups.b.managed_by: its Cluster is hall/lab of context hall, and that of a is hall/ai of context hall"),
        ({"a": GROUP, "b": other(namespace="lab")}, "its Cluster is lab/ai of context hall"),
        ({"a": GROUP, "b": other(management_context=None)}, "its Cluster is hall/ai, and that of a is hall/ai of context hall"),
        ({"a": old("1.36.0")}, "image.kubernetes: 1.36.0 does not go with a cluster of 1.35: give an image of 1.32 to 1.35"),
        ({"a": old("1.31.9")}, "image.kubernetes: 1.31.9 does not go with a cluster of 1.35"),
        ({"g" * 40: other(cluster="c" * 30)}, "71 characters, and 63 are possible: give the group a shorter name"),
    ],
)  # fmt: skip
def test_groups_that_cannot_be_of_one_cluster_are_refused(groups: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidStack) as refused:
        load(stack(**groups), "hall")
    assert message in str(refused.value)


@pytest.mark.parametrize("version", ["1.35.2", "1.32.0"])
def test_a_kubelet_may_be_three_versions_older_than_the_api_server(version: str) -> None:
    load(stack(a=old(version)), "hall")


PROGRAM = """
from gpuyard.components.platform import Platform
from gpuyard.components.stack import load
Platform("hall", load({spec!r}, "hall"))
"""


def recording(tmp_path: Path, **groups: dict[str, Any]) -> dict[str, Any]:
    project = recorded.write(tmp_path, PROGRAM.format(spec=stack(**groups)))
    return {r["urn"]: r for r in recorded.record(project).resources}


def test_machines_are_declared_in_the_management_cluster_and_all_else_in_their_own(tmp_path: Path) -> None:
    resources = recording(tmp_path, dgx=GROUP, cpu={"machine": "onprem-cpu", "count": 1, "names": ["cpu-1"]})
    providers = {r["name"]: r for r in resources.values() if r["type"] == "pulumi:providers:kubernetes"}
    assert {name: p["inputs"]["context"] for name, p in providers.items()} == {"hall": "ai", "hall-management": "hall"}
    assert providers["hall-management"]["options"]["protect"] is True
    where = {
        r["name"]: r["provider"].rpartition("::")[2] for r in resources.values() if r["type"].startswith("kubernetes:")
    }
    there = {name for name, provider in where.items() if provider == "hall-management"}
    assert there == {"dgx-host", "dgx-node", "dgx-deployment"}
    [deployment] = [r for r in resources.values() if r["name"] == "dgx-deployment"]
    assert deployment["options"]["protect"] is True, "its machines would be given back"
    assert {resources[urn]["name"] for urn in deployment["options"]["depends_on"]} == {"dgx-host", "dgx-node"}
    templates = [r for r in resources.values() if r["name"] in ("dgx-host", "dgx-node")]
    assert not any(r["options"].get("protect") for r in templates), "each change makes new ones"


def test_a_cluster_that_manages_itself_needs_no_other_way_in(tmp_path: Path) -> None:
    for context in (None, "ai"):
        resources = recording(tmp_path, dgx=other(management_context=context))
        assert [r["name"] for r in resources.values() if r["type"] == "pulumi:providers:kubernetes"] == ["hall"]
        assert {r["name"] for r in resources.values()} > {"dgx-host", "dgx-node", "dgx-deployment"}


def test_a_renamed_group_keeps_its_machines() -> None:
    before, after = group(), group(was="dgx")
    assert made(before, "dgx") == made(after, after.known_as("h100"))


def test_the_shipped_hall_has_no_machines_of_cluster_api() -> None:
    stacks = Path(__file__).parents[3] / "stacks"
    given = YAML(typ="safe", pure=True).load((stacks / "Pulumi.onprem.yaml").read_text())
    spec = load(given["config"]["gpuyard:platform"], "onprem")
    assert [group.managed_by for group in spec.node_groups.values() if isinstance(group, onprem.NodeGroupSpec)] == [
        None
    ]


def test_labels_and_taints_in_another_order_install_nothing_anew() -> None:
    taints = [{"key": "team", "value": "vision"}, {"key": "batch"}]
    one = group(labels={"rack": "r7", "bay": "3"}, taints=taints)
    other_order = group(labels={"bay": "3", "rack": "r7"}, taints=taints[::-1])
    assert made(one) == made(other_order)
    assert made(one) != made(group(labels={"rack": "r8", "bay": "3"}, taints=taints))


def test_hosts_of_the_clusters_own_pods_are_there_until_its_software_is_gone(tmp_path: Path) -> None:
    cpu = {**other(hosts={"machine": "cpu"}), "machine": "onprem-cpu", "count": 2}
    resources = recording(tmp_path, dgx=GROUP, cpu=cpu)
    releases = {r["name"]: r for r in resources.values() if r["type"] == "kubernetes:helm.sh/v3:Release"}
    operator = releases["nvidia-gpu-operator"]
    needed = {resources[urn]["name"] for urn in operator["options"]["depends_on"]}
    assert "cpu-deployment" in needed, "what ends its objects runs there"
    assert "dgx-deployment" not in needed, "it runs on no host with accelerators"
