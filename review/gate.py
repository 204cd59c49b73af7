"""The gate: a program judges itself before it declares anything.

A gate in the program stops mistakes. Whoever may edit the program, or holds the credentials, is stopped elsewhere:
by continuous integration that takes rules and limits from the base branch, and by admission in the cluster.
"""

from __future__ import annotations

import datetime
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pulumi
from pulumi.runtime import settings
from pulumi.runtime.proto.resource_pb2_grpc import ResourceMonitorStub

from gpuyard.review import recording as recordings
from gpuyard.review.command import creates_nothing
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review, judge
from gpuyard.review.recording import Recording

REFUSAL = "nothing is deployed"
"""How the last error of a program ends that the gate has failed."""

INTERRUPTED = 128 + signal.SIGINT
"""Exit code of a program that was interrupted, as a shell has it."""

SECONDS = 120
"""A program that is not built after so long is refused: the gate never waits for ever."""


def gated(build: Callable[[], object]) -> None:
    """Runs `build`, unless a rule denies what it would declare.

    An update is refused before anything is declared. A preview declares everything, so that the whole plan and each
    finding show, and fails at its end. `destroy` and `refresh` are never refused: they run no program, and where
    `--run-program` makes them run it, they create nothing of it.
    """
    _leave_quietly()
    if recordings.under_recorder() or creates_nothing():
        build()
        return
    review = _review(build)
    for finding in review.findings:
        (pulumi.log.error if finding.denies else pulumi.log.warn)(_sentence(finding))
    if not review.refused:
        build()
        return
    denied = sum(finding.denies for finding in review.findings)
    refusal = pulumi.RunError(f"gpuyard: {denied} finding{'s' if denied > 1 else ''} of {review.engine}: {REFUSAL}")
    if pulumi.runtime.is_dry_run():
        build()
    raise refusal


def _leave_quietly() -> None:
    """Lets the engine end this program without a traceback.

    It interrupts a program that it has no more use for, such as one of whose resources failed. Its user has read why,
    and a traceback would bury that. Programs that are part of another process keep that process' own handling.
    """
    own_process = threading.current_thread() is threading.main_thread()
    if own_process and isinstance(settings.get_monitor(), ResourceMonitorStub):
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))


def _review(build: Callable[[], object]) -> Review:
    try:
        directory = Path(pulumi.runtime.get_root_directory())
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        return judge(_record(build, directory), find_policies(directory), date=date)
    except pulumi.RunError:
        raise
    except BaseException as error:
        # Whatever went wrong, an undecided gate is shut; a traceback would hide the reason.
        raise pulumi.RunError(f"gpuyard: the gate could not decide, so nothing is deployed: {error}") from error


def _record(build: Callable[[], object], directory: Path) -> Recording:
    """Records the program in a thread of its own, where it has its own event loop and sees no engine."""
    config, secret_keys = recordings.blinded_config()
    answer: list[Recording | BaseException] = []
    # A new thread knows nothing of them: the SDK keeps them in context variables.
    upstream, project, stack = settings.get_monitor(), pulumi.get_project(), pulumi.get_stack()

    def work() -> None:
        try:
            answer.append(
                recordings.record(
                    build,
                    project=project,
                    stack=stack,
                    config=config,
                    secret_keys=secret_keys,
                    directory=directory,
                    upstream=upstream,
                )
            )
        except BaseException as error:
            answer.append(error)

    thread = threading.Thread(target=work, name="gpuyard-gate", daemon=True)
    thread.start()
    thread.join(SECONDS)
    if not answer:
        raise pulumi.RunError(f"gpuyard: the gate could not decide: the program is not built after {SECONDS} s")
    if isinstance(answer[0], BaseException):
        raise answer[0]
    return answer[0]


def _sentence(finding: Finding) -> str:
    waived = f"[{finding.waiver.said}] " if finding.waiver else ""
    where = f"{finding.urn.rpartition('::')[2]}{finding.path}"
    return f"{waived}{finding.rule}: {where}: {finding.message}. {finding.remediation}"
