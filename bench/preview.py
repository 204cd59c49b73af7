"""Reviews a program of 1,000 Kubernetes objects, and previews it on the real engine, without a pack and with ours.

    python bench/preview.py [RESOURCES]

All figures come from one run, side by side: compare the ratios, a machine's speed varies. The engine is the real one,
with the real Kubernetes provider and no cluster, and runs the program as the tests do.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
import time
from pathlib import Path

from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from engine.engine import Engine  # noqa: E402

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("scale:index:Group", name, {{}})


def config_map(name, opts):
    k8s.core.v1.ConfigMap(name, metadata={{"name": name, "namespace": "team"}}, data={{"a": "b"}}, opts=opts)


def deployment(name, opts):
    container = {{
        "name": "server", "image": "docker.io/vllm/vllm-openai:v0.32.0", "ports": [{{"containerPort": 8000}}],
        "securityContext": {{
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
            "capabilities": {{"drop": ["ALL"]}}, "seccompProfile": {{"type": "RuntimeDefault"}},
        }},
        "resources": {{"limits": {{"nvidia.com/gpu": 1, "memory": "64Gi"}}, "requests": {{"cpu": "4"}}}},
    }}
    k8s.apps.v1.Deployment(
        name,
        metadata={{"name": name, "namespace": "team", "labels": {{"app": name}}}},
        spec={{"replicas": 2, "selector": {{"matchLabels": {{"app": name}}}}, "template": {{
            "metadata": {{"labels": {{"app": name}}}},
            "spec": {{"automountServiceAccountToken": False, "containers": [container]}}}}}},
        opts=opts)


opts = None
for number in range({resources}):
    if number % 50 == 0:
        opts = pulumi.ResourceOptions(parent=Group(f"p{{number}}"))
    else:
        (config_map, deployment)[number % 2](f"o{{number}}", opts)
"""


def main() -> None:
    resources = int(sys.argv[1]) if sys.argv[1:] else 1_000
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        program.mkdir()
        (program / "Pulumi.yaml").write_text("name: scale\nruntime: python\n")
        (program / "Pulumi.dev.yaml").write_text("config: {}\n")
        (program / "__main__.py").write_text(textwrap.dedent(PROGRAM.format(resources=resources)))
        engine = Engine(Path(folder) / "engine", program=program)
        # Programs are loaded into memory once, for all that follow.
        engine.preview()
        plain = timed("preview, no pack", lambda: engine.preview())
        packed = timed("preview, our pack", lambda: engine.preview(pack=ROOT / "policies" / "analyzer"))
        again = timed("preview, no pack", lambda: engine.preview())
        reviewed = timed("review", lambda: review(program))
    alone = (plain + again) / 2
    print(f"{resources:,} resources: a review takes 1/{alone / reviewed:.1f} of a preview")
    print(f"{resources:,} resources: a preview with our pack takes {packed / alone:.2f}x of one without")


def review(program: Path) -> None:
    judge(record_program(find_project(program), "dev"), find_policies(program), date="2026-11-30")


def timed(what: str, work) -> float:  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(f"{what:<18} {seconds:6.2f} s", flush=True)
    return seconds


main()
