"""A cloud of the tests' own, and the providers that work in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from clouds.client import Client
from clouds.cloud import Cloud
from clouds.package import package


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud", "https://127.0.0.1:6443", "the certificate")


@pytest.fixture
def aws(cloud: Cloud) -> Iterator[Client]:
    with Client(package("aws"), cloud, region="us-east-1") as client:
        yield client


@pytest.fixture
def gcp(cloud: Cloud) -> Iterator[Client]:
    with Client(package("gcp"), cloud, project="example-dev", region="us-central1") as client:
        yield client
