from __future__ import annotations

from registered import registered

from gpuyard.components.accelerators.efa_plugin import EfaPlugin, values
from gpuyard.components.artifacts import ArtifactsSpec


def test_the_plugin_runs_on_the_groups_with_efa_alone_and_whatever_their_taints() -> None:
    assert values(["h100", "b200"], ArtifactsSpec()) == {
        "supportedInstanceLabels": {"keys": ["gpuyard.io/node-group"], "values": ["h100", "b200"]},
        "tolerations": [{"operator": "Exists"}],
    }


def test_a_mirror_stands_in_for_awss_registry() -> None:
    mirrored = values(["h100"], ArtifactsSpec(images="mirror.example/ai"))
    assert mirrored["image"] == {"repository": "mirror.example/ai/eks/aws-efa-k8s-device-plugin"}


def test_nobody_waits_for_nodes_that_may_not_be_there_yet() -> None:
    _, release = registered(lambda: EfaPlugin("efa", ["h100"], artifacts=ArtifactsSpec()))
    assert release["inputs"]["skipAwait"] is True
    assert (release["inputs"]["chart"], release["inputs"]["namespace"]) == ("aws-efa-k8s-device-plugin", "kube-system")
