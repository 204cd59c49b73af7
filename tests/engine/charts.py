"""A mirror of Helm charts on loopback: charts of our own, with the names and versions of those that a platform installs.

What Helm and the provider do with a chart is real; what is in it renders the values that we set and nothing else. The
kinds that upstream's charts bring come with them, as upstream does it: in `crds/`, which Helm leaves behind, or among
the templates, which go with the release.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from control_plane.certificates import Authority
from made import files, program

from gpuyard import catalogue

SOURCES = Path(__file__).with_name("charts")

KINDS: Mapping[str, tuple[str, str]] = {
    "kube-prometheus-stack": ("prometheus-operator", "crds"),
    "keda": ("keda", "definitions"),
    "kueue": ("kueue", "definitions"),
}
"""Chart to the module whose files define its kinds, and the chart's folder that they lie in."""

CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
CONFIG = "application/vnd.cncf.helm.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
"""Media types of a chart in a registry. Source: Helm, "Use OCI-based registries"."""

SECONDS = 60


class ChartMirror:
    """A chart repository and a registry with the same charts, over TLS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = Authority()
        self.authority = folder / "ca.crt"
        """The file that clients must trust: `SSL_CERT_FILE` for Go programs."""

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True)
        self.authority.write_text(self._authority.certificate)
        self._authority.issue(self._folder / "server.crt", self._folder / "server.key")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "server.crt", self._folder / "server.key")
        served = self._folder / "served"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(served)))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        host = f"127.0.0.1:{self._server.server_port}"
        self.repository, self.registry = f"https://{host}/charts", f"oci://{host}/charts"
        package(served)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)


def package(served: Path) -> None:
    """Packages every chart, and lays it out as a repository in `charts`, and as a registry in `v2`."""
    repository, sources = served / "charts", served.parent / "sources"
    repository.mkdir(parents=True)
    for source in sorted(path for path in SOURCES.iterdir() if path.is_dir()):
        chart = shutil.copytree(source, sources / source.name)
        if source.name in KINDS:
            module, place = KINDS[source.name]
            (chart / place).mkdir()
            # A kind's file is called after its group and its name; the module may bring more than kinds.
            for path in files(module).glob("*_*.yaml"):
                shutil.copy(path, chart / place)
        version = catalogue.chart(source.name).version
        _helm("package", str(chart), "--version", version, "--destination", str(repository))
        _lay_out(served / "v2" / "charts" / source.name, repository / f"{source.name}-{version}.tgz", version)
    _helm("repo", "index", str(repository))


def _lay_out(folder: Path, archive: Path, version: str) -> None:
    layer, config = archive.read_bytes(), b"{}"
    described = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _blob(folder, config, CONFIG),
        "layers": [_blob(folder, layer, CHART_LAYER)],
    }
    manifest = json.dumps(described).encode()
    (folder / "manifests").mkdir()
    for name in (version, _digest(manifest)):
        (folder / "manifests" / name).write_bytes(manifest)


def _blob(folder: Path, content: bytes, media_type: str) -> dict[str, Any]:
    path = folder / "blobs" / _digest(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {"mediaType": media_type, "digest": path.name, "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _helm(*arguments: str) -> None:
    done = subprocess.run(
        [program("helm"), *arguments], capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"helm {' '.join(arguments)}\n{done.stderr}"


class _Handler(SimpleHTTPRequestHandler):
    """Files, and of a registry what a pull asks for: GET and HEAD of a manifest and of blobs."""

    protocol_version = "HTTP/1.1"

    def guess_type(self, path: Any) -> str:
        return MANIFEST if "/manifests/" in str(path) else "application/octet-stream"

    def end_headers(self) -> None:
        if "/manifests/" in self.path:
            path = Path(self.translate_path(self.path))
            if path.is_file():
                self.send_header("Docker-Content-Digest", _digest(path.read_bytes()))
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        pass
