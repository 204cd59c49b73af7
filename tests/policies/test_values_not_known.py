"""Values that are not known before the deployment: undetermined where a rule needs them, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from raw_programs import TAGS, named, named_aws, raw_gcp, unknown, untagged
from refused_programs import group

from gpuyard.review.evaluation.evaluate import Verdict, evaluate, find_policies

Json = dict[str, Any]

POLICIES = find_policies(Path("/nonexistent"))


def judged(given: Json) -> Verdict:
    return evaluate(given, POLICIES, choice="embedded")


def found(given: Json) -> list[tuple[str, str, str]]:
    return [(f.rule, f.status, f.path) for f in judged(given).findings]


def hide_networks(given: Json, pointer: str, **config: Any) -> None:
    """Gives the cluster's endpoint another configuration, a part of which is not known yet."""
    named(given, "ml")["inputs"]["vpcConfig"].update(config)
    unknown(named(given, "ml"), pointer)


AWS: dict[str, tuple[Callable[[Json], Any], list[tuple[str, str, str]]]] = {
    "an endpoint that is not known yet": (
        lambda p: unknown(named(p, "ml"), "/vpcConfig/endpointPublicAccess"),
        [("cloud/api_exposure", "undetermined", "/vpcConfig/publicAccessCidrs")],
    ),
    "an endpoint that is not known yet, with small networks": (
        lambda p: hide_networks(p, "/vpcConfig/endpointPublicAccess", publicAccessCidrs=["203.0.113.0/24"]),
        [],
    ),
    "networks of a private endpoint that are not known yet": (
        lambda p: hide_networks(p, "/vpcConfig/publicAccessCidrs", publicAccessCidrs=["203.0.113.0/24"]),
        [],
    ),
    "networks of a public endpoint that are not known yet": (
        lambda p: hide_networks(
            p, "/vpcConfig/publicAccessCidrs", publicAccessCidrs=["203.0.113.0/24"], endpointPublicAccess=True
        ),
        [("cloud/api_exposure", "undetermined", "/vpcConfig/publicAccessCidrs")],
    ),
    "a network of a public endpoint that is not known yet": (
        lambda p: hide_networks(
            p, "/vpcConfig/publicAccessCidrs/0", publicAccessCidrs=["203.0.113.0/24"], endpointPublicAccess=True
        ),
        [("cloud/api_exposure", "undetermined", "/vpcConfig/publicAccessCidrs/0")],
    ),
    "a machine that is not known yet": (
        lambda p: unknown(named(p, "gpu-group"), "/instanceTypes/0"),
        [
            ("cost/budget", "undetermined", "/instanceTypes/0"),
            ("quota/machines", "undetermined", "/instanceTypes/0"),
            ("quota/max_accelerators", "undetermined", "/instanceTypes/0"),
        ],
    ),
    "a number of nodes that is not known yet": (
        lambda p: [
            unknown(named(p, "gpu-group"), "/scalingConfig/maxSize"),
            p["capacity"].update(groups=[group(named(p, "gpu-group")["urn"], "g6.12xlarge", 4, {"max": None}, None)]),
            p["cost"]["lines"][0].update(month=None, unknown="its number of nodes is not known"),
        ],
        [("cost/budget", "undetermined", ""), ("quota/max_accelerators", "undetermined", "")],
    ),
    "a launch template of somebody else, by an id that is not known yet": (
        lambda p: named(p, "gpu-group").update(options={}),
        [("cloud/instance_metadata", "undetermined", "/launchTemplate/id")],
    ),
    "an option of the metadata service that does not matter, not known yet": (
        lambda p: [
            named(p, "gpu-template")["inputs"]["metadataOptions"].update(instanceMetadataTags="enabled"),
            unknown(named(p, "gpu-template"), "/metadataOptions/instanceMetadataTags"),
        ],
        [],
    ),
    "a hop limit that is not known yet": (
        lambda p: unknown(named(p, "gpu-template"), "/metadataOptions/httpPutResponseHopLimit"),
        [("cloud/instance_metadata", "undetermined", "/metadataOptions/httpPutResponseHopLimit")],
    ),
    "a CNI whose configuration is not known yet": (
        lambda p: unknown(named(p, "cni"), "/configurationValues"),
        [("isolation/default_deny", "undetermined", "/configurationValues")],
    ),
    "another add-on whose configuration is not known yet": (
        lambda p: p["resources"].append(
            resource(
                "aws:eks/addon:Addon",
                "ebs",
                {"addonName": "aws-ebs-csi-driver", "configurationValues": None},
                unknown=["/configurationValues"],
            )
        ),
        [],
    ),
    "a tag whose value is not known yet": (
        lambda p: [
            untagged(p),
            named(p, "ml")["inputs"].update(tags=TAGS),
            named(p, "gpu-group")["inputs"].update(tags={"owner": "ml", "cost-center": "4711", "Name": "gpu"}),
            unknown(named(p, "gpu-group"), "/tags/owner"),
            unknown(named(p, "gpu-group"), "/tags/Name"),
        ],
        [],
    ),
    "tags that are not known yet as a whole": (
        lambda p: [
            untagged(p),
            named(p, "ml")["inputs"].update(tags=TAGS),
            named(p, "gpu-group")["inputs"].update(tags=TAGS),
            unknown(named(p, "gpu-group"), "/tags"),
        ],
        [("cost/tags", "undetermined", "/tags")],
    ),
    "tags from the provider that are not known yet": (
        lambda p: unknown(next(r for r in p["resources"] if r["type"] == "pulumi:providers:aws"), "/defaultTags"),
        [("cost/tags", "undetermined", "/tags")] * 2,
    ),
}


@pytest.mark.parametrize("name", AWS)
def test_what_is_not_known_yet_is_undetermined_where_it_matters(name: str) -> None:
    change, expected = AWS[name]
    given = named_aws()
    change(given)
    assert sorted(found(given)) == sorted(expected)


@pytest.mark.parametrize(
    ("private", "expected"),
    [(True, []), (False, [("cloud/api_exposure", "undetermined")])],
    ids=["private", "public"],
)
@pytest.mark.parametrize("pointer", ["", "/cidrBlocks", "/cidrBlocks/0", "/cidrBlocks/0/cidrBlock"])
def test_networks_that_are_not_known_yet_only_matter_to_a_public_gke_cluster(
    pointer: str, private: bool, expected: list[tuple[str, str]]
) -> None:
    given = raw_gcp()
    cluster = next(r for r in given["resources"] if r["type"] == "gcp:container/cluster:Cluster")
    cluster["inputs"]["privateClusterConfig"]["enablePrivateEndpoint"] = private
    unknown(cluster, f"/masterAuthorizedNetworksConfig{pointer}")
    assert [(rule, status) for rule, status, _ in found(given)] == expected


def test_a_gke_cluster_that_enforces_one_way_need_not_tell_of_the_others() -> None:
    given = raw_gcp()
    cluster = next(r for r in given["resources"] if r["type"] == "gcp:container/cluster:Cluster")
    unknown(cluster, "/datapathProvider")
    assert [(rule, status) for rule, status, _ in found(given)] == [("isolation/default_deny", "undetermined")]
    account = {"autoProvisioningDefaults": {"serviceAccount": "nodes@example-ml.iam.gserviceaccount.com"}}
    cluster["inputs"] |= {"enableAutopilot": True, "clusterAutoscaling": account}
    assert found(given) == []


def test_a_privileged_pod_in_a_namespace_that_is_not_known_yet_is_undetermined() -> None:
    pod = kubernetes(workload("Pod", pod_spec(securityContext={"privileged": True})))
    unknown(pod, "/metadata/namespace")
    [finding] = [f for f in judged(document([pod])).findings if f.rule == "isolation/privileged"]
    assert (finding.status, finding.level) == ("undetermined", "mandatory")


def test_an_image_that_is_not_known_yet_only_warns() -> None:
    pod = kubernetes(workload("Pod", pod_spec()))
    unknown(pod, "/spec/containers/0/image")
    [finding] = judged(document([pod])).findings
    assert (finding.rule, finding.status, finding.level) == ("supply_chain/registries", "undetermined", "advisory")


def test_an_unknown_variable_is_no_finding_and_is_not_forgotten() -> None:
    pod = kubernetes(workload("Pod", pod_spec(env=[{"name": "BUCKET", "value": "x"}])))
    unknown(pod, "/spec/containers/0/env/0/value")
    verdict = judged(document([pod]))
    assert verdict.findings == []
    assert [(f.rule, f.path) for f in verdict.undecided] == [
        ("supply_chain/plain_tokens", "/spec/containers/0/env/0/value")
    ]


def test_a_secret_of_the_configuration_in_a_variable_is_certain_though_its_value_is_not_known() -> None:
    pod = kubernetes(workload("Pod", pod_spec(env=[{"name": "DB", "value": None}])))
    pod |= {"unknown": ["/spec/containers/0/env/0/value"], "secret": ["/spec/containers/0/env/0/value"]}
    [finding] = judged(document([pod])).findings
    assert (finding.rule, finding.status) == ("supply_chain/plain_tokens", "violation")


def test_values_of_a_chart_in_a_namespace_that_is_not_known_yet_are_undetermined() -> None:
    inputs = {"chart": "app", "namespace": None, "values": {"hostNetwork": True}}
    release = resource("kubernetes:helm.sh/v3:Release", "app", inputs, unknown=["/namespace"])
    assert found(document([release])) == [("isolation/privileged", "undetermined", "/values/hostNetwork")]


def test_machines_of_karpenter_that_are_not_known_yet_are_undetermined_and_zones_do_not_matter() -> None:
    def pool(key: str) -> Json:
        requirements = [{"key": key, "operator": "In", "values": [None]}]
        spec = {"template": {"spec": {"requirements": requirements}}}
        manifest = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": spec}
        return document([kubernetes(manifest, unknown=["/spec/template/spec/requirements/0/values/0"])])

    assert found(pool("topology.kubernetes.io/zone")) == []
    assert found(pool("node.kubernetes.io/instance-type")) == [
        ("quota/machines", "undetermined", "/spec/template/spec/requirements/0/values")
    ]
