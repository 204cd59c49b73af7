"""What tests of whole stacks share within a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine.charts import ChartMirror


@pytest.fixture(scope="session")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartMirror]:
    """A mirror with every chart that the stacks install."""
    with ChartMirror(tmp_path_factory.mktemp("charts") / "mirror") as mirror:
        yield mirror
