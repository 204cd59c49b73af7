from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from control_plane.api import Api, RefusedError
from control_plane.certificates import Authority
from control_plane.kwok import COMPLETE_AFTER, READY_AFTER
from control_plane.plane import ControlPlane, KubectlError
from control_plane.processes import ProgramFailedError, free_port, until
from e2e.shipped_cluster import pod
from made import program

pytestmark = pytest.mark.engine


def chosen(*ports: int | None) -> Callable[[], int]:
    """A choice of ports; None, and all after the last, are free ones."""
    answers = iter(ports)
    return lambda: next(answers, None) or free_port()


def test_it_starts_tries_other_ports_where_some_are_taken_and_leaves_nothing_running(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        taken = somebody.getsockname()[1]
        # etcd takes two: its clients' and its peers'.
        with ControlPlane(tmp_path, port=chosen(taken, None, None, None, taken)) as started:
            programs = list(started.programs.running)
            names = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
            assert {program.name for program in programs} == names
            assert started.get("/version")["gitVersion"].startswith("v")
            for name in ("etcd", "kube-apiserver"):
                assert f":{taken}: bind: address already in use" in (tmp_path / f"{name}.log").read_text()
        assert [program.name for program in programs if program.process.poll() is None] == []
    with pytest.raises(OSError, match="refused"):
        started.get("/version")


def test_a_program_that_dies_at_its_start_is_one_clear_error_and_ends_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "kube-apiserver"
    stub.write_text("#!/bin/sh\necho 'error: no such flag: --etcd-servers' >&2\nexit 2\n")
    stub.chmod(0o755)
    monkeypatch.setattr("control_plane.plane.program", lambda name: stub if name == stub.name else program(name))
    started = ControlPlane(tmp_path / "plane")
    with pytest.raises(
        ProgramFailedError, match=r"kube-apiserver ended with 2; .*\nerror: no such flag: --etcd-servers"
    ):
        started.__enter__()
    assert started.programs.running == []


def test_its_certificate_is_verified(plane: ControlPlane) -> None:
    port = int(plane.url.rpartition(":")[2])
    with pytest.raises(ssl.SSLCertVerificationError):
        Api(port, Authority().certificate).raw("/version", plane.admin_token)


def test_a_token_that_it_does_not_know_is_refused(plane: ControlPlane) -> None:
    with pytest.raises(RefusedError, match="401"):
        plane.get("/api/v1/namespaces", token="expired")
    with pytest.raises(KubectlError, match="Unauthorized"):
        plane.kubectl("get", "namespaces", token="expired")


def test_people_are_who_their_tokens_say(plane: ControlPlane) -> None:
    for user, groups in {"ana": ["fraud-ml"], "cem": ["research@example.com"], "nobody": []}.items():
        info = plane.json("auth", "whoami", token=plane.token(user, *groups))["status"]["userInfo"]
        assert info["username"] == user
        assert info["groups"] == [*groups, "system:authenticated"]
    with pytest.raises(KeyError, match="no ana in"):
        plane.token("ana", "assistants")


def test_nodes_stay_ready_and_pods_on_them_run_load_and_complete(plane: ControlPlane) -> None:
    [node] = plane.nodes("machine", capacity={"example.com/gpu": "4"})
    loads, done = pod("loads", "default"), pod("done", "default", restartPolicy="Never")
    loads["metadata"]["annotations"] = {READY_AFTER: "1h"}
    plane.apply([loads, done])

    def status(name: str) -> tuple[str, bool]:
        found = plane.get(f"/api/v1/namespaces/default/pods/{name}")["status"]
        conditions = {c["type"]: c["status"] for c in found.get("conditions", [])}
        return found["phase"], conditions.get("Ready") == "True"

    until(lambda: status("loads") == ("Running", False), "a pod that loads runs and is not ready")
    until(lambda: status("done") == ("Running", True), "a pod runs and is ready")
    plane.kubectl("annotate", "pod", "loads", f"{READY_AFTER}=0s", "--overwrite")
    plane.kubectl("annotate", "pod", "done", f"{COMPLETE_AFTER}=0s")
    until(lambda: status("loads") == ("Running", True), "it has loaded")
    until(lambda: status("done") == ("Succeeded", False), "it has completed")
    assert plane.get(f"/api/v1/nodes/{node}")["status"]["allocatable"]["example.com/gpu"] == "4"
    lease = plane.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}")
    assert lease["spec"]["holderIdentity"], "kwok renews it, which the node-lifecycle controller looks at"
    plane.delete([loads, done])
    plane.kubectl("delete", "node", node)


def test_a_claim_of_any_class_binds_once_a_pod_uses_it_and_its_volume_goes_with_it(plane: ControlPlane) -> None:
    [node] = plane.nodes("machine")
    kind = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "of-a-cloud"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "storageClassName": "of-a-cloud",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }
    path = "/api/v1/namespaces/default/persistentvolumeclaims/data"
    user = pod("user", "default", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    plane.apply([kind, claim])
    assert plane.get(path)["status"]["phase"] == "Pending"
    plane.apply([user])
    until(lambda: plane.get(path)["status"]["phase"] == "Bound", "the claim is bound")
    until(lambda: plane.get("/api/v1/namespaces/default/pods/user")["status"]["phase"] == "Running", "its pod runs")
    [volume] = plane.get("/api/v1/persistentvolumes")["items"]
    assert volume["spec"]["csi"]["driver"] == "ebs.csi.aws.com"
    plane.delete([user, claim])
    until(lambda: not plane.get("/api/v1/persistentvolumes")["items"], "its volume is gone")
    plane.delete([kind])
    plane.kubectl("delete", "node", node)
