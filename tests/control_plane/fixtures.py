"""The control plane as a fixture, one a worker, and its logs beside the failure of a test that used it."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from control_plane.plane import ControlPlane


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that the tests of one worker share: each uses namespaces and nodes of its own."""
    with ControlPlane(tmp_path_factory.mktemp("plane")) as started:
        yield started


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the end of each program's log to the report of a test that failed."""
    report = yield
    for used in getattr(item, "funcargs", {}).values() if report.failed else ():
        if isinstance(used, ControlPlane):
            report.sections.append((f"logs in {used.folder}", used.tails()))
    return report
