"""What a real Kubernetes, with Kueue, says to the shipped production stack: each test asserts the cluster's answer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from control_plane import kueue
from control_plane.plane import ControlPlane, KubectlError, Manifest
from control_plane.processes import until
from e2e.answers import KUEUE, active, finish, held, nodes_of, placed, pods, preempted, runs, unplaced
from e2e.shipped_cluster import job, monitor, node_group, objects, on, platform, pod, queues

from gpuyard.components.scheduling.kueue_values import configuration

pytestmark = pytest.mark.engine

STACK = "prod-aws"
NODES = {"system": 1, "h100": 1, "l40s": 4}
KINDS = ("keda", "kueue", "prometheus-operator")
PERSON = {"fraud": "ana", "assistants": "ben"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The production stack's nodes and objects, as its deployer puts them there, and Kueue at work."""
    with ControlPlane(tmp_path_factory.mktemp("cluster")) as plane:
        plane.crds(*KINDS)
        for group, count in NODES.items():
            node_group(plane, platform(STACK), group, count)
        with kueue.controller(plane, configuration()):
            plane.apply(objects(STACK), token=plane.token("deployer"))
            yield plane


Put = Callable[..., str]


@pytest.fixture
def put(cluster: ControlPlane) -> Iterator[Put]:
    """Applies manifests of a tenant's namespace as one of its people; they are gone after the test."""
    applied: list[Manifest] = []

    def apply(*manifests: Manifest) -> str:
        applied.extend(manifests)
        return cluster.apply(manifests, token=cluster.token(PERSON[manifests[0]["metadata"]["namespace"]]))

    yield apply
    cluster.delete(applied)
    until(lambda: not cluster.get(f"{KUEUE}/workloads")["items"], "the queues are empty")


def refused(plane: ControlPlane, manifest: Manifest) -> str:
    """What the server says to a person of the tenant."""
    return plane.refusal([manifest], token=plane.token(PERSON[manifest["metadata"]["namespace"]]))


UNSAFE: dict[str, Callable[[Manifest], Any]] = {
    "privileged": lambda p: p["spec"]["containers"][0]["securityContext"].update(
        privileged=True, allowPrivilegeEscalation=True
    ),
    "hostPath": lambda p: p["spec"].update(volumes=[{"name": "root", "hostPath": {"path": "/"}}]),
    "host namespaces": lambda p: p["spec"].update(hostNetwork=True),
    "runAsNonRoot": lambda p: p["spec"]["securityContext"].update(runAsNonRoot=False),
    "seccompProfile": lambda p: p["spec"]["securityContext"].pop("seccompProfile"),
    "unrestricted capabilities": lambda p: p["spec"]["containers"][0]["securityContext"].pop("capabilities"),
}


@pytest.mark.parametrize("why", UNSAFE)
def test_an_unsafe_pod_of_a_tenant_is_refused(cluster: ControlPlane, why: str) -> None:
    unsafe = pod("unsafe", "fraud")
    UNSAFE[why](unsafe)
    answer = refused(cluster, unsafe)
    assert 'violates PodSecurity "restricted:v1.35"' in answer
    assert why in answer


def test_pods_together_get_the_tenants_quota_of_a_node_group_and_no_accelerator_more(
    cluster: ControlPlane, put: Put
) -> None:
    used = cluster.get("/api/v1/namespaces/fraud/resourcequotas/share-l40s")["status"]["used"]
    assert used == {"requests.nvidia.com/gpu": "1"}, "the shipped endpoint's own pod"
    put(pod("rest", "fraud", gpus=11, **on("l40s")))
    answer = refused(cluster, pod("more", "fraud", gpus=1, **on("l40s")))
    amounts = "requested: {0}=1, used: {0}=12, limited: {0}=12".format("requests.nvidia.com/gpu")
    assert f"exceeded quota: share-l40s, {amounts}" in answer
    put(pod("none", "fraud"))


def test_a_tenant_gets_nothing_of_a_node_group_of_which_it_has_no_share(cluster: ControlPlane) -> None:
    answer = refused(cluster, pod("other", "fraud", gpus=1, **on("h100")))
    assert "exceeded quota: unclassed" in answer
    assert "limited: requests.nvidia.com/gpu=0" in answer


@pytest.mark.parametrize("make", [pod, job], ids=["pod", "job"])
def test_what_takes_accelerators_names_a_node_group_and_goes_nowhere_else(
    cluster: ControlPlane, put: Put, make: Callable[..., Manifest]
) -> None:
    choices = "give priorityClassName gpuyard-h100 with nodeSelector {gpuyard.io/node-group: h100} or "
    assert choices in refused(cluster, make("unclassed", "assistants", gpus=1))
    elsewhere = on("h100") | {"priorityClassName": "gpuyard-l40s"}
    told = "give priorityClassName gpuyard-l40s with nodeSelector {gpuyard.io/node-group: l40s}"
    assert told in refused(cluster, make("elsewhere", "assistants", gpus=1, **elsewhere))
    assert told in refused(cluster, make("anywhere", "assistants", gpus=1, priorityClassName="gpuyard-l40s"))
    put(make("right", "assistants", gpus=1, **on("l40s")))


def test_a_tenant_opens_nothing_to_the_network_outside(cluster: ControlPlane) -> None:
    for kind in ("LoadBalancer", "NodePort"):
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "open", "namespace": "fraud"},
            "spec": {"type": kind, "selector": {"app": "x"}, "ports": [{"port": 80}]},
        }
        assert "exceeded quota: share" in refused(cluster, service)


def test_a_tenants_person_deploys_a_whole_endpoint_in_the_tenants_namespace_and_nowhere_else(
    cluster: ControlPlane, put: Put
) -> None:
    shipped = [m for m in objects(STACK) if (m["metadata"]["name"], m["metadata"].get("namespace")) == ("fraud-score", "fraud")]  # fmt: skip
    endpoint = [renamed(manifest, "second") for manifest in shipped]
    assert {"Deployment", "Service", "NetworkPolicy", "ScaledObject", "ServiceMonitor", "ServiceAccount"} <= {
        manifest["kind"] for manifest in endpoint
    }
    put(*endpoint)
    until(lambda: nodes_of(cluster, "fraud", "app.kubernetes.io/name=second"), "the endpoint runs")
    for manifest in endpoint:
        answer = cluster.refusal([manifest], token=cluster.token("ben", "assistants"))
        assert "Forbidden" in answer
        assert 'User "ben" cannot' in answer


def renamed(manifest: Manifest, name: str) -> Manifest:
    found = copy.deepcopy(manifest)
    found["metadata"]["name"] = name
    if manifest["kind"] == "Deployment":
        for labels in (found["spec"]["selector"]["matchLabels"], found["spec"]["template"]["metadata"]["labels"]):
            labels["app.kubernetes.io/name"] = name
    return found


FORBIDDEN = [
    ["patch", "resourcequota", "share-l40s", "--patch={}", "--namespace=fraud"],
    ["delete", "resourcequota", "share-l40s", "--namespace=fraud"],
    ["patch", "limitrange", "defaults", "--patch={}", "--namespace=fraud"],
    ["patch", "role", "tenant", "--patch={}", "--namespace=fraud"],
    ["patch", "rolebinding", "tenant", "--patch={}", "--namespace=fraud"],
    ["label", "namespace", "fraud", "pod-security.kubernetes.io/enforce=privileged", "--overwrite"],
    ["patch", "validatingadmissionpolicy", "gpuyard-node-groups", "--type=merge", "--patch={}"],
    ["delete", "validatingadmissionpolicybinding", "service-monitors-read-no-files"],
    ["patch", "clusterqueue", "fraud", "--type=merge", "--patch={}"],
    ["get", "secrets", "--namespace=fraud"],
    ["create", "token", "default", "--namespace=fraud"],
    ["get", "pods", "--namespace=assistants"],
    ["get", "pods", "--all-namespaces"],
    ["cordon", "system-0"],
]


@pytest.mark.parametrize("command", FORBIDDEN, ids=" ".join)
def test_a_tenants_person_moves_none_of_the_walls(cluster: ControlPlane, command: list[str]) -> None:
    with pytest.raises(KubectlError, match="orbidden"):
        cluster.kubectl(*command, token=cluster.token("ana"))


def test_a_workload_lands_on_the_node_group_that_it_asks_for_and_waits_when_that_is_full(
    cluster: ControlPlane, put: Put
) -> None:
    assert until(lambda: nodes_of(cluster, "fraud", "app.kubernetes.io/name=fraud-score"), "it runs")[0][:5] == "l40s-"
    assert until(lambda: nodes_of(cluster, "assistants", "app.kubernetes.io/name=llama-70b"), "it runs") == ["h100-0"]
    put(pod("on-h100", "assistants", gpus=4, **on("h100")), pod("on-l40s", "assistants", gpus=4, **on("l40s")))
    assert until(lambda: placed(cluster, "assistants", "on-h100"), "a place on h100") == "h100-0"
    assert until(lambda: placed(cluster, "assistants", "on-l40s"), "a place on l40s")[:5] == "l40s-"
    put(pod("waits", "assistants", gpus=1, **on("h100")))
    why = until(lambda: unplaced(cluster, "assistants", "waits"), "the scheduler has looked")
    assert "1 Insufficient nvidia.com/gpu" in why
    assert placed(cluster, "assistants", "waits") is None, "there is room on l40s, and it was not asked for"


def test_a_pod_without_accelerators_stays_off_the_nodes_that_have_them(cluster: ControlPlane, put: Put) -> None:
    put(pod("plain", "fraud"))
    assert until(lambda: placed(cluster, "fraud", "plain"), "a place") == "system-0"
    cluster.kubectl("cordon", "system-0")
    try:
        put(pod("waits", "fraud"))
        why = until(lambda: unplaced(cluster, "fraud", "waits"), "the scheduler has looked")
    finally:
        cluster.kubectl("uncordon", "system-0")
    assert "untolerated taint" in why


@pytest.mark.parametrize("name", ["gpuyard-node-groups", "service-monitors-read-no-files"])
def test_a_policy_compiles(cluster: ControlPlane, name: str) -> None:
    assert checked(cluster, name) == {}, "no warning: every field that the expressions name exists in the kinds"


def test_a_field_that_a_kind_does_not_have_would_be_told(cluster: ControlPlane) -> None:
    [policy] = [m for m in objects(STACK) if m["kind"] == "ValidatingAdmissionPolicy" and "monitors" in m["metadata"]["name"]]  # fmt: skip
    typo = copy.deepcopy(policy)
    typo["metadata"]["name"] = "typo"
    typo["spec"]["validations"][0]["expression"] = "object.spec.endpoints.all(endpoint, !has(endpoint.bearerToken))"
    cluster.apply([typo])
    assert "undefined field 'bearerToken'" in str(checked(cluster, "typo"))


def checked(plane: ControlPlane, name: str) -> Any:
    """What the API server thinks of the types in a policy's expressions."""
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}"
    status = until(lambda: plane.get(path).get("status"), "the policy has been checked")
    assert status["observedGeneration"] == 1
    return status["typeChecking"]


def test_a_service_monitor_that_reads_a_file_of_prometheus_is_refused(cluster: ControlPlane, put: Put) -> None:
    reads = monitor("fraud", bearerTokenFile="/var/run/secrets/kubernetes.io/serviceaccount/token")
    told = "bearerTokenFile is read from Prometheus' own disk: name a Secret of the namespace in authorization"
    assert told in refused(cluster, reads)
    put(monitor("fraud", authorization={"credentials": {"name": "own", "key": "token"}}))
    # The chart's own monitor of kubelets reads such a file, and stays possible.
    reads["metadata"]["namespace"] = "monitoring"
    cluster.apply([reads], "--dry-run=server", token=cluster.token("deployer"))


def test_every_queue_is_active(cluster: ControlPlane) -> None:
    for tenant in PERSON:
        until(lambda tenant=tenant: active(cluster, f"clusterqueues/{tenant}"), f"{tenant} is active")  # type: ignore[misc]
        until(lambda tenant=tenant: active(cluster, f"namespaces/{tenant}/localqueues/default"), "so is its own")  # type: ignore[misc]


def test_jobs_run_up_to_the_quota_and_the_next_one_waits_until_there_is_room(cluster: ControlPlane, put: Put) -> None:
    put(job("first", "assistants", gpus=4, **on("l40s")), job("second", "assistants", gpus=4, **on("l40s")))
    until(lambda: runs(cluster, "assistants", "first") and runs(cluster, "assistants", "second"), "8 of 8 are in use")
    put(job("third", "assistants", gpus=4, **on("l40s")))
    assert "insufficient" in until(lambda: held(cluster, "assistants", "third"), "the third one is held")
    assert cluster.get("/apis/batch/v1/namespaces/assistants/jobs/third")["spec"]["suspend"] is True
    assert pods(cluster, "assistants", "job-name=third") == []
    finish(cluster, "assistants", "first")
    until(lambda: runs(cluster, "assistants", "third"), "the third one has its room")
    assert nodes_of(cluster, "assistants", "job-name=third")[0].startswith("l40s-")


def test_a_job_for_a_node_group_of_which_its_tenant_has_no_share_is_never_let_in(
    cluster: ControlPlane, put: Put
) -> None:
    put(job("other", "fraud", gpus=1, **on("h100")))
    why = until(lambda: held(cluster, "fraud", "other"), "it is held")
    assert "flavor l40s doesn't match node affinity" in why
    assert pods(cluster, "fraud", "job-name=other") == []


@pytest.fixture
def scarce(cluster: ControlPlane) -> Iterator[None]:
    """The stack's queues as they are where the node group has no accelerator that is nobody's own: 16 of l40s.

    Fraud's endpoint may take the 8 that fraud owns, so its jobs only borrow, 4 at the most. Assistants owns 8 and lends
    4 of them.
    """
    small = platform(STACK, lambda stack: stack["node_groups"]["l40s"]["nodes"].update(max=4))
    deployer = cluster.token("deployer")
    cluster.apply(queues(small), token=deployer)
    yield
    cluster.apply(queues(platform(STACK)), token=deployer)


def test_idle_accelerators_are_lent_up_to_the_limit_and_taken_back_when_they_are_needed(
    scarce: None, cluster: ControlPlane, put: Put
) -> None:
    put(job("borrows", "fraud", gpus=4, **on("l40s")))
    until(lambda: runs(cluster, "fraud", "borrows"), "it runs on what assistants lends")
    fifth = job("fifth", "fraud", gpus=1, **on("l40s"))
    put(fifth)
    assert "insufficient" in until(lambda: held(cluster, "fraud", "fifth"), "fraud may not borrow a fifth one")
    cluster.delete([fifth])  # Made in the same second as the first one, it may stand before it in the queue.
    put(job("own", "assistants", gpus=4, **on("l40s")))
    until(lambda: runs(cluster, "assistants", "own"), "assistants has 4 that are idle")
    assert runs(cluster, "fraud", "borrows")
    put(job("needed", "assistants", gpus=4, **on("l40s")))
    until(lambda: runs(cluster, "assistants", "needed"), "assistants has all 8 of its own")
    assert "reclamation within the cohort" in preempted(cluster, "fraud", "borrows")
    until(lambda: held(cluster, "fraud", "borrows"), "fraud's job waits again")
    assert pods(cluster, "fraud", "job-name=borrows") == []
    finish(cluster, "assistants", "needed")
    until(lambda: runs(cluster, "fraud", "borrows"), "what is idle again is lent again")
