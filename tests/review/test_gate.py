"""The gate in a running program, against the SDK's mock engine: what is declared, and what is refused."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s
import pytest
from pulumi.runtime import mocks
from registered import Cloud, Engine

from gpuyard.review import gate


def allowed() -> None:
    k8s.core.v1.ConfigMap("settings", metadata={"name": "settings", "namespace": "default"}, data={"a": "b"})


def denied() -> None:
    allowed()
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10", "securityContext": {"privileged": True}}
    k8s.core.v1.Pod("mighty", metadata={"name": "mighty", "namespace": "team"}, spec={"containers": [container]})


def broken() -> None:
    allowed()
    raise KeyError("no such thing")


def run(build: Callable[[], None], directory: Path, *, preview: bool) -> tuple[list[str], BaseException | None]:
    """Names that the engine was asked to register, and how the program ended."""
    engine = Engine(Cloud({}))
    mocks.set_mocks(Cloud({}), project="p", stack="dev", preview=preview, monitor=engine)
    pulumi.runtime.settings.SETTINGS.root_directory = str(directory)
    ended: list[BaseException] = []

    def program() -> None:
        try:
            gate.gated(build)
        except BaseException as error:
            ended.append(error)

    pulumi.runtime.test(program)()  # type: ignore[no-untyped-call]
    names = [r["name"] for r in engine.registered if r["type"] != "pulumi:pulumi:Stack"]
    return names, ended[0] if ended else None


@pytest.mark.parametrize("preview", [True, False])
def test_a_program_without_findings_is_declared_once(tmp_path: Path, preview: bool) -> None:
    assert run(allowed, tmp_path, preview=preview) == (["settings"], None)


def test_the_stack_that_runs_is_judged_by_its_own_name(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    run(lambda: seen.append((pulumi.get_project(), pulumi.get_stack())), tmp_path, preview=False)
    assert seen == [("p", "dev")] * 2, "once for the gate, which knows limits by stack, and once for the engine"


def test_an_update_is_refused_before_anything_is_declared(tmp_path: Path) -> None:
    names, ended = run(denied, tmp_path, preview=False)
    assert names == []
    assert isinstance(ended, pulumi.RunError), "anything else would print a traceback"
    assert "nothing is deployed" in str(ended)


def test_a_preview_declares_everything_then_fails(tmp_path: Path) -> None:
    names, ended = run(denied, tmp_path, preview=True)
    assert sorted(names) == ["mighty", "settings"], "the engine is asked in any order"
    assert isinstance(ended, pulumi.RunError)


def waiver(directory: Path, *, days: int) -> None:
    (directory / "policies").mkdir()
    last = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=days)
    about = "rule: isolation/privileged, resource: team/Pod/mighty, stack: dev"
    entry = f"{about}, reason: r, ticket: ML-1, approver: ben, expires: {last}"
    (directory / "policies/waivers.yaml").write_text(f"waivers: [{{{entry}}}]\n")


def test_what_is_waived_is_deployed(tmp_path: Path) -> None:
    waiver(tmp_path, days=30)
    names, ended = run(denied, tmp_path, preview=False)
    assert (sorted(names), ended) == (["mighty", "settings"], None)


def test_what_was_waived_until_yesterday_is_not(tmp_path: Path) -> None:
    waiver(tmp_path, days=-1)
    names, ended = run(denied, tmp_path, preview=False)
    assert names == []
    assert "nothing is deployed" in str(ended)


def test_a_wrong_waiver_shuts_the_gate(tmp_path: Path) -> None:
    waiver(tmp_path, days=1000)
    names, ended = run(allowed, tmp_path, preview=False)
    assert names == []
    assert "the gate could not decide" in str(ended)
    assert "give 90 at most" in str(ended)


@pytest.mark.parametrize("preview", [True, False])
def test_a_program_that_cannot_be_recorded_is_refused(tmp_path: Path, preview: bool) -> None:
    names, ended = run(broken, tmp_path, preview=preview)
    assert names == []
    assert isinstance(ended, pulumi.RunError)
    assert "could not decide" in str(ended)
    assert "no such thing" in str(ended)


def test_a_gate_without_rules_is_shut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "find_policies", lambda _: (_ for _ in ()).throw(FileNotFoundError("no rules")))
    names, ended = run(allowed, tmp_path, preview=False)
    assert names == []
    assert isinstance(ended, pulumi.RunError)


def test_a_program_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(gate, "SECONDS", 0.2)
    try:
        names, ended = run(never.wait, tmp_path, preview=False)
    finally:
        never.set()
    assert names == []
    assert "not built after" in str(ended)
