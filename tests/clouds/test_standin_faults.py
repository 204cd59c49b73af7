"""Clouds that are told to fail, and providers that are told to stop."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from clouds.aws.vpc import VPC
from clouds.client import Client, ProviderError
from clouds.cloud import Cloud
from clouds.gcp.network import NETWORK

INPUTS = {"cidrBlock": "10.0.0.0/16"}


def outcomes(cloud: Cloud) -> list[tuple[str, str]]:
    return [(call.operation, call.outcome) for call in cloud.calls()]


def test_every_call_is_noted(aws: Client, cloud: Cloud) -> None:
    made = aws.create(VPC, "net", INPUTS)
    aws.update(made, INPUTS | {"enableDnsHostnames": True})
    aws.read(VPC, "net", made.id)
    aws.delete(made)
    assert [(c.operation, c.kind, c.id, c.outcome) for c in cloud.calls()] == [
        (operation, VPC, made.id, "done") for operation in ("create", "update", "read", "delete")
    ]
    assert cloud.calls("create", "aws:ec2/*") == cloud.calls("create")
    assert cloud.calls("create", "gcp:*") == []


def test_a_refused_call_does_nothing(aws: Client, cloud: Cloud) -> None:
    cloud.fail("create", VPC, "refuse")
    with pytest.raises(ProviderError, match=r"CreateVpc, .* ServiceUnavailableException"):
        aws.create(VPC, "net", INPUTS)
    assert cloud.resources() == []
    assert outcomes(cloud) == [("create", "ServiceUnavailableException")]
    assert aws.create(VPC, "net", INPUTS).id


def test_a_throttled_call_is_tried_again(aws: Client, cloud: Cloud) -> None:
    cloud.fail("*", "aws:*", "throttle", times=3)
    assert aws.create(VPC, "net", INPUTS).id
    assert outcomes(cloud) == [("create", "throttled")] * 3 + [("create", "done")]


def test_a_call_that_is_always_throttled_fails(aws: Client, cloud: Cloud) -> None:
    cloud.fail("create", VPC, "throttle", times=99)
    with pytest.raises(ProviderError, match="ThrottlingException: Rate exceeded"):
        aws.create(VPC, "net", INPUTS)
    assert outcomes(cloud) == [("create", "throttled")] * 5
    cloud.recover()
    assert aws.create(VPC, "net", INPUTS).id


def test_google_throttles_in_its_own_words(gcp: Client, cloud: Cloud) -> None:
    cloud.fail("create", "gcp:*", "throttle", times=99)
    with pytest.raises(ProviderError, match=r"Error creating Network .*Error 429: .*rateLimitExceeded"):
        gcp.create(NETWORK, "net", {})


def test_a_lost_answer_leaves_the_thing(aws: Client, cloud: Cloud) -> None:
    cloud.fail("create", VPC, "lose")
    with pytest.raises(ProviderError, match="the connection was reset"):
        aws.create(VPC, "net", INPUTS)
    (left,) = cloud.resources()
    assert outcomes(cloud) == [("create", "lost")]
    found = aws.read(VPC, "net", left.id)
    assert found is not None
    cloud.fail("delete", VPC, "lose")
    with pytest.raises(ProviderError, match="the connection was reset"):
        aws.delete(found)
    assert cloud.resources() == []


def test_a_call_that_hangs_ends_at_its_time_out(aws: Client, cloud: Cloud) -> None:
    cloud.fail("create", VPC, "hang")
    with pytest.raises(ProviderError, match="timeout while waiting"):
        aws.create(VPC, "net", INPUTS, timeout=0.2)
    assert cloud.resources() == []


def test_a_call_that_hangs_ends_when_it_is_cancelled(aws: Client, cloud: Cloud) -> None:
    cloud.fail("create", VPC, "hang")
    said: list[str] = []

    def create() -> None:
        try:
            aws.create(VPC, "net", INPUTS)
        except ProviderError as error:
            said.append(str(error))

    waiting = threading.Thread(target=create)
    waiting.start()
    while not cloud.calls():
        assert waiting.is_alive()
    aws.cancel()
    waiting.join(10)
    assert said == ["the operation was cancelled"]


def test_a_failure_is_taken_once_by_all_that_share_the_cloud(aws: Client, cloud: Cloud) -> None:
    Cloud(cloud.folder).fail("create", VPC, "refuse", times=2)
    for _ in range(2):
        with pytest.raises(ProviderError):
            aws.create(VPC, "net", INPUTS)
    assert aws.create(VPC, "net", INPUTS).id


def test_a_cloud_is_found_again_in_its_folder(aws: Client, cloud: Cloud) -> None:
    made = aws.create(VPC, "net", INPUTS)
    again = Cloud(cloud.folder)
    assert [thing.id for thing in again.resources()] == [made.id]
    assert again.setting("plane_url") == "https://127.0.0.1:6443"


def test_many_at_once_all_get_done(aws: Client, cloud: Cloud) -> None:
    cloud.delay(0.05)
    threads = [threading.Thread(target=aws.create, args=(VPC, f"n{i}", INPUTS)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(cloud.resources()) == 12


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        Cloud(tmp_path / "file" / "cloud")
