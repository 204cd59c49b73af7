from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.scheduling.keda import Keda, values


def test_keda_reads_no_tenants_secrets_and_scales_deployments_only(golden: Callable[[str, Any], None]) -> None:
    given = values(ArtifactsSpec())
    assert given["permissions"]["operator"]["restrict"]["secret"]
    assert given["permissions"]["metricServer"]["restrict"]["secret"]
    assert given["rbac"] == {"enabledCustomScaledRefKinds": False}
    golden("keda", given)


def test_a_private_control_plane_reaches_kedas_webhook_and_metrics() -> None:
    given = values(ArtifactsSpec())
    assert (given["webhooks"]["port"], given["service"]["portHttpsTarget"]) == (10250, 10250)


def test_kedas_images_come_from_the_mirror() -> None:
    assert values(ArtifactsSpec(images="mirror.example/ai"))["global"] == {"image": {"registry": "mirror.example/ai"}}


def test_kedas_pods_meet_the_strictest_standard_and_wait_for_nodes() -> None:
    def build() -> None:
        nodes = pulumi.CustomResource("test:index:Nodes", "system", {})
        Keda("keda", kubernetes="1.35", artifacts=ArtifactsSpec(), needs=[nodes])

    found = {resource["type"]: resource for resource in registered(build)}
    component, nodes = found["gpuyard:index:Keda"], found["test:index:Nodes"]
    space, release = found["kubernetes:core/v1:Namespace"], found["kubernetes:helm.sh/v3:Release"]
    labels = space["inputs"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert labels["pod-security.kubernetes.io/enforce-version"] == "v1.35"
    assert [space["parent"], release["parent"]] == [component["urn"]] * 2
    assert set(release["options"]["depends_on"]) == {space["urn"], nodes["urn"]}
    assert release["inputs"]["name"] == "keda"
