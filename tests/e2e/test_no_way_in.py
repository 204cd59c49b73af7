"""Clusters that cannot be reached or entered, and charts that are not there: one clear error, and nothing half made."""

from __future__ import annotations

import functools
import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agreement import disagreements
from control_plane.plane import ControlPlane
from deployed import deployed
from engine.charts import ChartMirror
from engine.engine import Engine
from engine.run import Run

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

Kubeconfig = dict[str, Any]


@functools.cache
def held() -> socket.socket:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


def deaf_port() -> int:
    """A port that refuses connections, and that nobody else gets: a free one may be another test's a moment later."""
    return int(held().getsockname()[1])


def unreachable(config: Kubeconfig) -> None:
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{deaf_port()}"


def expired(config: Kubeconfig) -> None:
    config["users"][0]["user"]["token"] = "of-yesterday"


def of_another_authority(config: Kubeconfig) -> None:
    del config["clusters"][0]["cluster"]["certificate-authority"]


def renamed(config: Kubeconfig) -> None:
    config["contexts"][0]["name"] = config["current-context"] = "another"


def errors(run: Run) -> set[str]:
    """What went wrong, each thing once, without the resource that met it: several are made at a time."""
    assert "Traceback" not in run.output
    said = {re.sub(r'.*(?=namespaces "|nodes ")', "", message, flags=re.DOTALL) for message in run.diagnostics("error")}
    return said - {"update failed", "preview failed"}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (unreachable, "connection refused"),
        (expired, "the server has asked for the client to provide credentials"),
        (of_another_authority, "certificate signed by unknown authority"),
        (renamed, 'context "dgx" does not exist'),
    ],
)
def test_a_cluster_that_cannot_be_entered_is_one_error_and_is_not_touched(
    spoil: Callable[[Kubeconfig], None], reason: str, tmp_path: Path, plane: ControlPlane, charts: ChartMirror
) -> None:
    before = plane.inventory()
    engine = Engine(tmp_path / "engine", "onprem", plane=plane, charts=charts)
    path = engine.folder / "kubeconfig"
    config = json.loads(path.read_text())
    spoil(config)
    path.write_text(json.dumps(config))
    run = engine.up(expect_failure=True)
    [error] = errors(run)
    assert error.startswith("configured Kubernetes cluster is unreachable")
    assert reason in error
    assert plane.inventory() == before
    assert not any(resource["type"].startswith("kubernetes:") for resource in engine.export()["resources"])


def test_who_has_no_rights_is_told_which_are_missing_and_nothing_is_touched(
    tmp_path: Path, plane: ControlPlane, charts: ChartMirror
) -> None:
    before = plane.inventory()
    engine = Engine(tmp_path / "engine", "onprem", plane=plane, charts=charts, token=plane.token("nobody"))
    found = errors(engine.up(expect_failure=True))
    assert found
    for error in found:
        assert re.search(r'is forbidden: User "nobody" cannot patch resource "\w+" in API group', error)
    assert plane.inventory() == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (lambda charts: f"https://127.0.0.1:{deaf_port()}/charts", "connection refused"),
        (lambda charts: f"{charts.repository}/elsewhere", "404"),
        (lambda charts: f"{charts.registry}/elsewhere", "not found"),
    ],
    ids=["nobody listens", "not a repository", "not in the registry"],
)
def test_a_chart_that_is_not_where_the_stack_says_fails_the_preview(
    source: Callable[[ChartMirror], str], reason: str, tmp_path: Path, plane: ControlPlane, charts: ChartMirror
) -> None:
    before = plane.inventory()
    engine = Engine(tmp_path / "engine", "onprem", plane=plane, charts=charts)
    engine.edit(lambda platform: platform["artifacts"].update(charts=source(charts)))
    # As who deploys does it: an update that shows its preview first, and ends where that fails.
    told = errors(engine.start("up", "--yes").wait())
    # One, or as many charts as the engine had asked for before the first was refused.
    assert told
    for error in told:
        assert reason in error
        assert "check the chart name and repository configuration" in error
    assert plane.inventory() == before
    assert engine.export().get("resources", []) == []


def test_charts_come_from_a_registry_as_well(tmp_path: Path, plane: ControlPlane, charts: ChartMirror) -> None:
    engine = Engine(tmp_path / "engine", "onprem", plane=plane, charts=charts)
    engine.edit(lambda platform: platform["artifacts"].update(charts=charts.registry))
    assert set(engine.preview().changes) == {"create"}


@pytest.mark.long
@pytest.mark.parametrize(("stack", "program"), [("prod-aws", "aws"), ("dev", "gke-gcloud-auth-plugin")])
def test_a_login_that_expires_ends_the_run_after_the_cluster_and_the_next_goes_on(
    stack: str, program: str, tmp_path: Path, charts: ChartMirror
) -> None:
    with deployed(stack, tmp_path, charts) as there:
        there.cloud.expire_login()
        [error] = errors(there.engine.up(expect_failure=True))
        assert f"getting credentials: exec: executable {program} failed" in error
        assert disagreements(there) == []
        assert there.objects() == set()
        there.cloud.expire_login("rejected")
        [error] = errors(there.engine.up(expect_failure=True))
        assert error.endswith("the server has asked for the client to provide credentials")
        there.cloud.login(there.plane.token("deployer"))
        made = there.engine.up()
        assert "replace" not in made.changes
        assert disagreements(there) == []
