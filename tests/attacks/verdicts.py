"""Judges a few resources as a review of a production stack does, with what they cost and how far they may grow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from documents import DATE, PROJECT, kubernetes, resource

from gpuyard.review import recording
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.recording import Recording, Resource

Json = dict[str, Any]

POLICIES = find_policies(Path("/nonexistent"))
STACK = "prod"


def made(type_: str, name: str, inputs: Json, **more: Any) -> Json:
    """A resource of the stack."""
    return resource(type_, name, inputs, stack=STACK, **more)


def declared(manifest: Json, **more: Any) -> Json:
    """An object of Kubernetes of the stack."""
    return kubernetes(manifest, stack=STACK, **more)


def custom(api: str, kind: str, spec: Json, name: str = "model", **metadata: Any) -> Json:
    """An object that has a spec, of a tenant's namespace."""
    about = {"name": name, "namespace": "fraud"} | metadata
    return declared({"apiVersion": api, "kind": kind, "metadata": about, "spec": spec}, name=f"{kind}-{name}")


def review(*resources: Any, policies: Policies = POLICIES, stack: str = STACK) -> Review:
    """The review of a program that registers these."""
    ordered = sorted(resources, key=lambda one: one["urn"])
    return judge(Recording(PROJECT, stack, ordered, [], 0.0), policies, date=DATE)


def denied(*resources: Any, **more: Any) -> set[str]:
    """The rules that deny the deployment of these."""
    return {finding.rule for finding in review(*resources, **more).findings if finding.denies}


def recorded(build: Callable[[], object], folder: Path, stack: str = STACK) -> list[Resource]:
    """What a program registers, recorded in a thread of its own as the gate does it."""
    made: list[Any] = []

    def work() -> None:
        try:
            made.append(recording.record(build, project=PROJECT, stack=stack, config={}, directory=folder))
        except BaseException as error:
            made.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    (answer,) = made
    assert isinstance(answer, Recording), answer
    return answer.resources
