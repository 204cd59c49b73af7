"""Chromium, where it is on PATH; `.ci/run` installs it. Without it, each test here is named as not run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
MILLISECONDS = 60_000
"""A machine that does other things, too, takes long to start a browser."""


def _path() -> str | None:
    return next((found for found in map(shutil.which, NAMES) if found), None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips with the test's own name: reasons that are the same are counted, not told."""
    if _path() is None:
        pytest.skip(f"not run, for no Chromium is on PATH: {item.name}")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of one file: its event loop must not run while other tests do."""
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox does not start for root.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_path(), args=arguments, timeout=MILLISECONDS)
        yield browser
        browser.close()
