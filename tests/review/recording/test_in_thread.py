from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import config, mocks, settings
from pulumi.runtime.proto import resource_pb2

from gpuyard.review import recording
from gpuyard.review.recording.values import UNKNOWN


class Live(pulumi.runtime.Mocks):
    """Stands for a real run that goes on while the gate records."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        return f"{args.name}-live", {**args.inputs, "arn": "live"}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        return {"id": "live"}, []


class Upstream:
    """A real engine's monitor, as far as the recorder asks it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        self.asked.append(request.tok)
        answer = resource_pb2.ResourceInvokeResponse()
        getattr(answer, "return").update({"id": "from-upstream"})
        return answer


@pytest.fixture
def live() -> Iterator[None]:
    """A live program of this process, with a secret in its configuration."""
    before = settings.get_monitor(), config.CONFIG.get(), config._SECRET_KEYS.get()
    mocks.set_mocks(Live(), project="live", stack="prod", preview=False)
    config.set_all_config({"live:token": "a-real-secret", "live:size": "3"}, ["live:token"])
    yield
    settings.SETTINGS.monitor = before[0]
    config.CONFIG.set(before[1])
    config._SECRET_KEYS.set(before[2])
    settings.ROOT.set(None)


def start(program: Callable[[], object], directory: Path, **more: Any) -> Callable[[], recording.Recording]:
    """Starts a recording in a fresh thread, as the gate does; the result waits for it."""
    answer: list[Any] = []
    given: dict[str, Any] = {"project": "shop", "stack": "dev", "config": {}, "directory": directory, **more}

    def work() -> None:
        try:
            answer.append(recording.record(program, **given))
        except BaseException as error:
            answer.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def wait() -> recording.Recording:
        thread.join(60)
        assert answer, "it did not end"
        if isinstance(answer[0], BaseException):
            raise answer[0]
        return answer[0]  # type: ignore[no-any-return]

    return wait


def record(program: Callable[[], object], directory: Path, **more: Any) -> recording.Recording:
    return start(program, directory, **more)()


def test_a_program_knows_that_it_is_recorded_and_only_then(tmp_path: Path, live: None) -> None:
    seen: list[bool] = [recording.under_recorder()]

    def program() -> None:
        seen.append(recording.under_recorder())
        pulumi.Output.from_input(1).apply(lambda _: seen.append(recording.under_recorder()))

    record(program, tmp_path)
    seen.append(recording.under_recorder())
    assert seen == [False, True, True, False]


def test_a_recorder_of_another_copy_of_the_package_is_known_by_its_mark(live: None) -> None:
    class Recorder:
        _gpuyard_recorder = True

    settings.SETTINGS.monitor = Recorder()
    assert recording.under_recorder()


def test_the_live_program_keeps_its_settings(tmp_path: Path, live: None) -> None:
    monitor = settings.get_monitor()

    def program() -> None:
        assert pulumi.get_project() == "shop"
        assert pulumi.Config().get("size") == "9"
        pulumi.CustomResource("a:b:C", "it", {"x": 1})

    recorded = record(program, tmp_path, config={"shop:size": "9"})
    assert [resource["urn"] for resource in recorded.resources] == ["urn:pulumi:dev::shop::a:b:C::it"]
    assert settings.get_monitor() is monitor
    assert (pulumi.get_project(), pulumi.get_stack()) == ("live", "prod")
    assert pulumi.Config().get("token") == "a-real-secret"
    assert pulumi.runtime.is_dry_run() is False


def test_the_thread_that_records_keeps_its_settings_too(tmp_path: Path, live: None) -> None:
    def work() -> tuple[str, str]:
        settings.SETTINGS.project = "mine"
        config.CONFIG.set({"mine:x": "kept"})
        recording.record(lambda: None, project="shop", stack="dev", config={"shop:x": "1"}, directory=tmp_path)
        return pulumi.get_project(), pulumi.Config().require("x")

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result(60) == ("mine", "kept")


def test_recordings_side_by_side_do_not_mix(tmp_path: Path, live: None) -> None:
    """All three register at the same time: each program waits for the others in its middle."""
    barrier = threading.Barrier(2, timeout=30)

    def program(name: str) -> Callable[[], None]:
        def build() -> None:
            first = pulumi.CustomResource("kubernetes:v1:ConfigMap", f"{name}-first", {"name": name})
            barrier.wait()
            second = pulumi.CustomResource("a:b:C", f"{name}-second", {"of": first.__dict__["name"]})
            barrier.wait()
            pulumi.CustomResource("a:b:C", f"{name}-third", {"of": second.id})

        return build

    waits = [start(program(name), tmp_path, stack=name) for name in ("one", "two")]
    for name, recorded in zip(("one", "two"), (wait() for wait in waits), strict=True):
        assert [(r["name"], r["inputs"]) for r in recorded.resources] == [
            (f"{name}-second", {"of": name}),
            (f"{name}-third", {"of": None}),
            (f"{name}-first", {"name": name}),
        ]


def test_the_sdk_of_the_live_program_is_as_it_was(tmp_path: Path, live: None) -> None:
    """The patches stay laid after a recording; a live program must not notice them."""
    record(lambda: pulumi.CustomResource("a:b:C", "it", {"x": 1}), tmp_path)
    values: list[Any] = []

    @pulumi.runtime.test
    def program() -> Any:
        made = pulumi.CustomResource("a:b:C", "live", {"x": 1, "arn": None})
        got = pulumi.runtime.invoke_output("a:b/get:get", {})
        both = pulumi.Output.all(made.id, made.__dict__["arn"], pulumi.Config().require_secret("token"), got)
        return both.apply(values.extend)

    program()
    assert values == ["live-live", "live", "a-real-secret", {"id": "live"}]


def test_the_configuration_is_handed_on_without_its_secrets(live: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", '{"live:more": "from-environment", "live:key": "also-secret"}')
    monkeypatch.setenv("PULUMI_CONFIG_SECRET_KEYS", '["live:key"]')
    values, secret_keys = recording.blinded_config()
    assert values == {
        "live:token": UNKNOWN,
        "live:size": "3",
        "live:more": "from-environment",
        "live:key": UNKNOWN,
    }
    assert secret_keys == ["live:key", "live:token"]


@pytest.mark.parametrize("getter", ["get_secret", "require_secret"])
@pytest.mark.parametrize("kind", ["", "_int", "_bool", "_float", "_object"])
def test_a_secret_of_any_kind_is_an_unknown_secret(tmp_path: Path, live: None, getter: str, kind: str) -> None:
    def program() -> None:
        secret = getattr(pulumi.Config(), getter + kind)("token")
        pulumi.CustomResource("a:b:C", "it", {"plain": secret, "used": secret.apply(lambda _: pytest.fail("it ran"))})

    recorded = record(program, tmp_path, config={"shop:token": UNKNOWN}, secret_keys=["shop:token"])
    assert recorded.resources[0]["secret"] == recorded.resources[0]["unknown"] == ["/plain", "/used"]


def test_a_real_provider_answers_where_there_is_one(tmp_path: Path, live: None) -> None:
    upstream = Upstream()

    def program() -> None:
        direct = pulumi.runtime.invoke("aws:index/getRegion:getRegion", {}).value
        output = pulumi.runtime.invoke_output("aws:index/getRegion:getRegion", {})
        pulumi.CustomResource("a:b:C", "it", {"direct": direct["id"], "output": output["id"]})
        policy = pulumi.runtime.invoke("aws:iam/getPolicyDocument:getPolicyDocument", {"statements": []}).value
        assert policy["json"].startswith("{")

    recorded = record(program, tmp_path, upstream=upstream)
    assert recorded.resources[0]["inputs"] == {"direct": "from-upstream", "output": "from-upstream"}
    assert upstream.asked == ["aws:index/getRegion:getRegion"] * 2, "what needs no provider asks none"


def test_a_function_of_a_provider_of_the_recording_does_not_go_upstream(tmp_path: Path, live: None) -> None:
    upstream = Upstream()

    def program() -> None:
        provider = pulumi.ProviderResource("aws", "eu", {"region": "eu-north-1"})
        options = pulumi.InvokeOptions(provider=provider)
        direct = pulumi.runtime.invoke("aws:index/getRegion:getRegion", {}, options).value
        pulumi.CustomResource("a:b:C", "it", {"direct": direct["id"]})

    recorded = record(program, tmp_path, upstream=upstream)
    assert upstream.asked == []
    assert recorded.resources[0]["inputs"] == {"direct": "eu-north-1"}


def test_what_the_program_raises_comes_out_as_it_is(tmp_path: Path, live: None) -> None:
    def program() -> None:
        raise pulumi.RunError("no")

    with pytest.raises(pulumi.RunError, match=r"^no$"):
        record(program, tmp_path)


def test_a_failed_registration_comes_out_though_the_program_goes_on(tmp_path: Path, live: None) -> None:
    def program() -> None:
        for _ in range(2):
            pulumi.CustomResource("a:b:C", "it", {"x": 1})

    with pytest.raises(ValueError, match="two resources are called urn:pulumi:dev::shop::a:b:C::it"):
        record(program, tmp_path)


def test_a_caught_missing_answer_is_an_error_all_the_same(tmp_path: Path, live: None) -> None:
    def program() -> None:
        with contextlib.suppress(LookupError):
            pulumi.runtime.invoke("a:b/c:c", {})

    with pytest.raises(LookupError, match="calls the function a:b/c:c directly"):
        record(program, tmp_path)


def test_recording_where_a_loop_runs_already_is_refused(tmp_path: Path, live: None) -> None:
    async def inside() -> None:
        recording.record(lambda: None, project="shop", stack="dev", config={}, directory=tmp_path)

    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="record in a thread of its own"):
        pool.submit(asyncio.run, inside()).result(30)


def test_fixtures_given_by_the_caller_come_before_the_programs(tmp_path: Path, live: None) -> None:
    (tmp_path / "gpuyard.invokes.yaml").write_text("a:b/c:c: {value: file, more: '{args.x}'}\n")

    def program() -> None:
        values = [pulumi.runtime.invoke(token, {"x": "y"}).value for token in ("a:b/c:c", "a:b/d:d")]
        pulumi.CustomResource("a:b:C", "it", {"values": values})

    recorded = record(program, tmp_path, fixtures={"a:b/d:d": {"value": "given"}})
    assert recorded.resources[0]["inputs"]["values"] == [
        {"more": "y", "value": "file", "x": "y"},
        {"value": "given", "x": "y"},
    ]
