"""The engine killed at random moments, as when a runner loses its power; then what docs/state.md says, step by step."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agreement import disagreements, releases
from clouds.cloud import Thing
from deployed import KEPT, Deployed, deployed
from engine.charts import ChartMirror
from engine.engine import Running
from made import program

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(900)]

GPUYARD = Path(sys.executable).with_name("gpuyard")
SECONDS = 120

ANSWERS_AFTER = 0.3
"""Seconds that the cloud takes to answer: so that much happens between its doing and the engine's noting."""

RESOURCES = {"prod-aws": 134, "dev": 67, "onprem": 48}
"""How much each stack makes, about: a moment is a part of it."""

MADE_AGAIN_WITHOUT_HARM = ("IAMMember", "ServiceIdentity", "DefaultSecurityGroup")
"""What docs/state.md lets be absent without looking: `CryptoKeyIAMMember` ends alike."""


@pytest.mark.parametrize(
    ("stack", "seed"),
    [*(("prod-aws", seed) for seed in range(6)), *(("dev", seed) for seed in range(5))],
)
def test_whenever_it_is_killed_what_it_made_is_found_again_and_nothing_is_made_twice(
    stack: str, seed: int, tmp_path: Path, charts: ChartMirror
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test is repeated by its number
    with deployed(stack, tmp_path, charts) as there:
        there.engine.edit(lambda platform: platform.update(protect=False))
        there.cloud.delay(ANSWERS_AFTER)
        kill_somewhere(there, there.engine.start("up", "--skip-preview", "--yes"), RESOURCES[stack], chance)
        recover(there)
        mended = there.engine.up()
        assert "replace" not in mended.changes
        assert disagreements(there) == []
        assert set(there.engine.preview().changes) == {"same"}

        count = len(there.engine.export()["resources"])
        kill_somewhere(there, there.engine.start("destroy", "--skip-preview", "--yes"), count, chance)
        recover(there)
        there.engine.destroy()
        assert there.cloud.left() == []
        left = {name.rpartition("/")[2] for name in there.objects() if not name.startswith("apiregistration.k8s.io/")}
        assert left <= KEPT


def kill_somewhere(there: Deployed, running: Running, resources: int, chance: random.Random) -> None:
    """Waits until a part of the resources are done, and a little longer, and kills the engine and its plugins."""
    after, pause = int(resources * chance.uniform(0, 0.9)), chance.uniform(0, 0.5)
    while not running.ended and running.count("resOutputsEvent") < after:
        time.sleep(0.02)
    time.sleep(pause)
    assert not running.ended, "nothing was left to be killed"
    running.kill()


def recover(there: Deployed) -> None:
    """The steps of docs/state.md, "After a run that was cut off", but for the last."""
    engine = there.engine
    engine.pulumi("cancel", "--yes")
    # Files of other names each time: the state that was interrupted is the only record of what was being made.
    number = len(list(engine.folder.glob("interrupted-*.json")))
    given, mended = engine.folder / f"interrupted-{number}.json", engine.folder / f"mended-{number}.json"
    engine.pulumi("stack", "export", "--file", str(given))
    state = json.loads(given.read_text())["deployment"]
    options: list[str] = []
    for urn, advice in listed(given):
        if not advice.startswith("id not known"):
            assert advice.startswith("id "), advice
            continue
        found = [] if urn.split("::")[2].endswith(MADE_AGAIN_WITHOUT_HARM) else look_for(there, state, urn, advice)
        assert len(found) <= 1, f"{urn}: {found}"
        options += ["--id", urn, found[0].id] if found else ["--absent", urn]
    adopt(given, "--out", mended, *options)
    engine.pulumi("stack", "import", "--file", str(mended))
    mend_releases(there)
    engine.refresh("--clear-pending-creates")


def listed(state: Path) -> Iterator[tuple[str, str]]:
    """What was being made, and what `gpuyard adopt` says of it."""
    lines = adopt(state).splitlines()
    if lines != ["nothing was being made"]:
        for urn, advice in zip(lines[::2], lines[1::2], strict=True):
            yield urn, advice.strip()


def look_for(there: Deployed, state: Any, urn: str, advice: str) -> list[Thing]:
    """What the cloud has of the type that the state lacks, with the tags that are listed, if any are."""
    kind = urn.split("::")[2].rpartition("$")[2]
    known = {resource.get("id") for resource in state.get("resources", [])}
    tags = set(re.findall(r"([\w-]+)=([^,]+)", advice.partition("look for the tags ")[2]))
    things = [thing for thing in there.cloud.left() if thing.kind == kind and thing.id not in known]
    return [
        thing
        for thing in things
        if tags <= set({**thing.inputs.get("tags", {}), **thing.inputs.get("labels", {})}.items())
    ]


def mend_releases(there: Deployed) -> None:
    """Takes away what Helm will not touch any more."""
    for name, status in releases(there).items():
        space, _, release = name.partition("/")
        if status == "pending-install" or status == "uninstalling":
            helm(there, "uninstall", release, "--namespace", space)
        elif status.startswith("pending"):
            helm(there, "rollback", release, "--namespace", space)


def helm(there: Deployed, *arguments: str) -> None:
    subprocess.run(
        [program("helm"), *arguments], env=there.engine.environment, check=True, capture_output=True, timeout=SECONDS
    )


def adopt(*arguments: object) -> str:
    done = subprocess.run(
        [GPUYARD, "adopt", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
