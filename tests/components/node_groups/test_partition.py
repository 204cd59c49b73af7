from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gpuyard import catalogue
from gpuyard.components.node_groups import aws, aws_template, existing, gcp, gcp_partition, onprem
from gpuyard.components.node_groups.offers import offers, part_name
from gpuyard.components.node_groups.partition import Divided, Partition, configuration, fits, operator_labels, refusals

CUT = sorted({accelerator for accelerator, _ in catalogue.all_partitions()})


def partition(**fields: Any) -> Divided:
    found: Divided = TypeAdapter(Partition).validate_python(fields)
    return found


def mig(strategy: str | None = None, **profiles: int) -> Divided:
    named = {profile.replace("_", ".")[1:]: count for profile, count in profiles.items()}
    return partition(kind="mig", profiles=named, **({"strategy": strategy} if strategy else {}))


def refused(machine: str, divided: Divided) -> list[str]:
    return list(refusals(divided, catalogue.machine(machine)))


def offered(machine: str, divided: Divided | None) -> list[tuple[str, int]]:
    return [(offer.resource, offer.a_node) for offer in offers(catalogue.machine(machine), divided)]


def test_whole_accelerators_are_offered_as_the_catalogue_counts_them() -> None:
    for machine in catalogue.machines().values():
        expected = [(machine.resource, machine.accelerators)] if machine.resource else []
        assert offered(machine.name, None) == expected


def test_slices_of_one_profile_are_gpus_by_name_and_as_many_as_there_are() -> None:
    assert offered("p5.48xlarge", mig(_1g_10gb=7)) == [("nvidia.com/gpu", 56)]
    assert offered("a2-ultragpu-1g", mig(_3g_40gb=2)) == [("nvidia.com/gpu", 2)]


def test_slices_of_several_profiles_have_a_name_each() -> None:
    mixed = mig(_3g_40gb=1, _1g_10gb=4)
    assert offered("p5.48xlarge", mixed) == [("nvidia.com/mig-3g.40gb", 8), ("nvidia.com/mig-1g.10gb", 32)]
    names = [part_name("slices", offer) for offer in offers(catalogue.machine("p5.48xlarge"), mixed)]
    assert names == ["slices-3g.40gb", "slices-1g.10gb"]


def test_slices_of_one_profile_have_a_name_of_their_own_where_the_stack_says_so() -> None:
    [offer] = offers(catalogue.machine("dgx-h100"), mig("mixed", _1g_10gb=7))
    assert (offer.resource, offer.part) == ("nvidia.com/mig-1g.10gb", None)


@pytest.mark.parametrize("kind", ["mps", "time_slicing"])
def test_a_shared_gpu_is_not_called_a_gpu_but_on_gke(kind: str) -> None:
    shared = partition(kind=kind, clients=4)
    assert offered("g6e.12xlarge", shared) == [("nvidia.com/gpu.shared", 16)]
    assert offered("dgx-h100", shared) == [("nvidia.com/gpu.shared", 32)]
    assert offered("g2-standard-24", shared) == [("nvidia.com/gpu", 8)]


def test_a_part_has_the_memory_that_its_pod_can_count_on() -> None:
    machine = catalogue.machine("p5.48xlarge")
    [whole] = offers(machine)
    [by_mps] = offers(machine, partition(kind="mps", clients=4))
    [in_turns] = offers(machine, partition(kind="time_slicing", clients=4))
    [slices] = offers(machine, mig(_1g_10gb=7))
    assert by_mps.memory == whole.memory / 4
    assert in_turns.memory == whole.memory
    assert slices.memory == 2**30 * (catalogue.partitions("H100-80")["1g.10gb"].memory_gib or 0)
    assert [offer.divided for offer in (whole, by_mps, in_turns, slices)] == [False, True, True, True]


@pytest.mark.parametrize("accelerator", CUT)
def test_every_profile_fits_as_often_as_the_catalogue_says_and_no_more(accelerator: str) -> None:
    known = catalogue.partitions(accelerator)
    for profile, row in known.items():
        machine = f"onprem-{accelerator.lower()}-x1"
        assert fits({profile: row.most}, known)
        if machine in catalogue.machines() and row.most < 7:
            [why] = refused(machine, partition(kind="mig", profiles={profile: row.most + 1}))
            assert f"has room for {row.most}" in why


KNOWN_MIXES = [
    # NVIDIA/gpu-operator@a22dbf6, assets/state-mig-manager/0400_configmap.yaml: what it calls balanced.
    ("H100-80", {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}, True),
    ("A100-40", {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, True),
    ("B200", {"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1}, True),
    # MIG user guide, "supported profile combinations" of the A100.
    ("A100-40", {"4g.20gb": 1, "3g.20gb": 1}, True),
    ("A100-40", {"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1}, True),
    ("A100-40", {"3g.20gb": 2}, True),
    ("A100-40", {"3g.20gb": 2, "1g.5gb": 1}, False),
    ("A100-40", {"4g.20gb": 2}, False),
    ("A100-40", {"7g.40gb": 1, "1g.5gb": 1}, False),
    ("A100-40", {"3g.20gb": 1, "1g.5gb": 5}, False),
]


@pytest.mark.parametrize(("accelerator", "mix", "possible"), KNOWN_MIXES, ids=str)
def test_mixes_fit_as_nvidia_says(accelerator: str, mix: dict[str, int], possible: bool) -> None:
    assert fits(mix, catalogue.partitions(accelerator)) is possible


@given(st.sampled_from(CUT), st.data())
def test_a_mix_fits_if_and_only_if_some_placement_has_no_overlap(accelerator: str, data: st.DataObject) -> None:
    known = catalogue.partitions(accelerator)
    mix = data.draw(st.dictionaries(st.sampled_from(sorted(known)), st.integers(1, 3), min_size=1, max_size=3))
    wanted = [known[profile] for profile, count in mix.items() for _ in range(count)]
    assume(len(wanted) <= 5)
    # Independent of the search: every way to place them, one by one.
    covered = [
        [slot for row, start in zip(wanted, way, strict=True) for slot in range(start, start + row.memory_slices)]
        for way in itertools.product(*[row.placements for row in wanted])
    ]
    apart = any(len(slots) == len(set(slots)) for slots in covered)
    room = sum(row.compute_slices for row in wanted) <= max(row.compute_slices for row in known.values())
    assert fits(mix, known) is (apart and room)


REFUSED = [
    ("p5.48xlarge", {"kind": "mig", "profiles": {"1g.5gb": 7}}, "1g.5gb: H100-80 (p5.48xlarge) has 1g.10gb, "),
    ("g6e.12xlarge", {"kind": "mig", "profiles": {"1g.10gb": 7}}, "L40S (g6e.12xlarge) cannot be cut: choose kind mps"),
    ("m7i.2xlarge", {"kind": "mps", "clients": 4}, "m7i.2xlarge has no accelerator: leave partition out"),
    ("trn2.48xlarge", {"kind": "time_slicing", "clients": 4}, "trn2.48xlarge has Trainium2: leave partition out"),
    (
        "p5.48xlarge",
        {"kind": "mig", "profiles": {"3g.40gb": 2, "1g.10gb": 1}},
        "2 of 3g.40gb, 1 of 1g.10gb overlap, because H100-80 (p5.48xlarge) has no room for all of them: take some out",
    ),
    ("p5.48xlarge", {"kind": "mig", "profiles": {"2g.20gb": 4}}, "has room for 3: lower it"),
    (
        "p5.48xlarge",
        {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 1}, "strategy": "single"},
        "partition.strategy single is for slices of one profile",
    ),
]


@pytest.mark.parametrize(("machine", "given", "why"), REFUSED)
def test_what_a_machine_cannot_be_divided_into_is_refused_with_what_it_can(
    machine: str, given: dict[str, Any], why: str
) -> None:
    [found] = refused(machine, partition(**given))
    assert why in found


def test_nodes_that_the_operator_divides_say_how_by_a_label_that_kubernetes_takes() -> None:
    assert operator_labels(None) == {}
    assert operator_labels(mig(_1g_10gb=7)) == {"nvidia.com/mig.config": "7x1g.10gb"}
    assert operator_labels(partition(kind="time_slicing", clients=4)) == {
        "nvidia.com/device-plugin.config": "time-slicing-4"
    }
    media = partition(kind="mig", profiles={"1g.10gb+me": 1, "1g.10gb": 4, "2g.20gb": 1})
    assert configuration(media) == "4x1g.10gb_1x1g.10gb.me_1x2g.20gb"


EKS = {"nodes": {"min": 0, "max": 2}}


def on_eks(machine: str, divided: dict[str, Any], **fields: Any) -> aws.NodeGroupSpec:
    return aws.NodeGroupSpec.model_validate({"machine": machine, "partition": divided, **EKS, **fields})


def test_an_empty_group_on_eks_tells_the_autoscaler_what_its_gpus_become() -> None:
    mixed = on_eks("p5.48xlarge", {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}})
    resources = "k8s.io/cluster-autoscaler/node-template/resources/"
    tags = aws.autoscaler_tags(mixed)
    assert tags[f"{resources}nvidia.com/mig-3g.40gb"] == "8"
    assert tags[f"{resources}nvidia.com/mig-1g.10gb"] == "32"
    assert tags[f"{resources}nvidia.com/gpu"] == "0"
    single = on_eks("p5.48xlarge", {"kind": "mig", "profiles": {"1g.10gb": 7}})
    assert aws.autoscaler_tags(single)[f"{resources}nvidia.com/gpu"] == "56"


def test_the_autoscaler_waits_for_gpus_only_where_the_node_will_have_some_of_that_name() -> None:
    wait = "k8s.amazonaws.com/accelerator"
    for divided, waits in (
        ({"kind": "mig", "profiles": {"1g.10gb": 7}}, True),
        ({"kind": "mig", "profiles": {"1g.10gb": 7}, "strategy": "mixed"}, False),
        ({"kind": "mps", "clients": 4}, False),
    ):
        labels = aws.group_inputs("h100", on_eks("p5.48xlarge", divided), "1.35", {})["labels"]
        assert (wait in labels) is waits


def test_bottlerocket_shares_gpus_by_settings_of_its_own() -> None:
    spec = on_eks("g6.xlarge", {"kind": "time_slicing", "clients": 4}, os="bottlerocket")
    labels = aws.group_inputs("l4", spec, "1.35", {})["labels"]
    assert "nvidia.com/device-plugin.config" not in labels, "that is the operator's, which stays away"
    image = aws_template.Image(catalogue.machine("g6.xlarge"), "bottlerocket", 200, None, partition=spec.partition)
    data = aws_template.user_data(image) or ""
    assert 'device-sharing-strategy = "time-slicing"' in data
    assert "[settings.kubelet-device-plugins.nvidia.time-slicing]\nreplicas = 4\nrename-by-default = true\n" in data
    assert data.index("ephemeral-storage") < data.index("device-sharing-strategy"), "its local disks are kept"


def test_what_no_one_divides_on_eks_is_refused() -> None:
    slices = {"kind": "mig", "profiles": {"1g.10gb": 7}}
    with pytest.raises(ValidationError, match="choose os al2023, or another kind"):
        on_eks("p5.48xlarge", slices, os="bottlerocket")
    with pytest.raises(ValidationError, match="give partition instead"):
        aws.NodeGroupSpec.model_validate(
            {"machine": "p5.48xlarge", **EKS, "labels": {"nvidia.com/mig.config": "all-1g.10gb"}}
        )


def on_gke(machine: str, divided: dict[str, Any]) -> dict[str, Any]:
    spec = gcp.NodeGroupSpec.model_validate({"machine": machine, "partition": divided, **EKS})
    [accelerator] = gcp.node_config("slices", spec, service_account="a@b", tags={})["guest_accelerators"]
    return dict(accelerator)


def test_gke_divides_gpus_by_fields_of_the_node_pool() -> None:
    assert on_gke("a2-ultragpu-1g", {"kind": "mig", "profiles": {"1g.10gb": 7}})["gpu_partition_size"] == "1g.10gb"
    assert on_gke("g2-standard-24", {"kind": "time_slicing", "clients": 4})["gpu_sharing_config"] == {
        "gpu_sharing_strategy": "TIME_SHARING",
        "max_shared_clients_per_gpu": 4,
    }


WRONG_ON_GKE: list[dict[str, Any]] = [
    {"kind": "mps", "clients": 4},
    {"kind": "mig", "profiles": {"1g.10gb": 1}},
    {"kind": "mig", "profiles": {"1g.5gb": 1, "2g.10gb": 1}, "strategy": "single"},
    {"kind": "mig", "profiles": {"9g.999gb": 7}, "strategy": "mixed"},
]


@pytest.mark.parametrize("wrong", WRONG_ON_GKE, ids=str)
def test_gke_takes_what_a_refusal_says_to_give_instead(wrong: dict[str, Any]) -> None:
    machines = [one for one in catalogue.machines().values() if one.cloud == "gcp" and one.resource == "nvidia.com/gpu"]
    for machine in machines:
        [why, *_] = gcp_partition.refusals(partition(**wrong), machine)
        remedies = [{"kind": "time_slicing", "clients": 4}] if "time_slicing" in why else []
        remedies += [
            {"kind": "mig", "profiles": {profile: int(count)}}
            for profile, count in re.findall(r"{([^ ]+): (\d)}", why.partition("give one of ")[2])
        ]
        assert remedies, why
        for remedy in remedies:
            assert not list(gcp_partition.refusals(partition(**remedy), machine)), why
        cut = [row for row in catalogue.partitions(machine.accelerator or "").values() if row.gke]
        assert ("kind mig or" in why) is (wrong["kind"] == "mps" and bool(cut)), why


def test_gke_divides_no_gpus_where_there_are_none() -> None:
    for machine, told in (("e2-standard-8", "has no accelerator"), ("ct6e-standard-4t", "has TPU v6e")):
        [why] = gcp_partition.refusals(partition(kind="mps", clients=4), catalogue.machine(machine))
        assert why == f"partition mps is of NVIDIA GPUs, and {machine} {told}: leave partition out"


@pytest.mark.parametrize(
    ("divided", "why"),
    [
        ({"kind": "mig", "profiles": {"1g.10gb": 3}}, "give one of {1g.10gb: 7}, "),
        ({"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}, "slices of one profile"),
        ({"kind": "mig", "profiles": {"1g.10gb": 7}, "strategy": "mixed"}, "calls every slice nvidia.com/gpu"),
        ({"kind": "mps", "clients": 4}, "host's IPC, which tenants' namespaces forbid"),
    ],
)
def test_what_gke_does_not_do_is_refused(divided: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError) as raised:
        on_gke("a2-ultragpu-1g", divided)
    assert why in str(raised.value)


def test_on_prem_nodes_get_the_label_that_divides_them_only_if_gpuyard_labels_them() -> None:
    group = {"machine": "dgx-h100", "count": 1, "partition": {"kind": "mig", "profiles": {"1g.10gb": 7}}}
    named = onprem.NodeGroupSpec.model_validate({**group, "names": ["dgx-1"]})
    [patch] = onprem.node_patches("dgx", named)
    assert patch["metadata"]["labels"]["nvidia.com/mig.config"] == "7x1g.10gb"
    with pytest.raises(ValidationError, match="list them under names"):
        onprem.NodeGroupSpec.model_validate({**group, "selector": {"rack": "7"}})


def test_an_inventory_says_how_gpus_are_divided_and_pods_take_the_class_of_a_slice() -> None:
    group = {"machine": "dgx-h100", "count": 1, "selector": {"gpuyard.io/node-group": "dgx"}}
    mixed = {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}
    spec = existing.NodeGroupSpec.model_validate({**group, "partition": mixed})
    [large, small] = offers(catalogue.machine(spec.machine), spec.partition)
    assert existing.priority_class(spec, large) == "gpuyard-dgx-3g.40gb"
    assert existing.priority_class(spec, small) == "gpuyard-dgx-1g.10gb"
