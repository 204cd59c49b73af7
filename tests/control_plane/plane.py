"""A real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler, and kwok for nodes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from control_plane import access, kwok
from control_plane.api import MERGE_PATCH, Api, is_healthy
from control_plane.certificates import Authority, signing_keys
from control_plane.processes import PortTakenError, Programs, Running, free_port, until
from made import files, program

Manifest = dict[str, Any]

TRIES = 5
"""A program whose port somebody takes between choosing and binding gets so many ports."""

SECONDS_TO_START = 60
SECONDS_TO_ANSWER = 60
"""No kubectl command may take longer."""


class KubectlError(Exception):
    """kubectl failed; the message is what it said."""


class ControlPlane:
    """One cluster's control plane, empty at the start, ready once entered, gone once left.

    There is no kubelet: kwok says of its nodes, and of the pods on them, that they are well.
    """

    url: str
    """Address of the API server."""
    certificate_authority: str
    """PEM text of the authority that signed the API server's certificate."""

    def __init__(self, folder: Path, *, port: Callable[[], int] = free_port) -> None:
        """`folder` takes data and logs; `port` chooses a port of loopback that nobody listens on."""
        self.folder = folder
        self.free_port = port
        self._tokens = access.Tokens()
        self._authority = Authority()
        self.certificate_authority = self._authority.certificate
        self.admin_token = self._tokens.of("admin")

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs = Programs(self.folder)
        try:
            self._start()
        except BaseException:
            self.programs.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.programs.close()
        # Logs are kept, 70 MB of etcd's are not.
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def _start(self) -> None:
        self.authority_file = self.folder / "ca.crt"
        self.authority_file.write_text(self.certificate_authority)
        self._authority.issue(self.folder / "server.crt", self.folder / "server.key")
        signing_keys(self.folder / "accounts.key", self.folder / "accounts.pub")
        self._tokens.write(self.folder / "tokens.csv")
        store = self.with_port(self._etcd)
        self.url = f"https://127.0.0.1:{self.with_port(lambda port: self._api_server(port, store))}"
        self._admin = self.kubeconfig(self.folder / "admin.kubeconfig")
        manager = self._controllers()
        kwok.start(self.programs, self._admin)
        self.apply(_standing())
        # Pods of a namespace wait for its service account, and with it for the controller manager.
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        manager.wait(lambda: bool(self.get(account)), SECONDS_TO_START)
        self.programs.check()

    def with_port(self, start: Callable[[int], None]) -> int:
        """Starts a program on a free port, on another one where that was taken meanwhile; returns the port."""
        for _ in range(TRIES):
            port = self.free_port()
            try:
                start(port)
            except PortTakenError as error:
                taken = error
                self.programs.forget_ended()
                continue
            return port
        raise taken

    def _etcd(self, port: int) -> None:
        peers = f"http://127.0.0.1:{self.free_port()}"
        url = f"http://127.0.0.1:{port}"
        command = [
            str(program("etcd")),
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]
        etcd = self.programs.start("etcd", command)
        etcd.wait(lambda: is_healthy(port, "/health"), SECONDS_TO_START)

    def _api_server(self, port: int, store: int) -> None:
        command = [
            str(program("kube-apiserver")),
            f"--etcd-servers=http://127.0.0.1:{store}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            # Nobody is told this address; without it the server looks for an interface beside loopback.
            "--advertise-address=192.0.2.1",
            "--endpoint-reconciler-type=none",
            f"--tls-cert-file={self.folder / 'server.crt'}",
            f"--tls-private-key-file={self.folder / 'server.key'}",
            f"--service-account-key-file={self.folder / 'accounts.pub'}",
            f"--service-account-signing-key-file={self.folder / 'accounts.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--profiling=false",
        ]
        server = self.programs.start("kube-apiserver", command)
        self.api = Api(port, self.certificate_authority)
        server.wait(lambda: self.api.is_ready(self.admin_token), SECONDS_TO_START)

    def _controllers(self) -> Running:
        # Neither of the two listens anywhere, so neither can miss its port.
        common = [f"--kubeconfig={self._admin}", "--leader-elect=false", "--secure-port=0", "--profiling=false"]
        # As they are, deleting a namespace takes six seconds of waiting for the controller's own limit.
        common += ["--kube-api-qps=1000", "--kube-api-burst=1000"]
        keys = [
            f"--service-account-private-key-file={self.folder / 'accounts.key'}",
            f"--root-ca-file={self.authority_file}",
        ]
        manager = [str(program("kube-controller-manager")), *common, *keys]
        self.programs.start("kube-scheduler", [program("kube-scheduler"), *common])
        return self.programs.start("kube-controller-manager", manager)

    def token(self, user: str, *groups: str) -> str:
        """The bearer token of one of access.PEOPLE."""
        return self._tokens.of(user, *groups)

    def kubeconfig(self, path: Path, *, context: str = "gpuyard", token: str | None = None) -> Path:
        """Writes a kubeconfig; the administrator's when no token is given."""
        return access.kubeconfig(
            path, url=self.url, authority=self.authority_file, token=token or self.admin_token, context=context
        )

    def kubectl(self, *arguments: str, token: str | None = None, stdin: str | None = None) -> str:
        """What kubectl prints for the bearer of a token, the administrator when none is given.

        Raises KubectlError with what it says when it fails.
        """
        # A token that is given goes before the kubeconfig's own.
        bearer = [] if token is None else [f"--token={token}"]
        answer = subprocess.run(
            # What kubectl learnt of the API is kept, which spares each call a second of questions.
            [
                program("kubectl"),
                f"--kubeconfig={self._admin}",
                f"--cache-dir={self.folder / 'kubectl'}",
                *bearer,
                *arguments,
            ],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_TO_ANSWER,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
        )
        if answer.returncode:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {answer.stderr.strip()}")
        return answer.stdout

    def json(self, *arguments: str, token: str | None = None) -> Any:
        """What kubectl answers with `--output=json`."""
        return json.loads(self.kubectl(*arguments, "--output=json", token=token))

    def get(self, path: str, token: str | None = None) -> Any:
        """The object or list at a path of the API, None where there is none. Cheaper than kubectl."""
        return self.api.ask(path, token or self.admin_token)

    def patch(self, path: str, body: Any) -> Any:
        """Merges something into the object at a path, for the administrator."""
        return self.api.ask(path, self.admin_token, method="PATCH", body=body, kind=MERGE_PATCH)

    def apply(self, manifests: Iterable[Manifest], *options: str, token: str | None = None) -> str:
        """Applies manifests as they are, on the server's side; an unknown field is an error."""
        fixed = ["apply", "--server-side", "--validate=strict", "--filename=-"]
        return self.kubectl(*fixed, *options, token=token, stdin=_listed(manifests))

    def delete(self, manifests: Iterable[Manifest]) -> None:
        """Deletes these objects, where they are there, and waits until they are gone."""
        self.kubectl("delete", "--ignore-not-found", "--wait", "--filename=-", stdin=_listed(manifests))

    def refusal(self, manifests: Iterable[Manifest], *options: str, token: str | None = None) -> str:
        """What the API server says when it does not take these manifests; fails when it does."""
        try:
            answer = self.apply(manifests, *options, token=token)
        except KubectlError as error:
            return str(error)
        raise AssertionError(f"nothing was refused: {answer}")

    def nodes(
        self,
        prefix: str = "node",
        *,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        capacity: Mapping[str, str] | None = None,
        count: int = 1,
    ) -> list[str]:
        """Makes nodes that are all alike and waits until pods can go there; returns their names."""
        names = [f"{prefix}-{number}" for number in range(count)]
        self.apply(kwok.node(name, labels or {}, taints, capacity or {}) for name in names)
        until(lambda: all(self._takes_pods(name, taints) for name in names), f"nodes {names} are ready")
        return names

    def _takes_pods(self, node: str, taints: Sequence[Mapping[str, str]]) -> bool:
        return kwok.takes_pods(self.get(f"/api/v1/nodes/{node}"), taints)

    def crds(self, *modules: str) -> None:
        """Brings the kinds of keda, kueue or prometheus-operator, and waits until they are served."""
        found = [f"--filename={path}" for module in modules for path in sorted(files(module).glob("*_*.yaml"))]
        self.kubectl("apply", "--server-side", *found)
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", *found)

    def inventory(self) -> set[str]:
        """Everything that the API server holds, but what comes and goes by itself: `apps/v1 deployments fraud/model`.

        Taken before and after, it shows what was left behind.
        """
        return set(self.everything())

    def everything(self) -> dict[str, Any]:
        """The same, each with the object itself."""
        return self.api.everything(self.admin_token)

    def tails(self) -> str:
        """The end of each program's log, for a test that fails."""
        return self.programs.tails()


def _listed(manifests: Iterable[Manifest]) -> str:
    # Documents, and no List: of a List kubectl checks the fields itself, after loading the whole schema.
    return "\n---\n".join(json.dumps(manifest) for manifest in manifests)


def _standing() -> list[Manifest]:
    """What a cluster has before anybody deploys: rights for deployers, and a place for volumes."""
    rbac = "rbac.authorization.k8s.io"
    return [
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": access.DEPLOYERS},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": rbac, "kind": "Group", "name": access.DEPLOYERS}],
        },
        kwok.STORAGE_CLASS,
    ]
