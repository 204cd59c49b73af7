from __future__ import annotations

import json
import runpy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import record, write

from gpuyard.review.program.record import ProgramError
from gpuyard.review.recording import levers, loop, shortcuts
from gpuyard.review.recording.session import Session

# More resources than the pump waits for, which use each other's outputs while the program still runs.
MANY = """
import pulumi
import pulumi_kubernetes as k8s
from pulumi import Alias, CustomResource, Output, ResourceOptions

seen = []

class Part(pulumi.ComponentResource):
    def __init__(self, name, previous):
        super().__init__("shop:index:Part", name, {"name": name})
        child = ResourceOptions(parent=self)
        self.map = k8s.core.v1.ConfigMap(
            name, metadata={"name": name}, data={"previous": previous, "token": Output.secret(f"secret-{name}")},
            opts=child)
        self.raw = CustomResource("a:b:C", name, {"map": self.map.metadata.name, "id": self.map.id},
            ResourceOptions(parent=self, depends_on=[self.map], aliases=[Alias(name="old-" + name)]))
        self.map.data.apply(lambda data: seen.append(data["previous"]))
        self.register_outputs({"name": self.map.metadata.name})

previous = "first"
for number in range(COUNT):
    part = Part(f"part-{number}", previous)
    previous = part.map.metadata["name"]
    if number % 100 == 50:
        pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})
pulumi.export("last", previous)
"""


def program(folder: Path, source: str) -> Callable[[], Any]:
    (folder / "__main__.py").write_text(source)
    return lambda: runpy.run_path(str(folder), run_name="__main__")


def in_a_thread(work: Callable[[], Any]) -> Any:
    """Event loops belong to threads: each recording of this process gets a thread of its own."""
    answer: list[Any] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:
            answer.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert answer, "it did not end"
    if isinstance(answer[0], BaseException):
        raise answer[0]
    return answer[0]


def test_many_resources_are_recorded_the_same_with_and_without_levers(tmp_path: Path) -> None:
    shop = write(tmp_path, MANY.replace("COUNT", "220"))
    fast, plain = record(shop), record(shop, levers=())
    assert len(fast.resources) == 660
    assert json.dumps(fast.resources, sort_keys=True) == json.dumps(plain.resources, sort_keys=True)


def test_the_pump_turns_for_a_large_program_and_not_for_a_small_one(tmp_path: Path) -> None:
    using = levers.ALL - {"collector"}
    for count, turned in ((220, True), (loop.PUMP_FIRST // 8, False)):
        session = Session("shop", "dev", {}, (), tmp_path, using=using)
        source = MANY.replace("COUNT", str(count))
        in_a_thread(lambda session=session, source=source: session.run(program(tmp_path, source)))
        assert session.pumped is turned
        assert len(session.recorder.resources) == 3 * count


def test_a_callback_that_the_pump_runs_too_early_does_not_fail_a_review(tmp_path: Path) -> None:
    """The SDK would run it after the whole program, so it may use names that are defined at its end."""
    source = f"""
from pulumi import CustomResource
for number in range({loop.PUMP_FIRST + 2 * loop.PUMP_EVERY}):
    it = CustomResource("a:b:C", f"it-{{number}}", {{"x": number}})
    it.urn.apply(lambda urn: later(urn))
def later(urn):
    return urn
"""
    assert len(record(write(tmp_path, source)).resources) == loop.PUMP_FIRST + 2 * loop.PUMP_EVERY


def test_a_program_that_fails_in_earnest_fails_with_the_pump_as_without(tmp_path: Path) -> None:
    source = f"""
from pulumi import CustomResource
for number in range({loop.PUMP_FIRST + 2 * loop.PUMP_EVERY}):
    CustomResource("a:b:C", f"it-{{number}}", {{"x": number}}).urn.apply(lambda urn: 1 / 0)
"""
    with pytest.raises(ProgramError, match="ZeroDivisionError: division by zero"):
        record(write(tmp_path, source))


def test_an_error_of_an_early_registration_is_not_lost_by_the_pump(tmp_path: Path) -> None:
    source = f"""
from pulumi import CustomResource
CustomResource("a:b:C", "it", {{"x": object()}})
for number in range({loop.PUMP_FIRST + 2 * loop.PUMP_EVERY}):
    CustomResource("a:b:C", f"it-{{number}}", {{"x": number}})
"""
    with pytest.raises(ProgramError, match="unexpected input of type object for x"):
        record(write(tmp_path, source))


def test_another_version_of_the_sdk_is_recorded_without_levers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levers, "version", lambda name: "3.999.0")
    session = Session("shop", "dev", {}, (), tmp_path)
    assert session.levers == levers.NONE
    recording = in_a_thread(lambda: session.run(program(tmp_path, MANY.replace("COUNT", "5"))))
    assert len(recording.resources) == 15


def test_every_lever_has_a_place() -> None:
    assert set(shortcuts.LAID) == levers.ALL - {"collector", "inline"}
    assert levers.IN_THREAD < levers.ALL


def test_the_levers_are_proven_on_the_sdk_that_gpuyard_depends_on() -> None:
    assert levers.proven()


def test_outputs_that_nobody_reads_are_never_built(tmp_path: Path) -> None:
    source = """
import pulumi
it = pulumi.CustomResource("kubernetes:v1:ConfigMap", "it", {"read": "one", "unread": 2})
assert "_data" not in it.__dict__["read"].__dict__
it.__dict__["read"].apply(lambda value: pulumi.log.info(f"read {value}"))
assert "_data" in it.__dict__["read"].__dict__
assert "_data" not in it.__dict__["unread"].__dict__
"""
    assert record(write(tmp_path, source)).log == [{"severity": "info", "message": "read one"}]


def test_an_output_of_a_failed_registration_fails_what_reads_it(tmp_path: Path) -> None:
    source = """
import pulumi
first = pulumi.CustomResource("a:b:C", "it", {"x": 1})
second = pulumi.CustomResource("a:b:C", "it", {"x": 1})
second.__dict__["x"].apply(lambda value: pulumi.log.info("it was read"))
"""
    for names in (None, ()):
        with pytest.raises(ProgramError, match="two resources are called urn:pulumi:dev::shop::a:b:C::it"):
            record(write(tmp_path, source), levers=names)
