"""`gpuyard inventory` says what a cluster has, in a stack's own words, and one error where it cannot."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import live_nodes
import pytest
from command import gpuyard, refused
from ruamel.yaml import YAML

from gpuyard.cli import kubectl
from gpuyard.cli.node_selectors import selector
from gpuyard.cli.nodes import read
from gpuyard.components.stack import load
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program

ROOT = Path(__file__).parents[2]
DATE = "2026-11-30"

Json = dict[str, Any]

GROUPS = {
    "aks": {
        "h100-80-x8": ("onprem-h100-80-x8", ["aks-h100-10282168-vmss000000", "aks-h100-10282168-vmss000001", "aks-h100-10282168-vmss000002"]),
        "a100-80-x4": ("onprem-a100-80-x4", ["aks-a100spot-41022170-vmss000000"]),
    },
    "coreweave": {"h100-80-x8": ("onprem-h100-80-x8", ["g8f3d2a", "g8f3d2b"])},
    "eks": {"l40s": ("g6e.12xlarge", ["ip-10-40-1-11", "ip-10-40-1-12"]), "trainium1-x16": ("trn1.32xlarge", ["ip-10-40-2-21"])},
    "gke": {
        "l4": ("g2-standard-24", ["gke-prod-l4-7a8b-y1", "gke-prod-l4-7a8b-y2"]),
        "a100-80-x1": ("a2-ultragpu-1g", ["gke-prod-mig-1a1a-m1"]),
        "l4-x1": ("g2-standard-4", ["gke-prod-turns-2b2b-s1"]),
        "tpu-v5e-x4": ("ct5lp-hightpu-4t", ["gke-prod-tpu-3c3c-t1"]),
    },
    "hall": {
        "mi300x-x8": ("onprem-mi300x-x8", ["amd-1"]),
        "a100-80-x8": ("onprem-a100-80-x8", ["mixed-1"]),
        "l40s-x4": ("onprem-l40s-x4", ["turns-1"]),
    },
    "slices": {"h100-80-x8": ("onprem-h100-80-x8", ["single-1", "single-2"]), "h100-80-x8-2": ("onprem-h100-80-x8", ["whole-1"])},
    "lambda": {"h100-80-x8": ("onprem-h100-80-x8", ["worker-1", "worker-2"]), "b200-x8": ("onprem-b200-x8", ["worker-3"])},
    "nebius": {"h200-x8": ("onprem-h200-x8", ["computeinstance-e00h8a", "computeinstance-e00h8b"]), "h100-80-x1": ("onprem-h100-80-x1", ["computeinstance-e00h1a"])},
}  # fmt: skip
"""What each cluster has that can be described: groups, their machine, their nodes."""


def asked(folder: Path, name: str, *options: str) -> str:
    """What the command writes of one of the clusters."""
    answer = gpuyard("inventory", *options, PATH=live_nodes.cluster(folder, name))
    assert answer.code == 0, answer
    assert answer.err == ""
    return answer.out


def platform(text: str) -> Json:
    found: Json = YAML(typ="safe", pure=True).load(text)["config"]["gpuyard:platform"]
    return found


def matches(name: str, labels: Json) -> list[str]:
    """The nodes that a pod with this nodeSelector may go to."""
    items = live_nodes.node_list(name)["items"]
    return [n["metadata"]["name"] for n in items if labels.items() <= n["metadata"]["labels"].items()]


@pytest.mark.parametrize("name", live_nodes.NAMES)
def test_each_group_has_its_machine_and_labels_that_select_its_nodes_and_no_others(name: str, tmp_path: Path) -> None:
    groups = platform(asked(tmp_path, name))["node_groups"]
    assert {key: (g["machine"], matches(name, g["selector"])) for key, g in groups.items()} == GROUPS[name]
    assert all(g["count"] == len(matches(name, g["selector"])) for g in groups.values())


@pytest.mark.parametrize(
    ("name", "cloud"),
    [(name, "existing") for name in live_nodes.NAMES]
    + [(name, "onprem") for name in live_nodes.NAMES if name not in ("eks", "gke")],
)
def test_what_it_writes_is_a_stack_once_owner_and_cost_center_are_there_and_may_deploy(
    name: str, cloud: str, tmp_path: Path
) -> None:
    written = asked(tmp_path, name, "--cloud", cloud)
    spec = load({**platform(written), "owner": "ml", "cost_center": "4711"}, name)
    for group in spec.node_groups:
        on_node = live_nodes.node_list(name)["items"]
        labels = spec.selector(group)
        names = getattr(spec.node_groups[group], "names", [])
        members = [
            n for n in on_node if labels.items() <= n["metadata"]["labels"].items() or n["metadata"]["name"] in names
        ]
        assert members
        for offer in spec.offers(group):
            assert {n["status"]["capacity"][offer.resource] for n in members} == {str(offer.a_node)}, (
                "what pods ask for"
            )
    if cloud == "existing":
        program_ = tmp_path / "program"
        program_.mkdir()
        (program_ / "Pulumi.yaml").write_text("name: inventory\nruntime: python\n")
        (program_ / "__main__.py").write_text((ROOT / "examples/inventories/__main__.py").read_text())
        head, _, rest = written.partition("  gpuyard:platform:\n")
        whole = f'{head}  gpuyard:platform:\n    owner: ml\n    cost_center: "4711"\n{rest}'
        (program_ / "Pulumi.dev.yaml").write_text(whole)
        review = judge(record_program(find_project(program_), "dev"), find_policies(program_), date=DATE)
        assert not review.refused


def test_slices_and_shared_gpus_are_described_as_they_are(tmp_path: Path) -> None:
    groups = platform(asked(tmp_path, "hall"))["node_groups"]
    assert {key: group.get("partition") for key, group in groups.items()} == {
        "mi300x-x8": None,
        "a100-80-x8": {"kind": "mig", "profiles": {"1g.10gb": 2, "1g.10gb+me": 1, "3g.40gb": 1}},
        "l40s-x4": {"kind": "time_slicing", "clients": 4},
    }
    gke = platform(asked(tmp_path, "gke"))["node_groups"]
    assert gke["a100-80-x1"]["partition"] == {"kind": "mig", "profiles": {"1g.10gb": 7}}
    assert gke["l4-x1"]["partition"] == {"kind": "time_slicing", "clients": 4}
    alike = platform(asked(tmp_path, "slices"))["node_groups"]
    assert alike["h100-80-x8"]["partition"] == {"kind": "mig", "profiles": {"1g.10gb": 7}}
    assert "partition" not in alike["h100-80-x8-2"]
    own = platform(asked(tmp_path, "slices", "--cloud", "onprem"))["node_groups"]
    assert own["h100-80-x8"]["names"] == ["single-1", "single-2"], "the operator's label is written by name"
    own = platform(asked(tmp_path, "hall", "--cloud", "onprem"))["node_groups"]
    assert own["h200-x8"] == {
        "machine": "onprem-h200-x8", "count": 1, "names": ["twin-1"],
        "taints": [{"key": "team", "value": "vision", "effect": "NoSchedule"}],
    }  # fmt: skip


def test_what_cannot_be_described_is_a_comment_that_says_why(tmp_path: Path) -> None:
    left = [line.removeprefix("#   ") for line in asked(tmp_path, "hall").splitlines() if line.startswith("#   ")]
    assert left == [
        "1 node (gaming-1): has 4 accelerators, nvidia.com/gpu.product NVIDIA-GeForce-RTX-4090, and no label says a kind "
        "that is known",
        "1 node (bare-1): has accelerators, and offers none: a driver or a device plugin is missing",
        "2 nodes (twin-1, twin-2): onprem-h200-x8: no labels select them and no others",
        "1 node (hidden-1): shares GPUs under the name of whole ones, nvidia.com/gpu, which a stack cannot tell apart",
    ]
    [line] = [line for line in asked(tmp_path, "slices").splitlines() if line.startswith("#   ")]
    assert line == "#   1 node (odd-1): offers 10 slices 1g.18gb, and does not say of how many GPUs"
    [line] = [line for line in asked(tmp_path, "gke").splitlines() if line.startswith("#   ")]
    assert "1 node (gke-prod-t4-9c0d-z1): has 3 T4, and the catalogue has no machine with as many" in line


def test_taints_are_told_but_those_that_every_taker_tolerates_or_that_pass(tmp_path: Path) -> None:
    groups = {name: platform(asked(tmp_path / name, name))["node_groups"] for name in ("aks", "nebius", "gke")}
    assert groups["aks"]["a100-80-x4"]["taints"] == [
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
        {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
    ]
    assert "taints" not in groups["nebius"]["h200-x8"]
    assert "taints" not in groups["gke"]["l4"]
    listed = live_nodes.node_list("nebius")
    for node in listed["items"]:
        node["spec"].setdefault("taints", []).append({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"})
        node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    answer = gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, json.dumps(listed)))
    assert "taints" not in platform(answer.out)["node_groups"]["h200-x8"]
    assert "# not ready, or cordoned: computeinstance-e00h8a, computeinstance-e00h8b\n" in answer.out


def test_a_gpu_that_is_out_of_order_is_no_other_machine(tmp_path: Path) -> None:
    listed = live_nodes.node_list("coreweave")
    listed["items"][1]["status"]["allocatable"]["nvidia.com/gpu"] = "7"
    listed["items"][2]["spec"]["unschedulable"] = True
    answer = gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, json.dumps(listed)))
    assert platform(answer.out)["node_groups"]["h100-80-x8"]["count"] == 2
    assert "# with accelerators that are out of order: g8f3d2a\n" in answer.out
    assert "# not ready, or cordoned: g8f3d2b\n" in answer.out


def test_the_drivers_version_is_the_oldest_that_a_node_says(tmp_path: Path) -> None:
    assert platform(asked(tmp_path, "lambda"))["cluster"]["driver_version"] == "580.105.08"
    assert "driver_version" not in platform(asked(tmp_path, "aks"))["cluster"]
    listed = live_nodes.node_list("lambda")
    listed["items"][-1]["metadata"]["labels"]["nvidia.com/cuda.driver-version.full"] = "570.86.15"
    answer = gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, json.dumps(listed)))
    assert 'driver_version: "570.86.15"   # the oldest; others have 580.105.08\n' in answer.out


def test_groups_are_named_after_a_label_of_ones_choice(tmp_path: Path) -> None:
    written = asked(tmp_path, "aks", "--name", "kubernetes.azure.com/agentpool")
    assert list(platform(written)["node_groups"]) == ["a100spot", "h100"]
    assert platform(written)["node_groups"]["h100"]["selector"] == {"kubernetes.azure.com/agentpool": "h100"}


def test_kubectl_is_asked_for_the_nodes_and_for_nothing_else(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    asked(tmp_path, "lambda", "--context", "it's", "--kubeconfig", str(kubeconfig), "--timeout", "7")
    assert (tmp_path / "asked").read_text() == (
        f"get --raw /api/v1/nodes --request-timeout=7s --kubeconfig={kubeconfig} --context=it's\n"
    )
    written = platform(asked(tmp_path, "lambda"))
    assert written["cluster"] == {
        "cloud": "existing",
        "context": "lambda",
        "kubernetes": "1.31",
        "driver_version": "580.105.08",
    }
    named = platform(asked(tmp_path, "lambda", "--context", 'a "b": c', "--kubeconfig", str(kubeconfig)))["cluster"]
    assert (named["context"], named["kubeconfig"]) == ('a "b": c', str(kubeconfig)), "quoted as YAML has it"


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = live_nodes.cluster(tmp_path, "aks")
    out = tmp_path / "Pulumi.aks.yaml"
    answer = gpuyard("inventory", "--out", out, PATH=path)
    assert (answer.code, answer.out) == (0, f"{out}: 2 node groups, 0 nodes left\n")
    assert out.read_text() == asked(tmp_path / "again", "aks")
    assert f"--out {out}: is there already" in refused(gpuyard("inventory", "--out", out, PATH=path), 2)
    nowhere = tmp_path / "no" / "file"
    assert f"--out {nowhere}: No such file" in refused(gpuyard("inventory", "--out", nowhere, PATH=path), 2)
    broken = live_nodes.kubectl(tmp_path / "broken", error="Unable to connect to the server: EOF\n")
    refused(gpuyard("inventory", "--out", tmp_path / "other", PATH=broken), 2)
    assert not (tmp_path / "other").exists()


SAID = {
    'Error from server (Forbidden): nodes is forbidden: User "ana" cannot list resource "nodes" in API group "" at the '
    "cluster scope": "ask for a ClusterRole with get and list of nodes",
    "error: You must be logged in to the server (Unauthorized)": "log in again",
    "Unable to connect to the server: dial tcp: lookup k8s.example on 10.0.0.1:53: no such host": "the cluster does not answer",
    "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?": "the cluster does not answer",
    "The connection to the server localhost:8080 was refused - did you specify the right host or port?": "kubectl knows no cluster",
    'error: context "zz" does not exist': "give --context",
    "error: stat none: no such file or directory": "give a kubeconfig",
    "Unable to connect to the server: getting credentials: exec: executable aws not found\n\nIt looks like you are": "mend that first",
    'E1130 16:47:59.842709   27992 memcache.go:381] "no" err="x"\nUnable to connect to the server: EOF': "the cluster does not answer",
    "error: never heard of": "see what `kubectl get nodes` says",
    "": "kubectl fails, and does not say why",
}  # fmt: skip
"""What kubectl 1.37 says where something is wrong, and what to do about it."""


@pytest.mark.parametrize("said", SAID)
def test_what_kubectl_refuses_is_one_error_with_its_remedy(said: str, tmp_path: Path) -> None:
    path = live_nodes.kubectl(tmp_path, error=said or "\n")
    error = refused(gpuyard("inventory", "--context", "prod", PATH=path), 2)
    assert SAID[said] in error
    assert error.count("error: context prod: ") == 1
    if said:
        assert next(line for line in said.splitlines() if not line.startswith("E1130")).removeprefix("error: ")[
            :60
        ] in error.replace("\n", " ")


def test_no_kubectl_is_an_error_that_says_so(tmp_path: Path) -> None:
    assert "there is no `kubectl` on PATH" in refused(gpuyard("inventory", PATH=str(tmp_path)), 2)


def test_a_login_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", live_nodes.kubectl(tmp_path))

    def hang(*arguments: Any, timeout: float, **options: Any) -> Any:
        raise subprocess.TimeoutExpired("kubectl", timeout)

    monkeypatch.setattr(kubectl.subprocess, "run", hang)
    with pytest.raises(InputError, match="context prod: no answer within 60 s"):
        kubectl.nodes("prod", None, 60)


NO_ANSWERS = {
    "<html>log in</html>": "what answers there is no list of nodes",
    '{"kind": "PodList", "items": []}': "what answers there is no list of nodes",
    '{"kind": "NodeList"}': "what answers there is no list of nodes",
    '{"kind": "NodeList", "items": [{"metadata": {}}]}': "a node in the cluster's answer is none",
    '{"kind": "NodeList", "items": [7]}': "a node in the cluster's answer is none",
    '{"kind": "NodeList", "items": []}': "none of its 0 nodes offers accelerators",
}


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_an_answer_that_is_none_is_one_error(answer: str, tmp_path: Path) -> None:
    assert NO_ANSWERS[answer] in refused(gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, answer)), 2)


def test_a_cluster_without_accelerators_that_can_be_described_is_an_error_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    listed = live_nodes.node_list("hall")
    listed["items"] = [n for n in listed["items"] if n["metadata"]["name"] in ("cp-1", "gaming-1", "bare-1")]
    error = refused(gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, json.dumps(listed))), 2)
    assert "none of its nodes with accelerators can be described" in error
    assert "1 node (gaming-1): has 4 accelerators" in error
    assert "1 node (bare-1): has accelerators, and offers none" in error
    listed["items"] = listed["items"][:1]
    error = refused(gpuyard("inventory", PATH=live_nodes.kubectl(tmp_path, json.dumps(listed))), 2)
    assert "none of its 1 node offers accelerators: install the device plugin" in error


def nodes(*labels: Json) -> list[Any]:
    pool: Json = {"kubelet": "v1.35.0", "capacity": {"nvidia.com/gpu": "8"}}
    return [read(live_nodes.node(f"n{i}", {**pool, "labels": each})) for i, each in enumerate(labels)]


def test_the_fewest_labels_are_taken_and_of_these_the_most_telling() -> None:
    cluster = nodes({"a": "1", "b": "1", "pool": "x"}, {"a": "1", "b": "2"}, {"a": "2", "b": "1"})
    assert selector(cluster[:1], cluster) == {"pool": "x"}
    assert selector(cluster[:1], cluster, first="a") == {"pool": "x"}, "one label is fewer than two"
    both = nodes({"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "2", "b": "1"})
    assert selector(both[:1], both) == {"a": "1", "b": "1"}
    typed = nodes(
        {"a": "1", "node.kubernetes.io/instance-type": "m"}, {"a": "2", "node.kubernetes.io/instance-type": "n"}
    )
    assert selector(typed[:1], typed) == {"node.kubernetes.io/instance-type": "m"}


def test_labels_of_one_node_or_of_one_version_select_nothing() -> None:
    passing = [{"kubernetes.io/hostname": h, "nvidia.com/cuda.driver.major": d, "x.io/node-image-version": d} for h, d in (("a", "1"), ("b", "2"))]  # fmt: skip
    cluster = nodes(*passing)
    assert selector(cluster[:1], cluster) is None
    assert selector(cluster, cluster) == {"kubernetes.io/os": "linux"}, "a cluster of one kind"
