"""Reviews generated programs of 1,000 and 10,000 resources: what a resource costs, and whether that stays the same.

    python bench/review_scale.py [--plain-large]

All figures come from one run, side by side: compare the ratios, a machine's speed varies. "reviewed" is everything:
recording, cost, capacity and rules. "with levers" is its recording alone, "plain" the same with the SDK as it is. Each
measurement runs in a process of its own; `peak` is the larger of the process that runs the program and the one that
reads its answer.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program

SMALL, LARGE = 1_000, 10_000

PROGRAM = """
import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

RESOURCES = {resources}
CONTAINER = {{
    "name": "vllm", "image": "vllm/vllm-openai@sha256:" + "0" * 64, "args": ["--model", "m", "--port", "8000"],
    "env": [{{"name": "A", "value": "b"}},
            {{"name": "T", "valueFrom": {{"secretKeyRef": {{"name": "s", "key": "k"}}}}}}],
    "ports": [{{"containerPort": 8000, "name": "http"}}],
    "readinessProbe": {{"httpGet": {{"path": "/health", "port": 8000}}, "periodSeconds": 5}},
    "resources": {{"limits": {{"nvidia.com/gpu": 1, "memory": "64Gi"}}, "requests": {{"cpu": "4", "memory": "64Gi"}}}},
}}


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("scale:index:Group", name, {{}})


def config_map(number, opts):
    k8s.core.v1.ConfigMap(
        f"c{{number}}", metadata={{"name": f"c{{number}}", "namespace": "team"}},
        data={{"a": "b", "number": str(number)}}, opts=opts)


def deployment(number, opts):
    name = f"d{{number}}"
    k8s.apps.v1.Deployment(
        name,
        metadata={{"name": name, "namespace": "team", "labels": {{"app": name, "team": f"t{{number % 20}}"}}}},
        spec={{"replicas": 2, "selector": {{"matchLabels": {{"app": name}}}}, "template": {{
            "metadata": {{"labels": {{"app": name}}}},
            "spec": {{"automountServiceAccountToken": False, "containers": [CONTAINER],
                     "tolerations": [{{"key": "nvidia.com/gpu", "operator": "Exists"}}]}}}}}},
        opts=opts)


def node_group(number, opts):
    aws.eks.NodeGroup(
        f"g{{number}}", cluster_name="c", node_role_arn="arn:aws:iam::111122223333:role/x", subnet_ids=["subnet-1"],
        instance_types=["p5.48xlarge"], ami_type="AL2023_x86_64_NVIDIA", capacity_type="ON_DEMAND",
        scaling_config={{"min_size": 0, "desired_size": 2, "max_size": 4}},
        taints=[{{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}}],
        labels={{"group": f"g{{number}}"}}, tags={{"owner": "ml", "cost-center": "4711"}}, opts=opts)


makers, opts = [config_map, deployment, deployment, node_group], None
for number in range(RESOURCES):
    if number % 50 == 0:
        opts = pulumi.ResourceOptions(parent=Group(f"p{{number}}"))
    else:
        makers[number % 4](number, opts)
"""


def measure(resources: int, levers: tuple[str, ...] | None, *, judged: bool) -> dict[str, float]:
    """Seconds and megabytes of one recording or review, start of the process and imports included."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "Pulumi.yaml").write_text("name: scale\nruntime: python\n")
        (root / "Pulumi.dev.yaml").write_text("config: {}\n")
        (root / "__main__.py").write_text(textwrap.dedent(PROGRAM.format(resources=resources)))
        start = time.perf_counter()
        recording = record_program(find_project(root), "dev", timeout_s=1200, levers=levers)
        if judged:
            judge(recording, find_policies(root), date="2026-11-30")
        seconds = time.perf_counter() - start
    if len(recording.resources) != resources:
        raise SystemExit(f"{len(recording.resources)} of {resources} resources were recorded")
    program, reader = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": seconds,
        "cpu": program.ru_utime + program.ru_stime + (reader.ru_utime + reader.ru_stime if judged else 0),
        "program_mb": program.ru_maxrss / 1024,
        "reader_mb": reader.ru_maxrss / 1024,
    }


def apart(resources: int, levers: str) -> dict[str, float]:
    """The same in a process of its own, whose peaks are its own."""
    command = [sys.executable, __file__, "--one", str(resources), levers]
    answer: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    answer["peak"] = max(answer["program_mb"], answer["reader_mb"])
    wall, cpu = (answer[kind] * 1000 / resources for kind in ("seconds", "cpu"))
    print(
        f"{resources:>6,} resources, {levers:<11} {answer['seconds']:7.2f} s, {wall:6.2f} ms a resource "
        f"({cpu:.2f} of CPU)   peak {answer['peak']:5.0f} MB, {answer['peak'] * 1024 / resources:4.0f} KB a resource",
        flush=True,
    )
    return answer


def compare(what: str, one: dict[str, float], other: dict[str, float]) -> None:
    print(
        f"{what}: {one['seconds'] / other['seconds']:.2f}x the time, {one['cpu'] / other['cpu']:.2f}x the CPU, "
        f"{one['peak'] / other['peak']:.2f}x the memory"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("RESOURCES", "LEVERS"), help=argparse.SUPPRESS)
    parser.add_argument("--plain-large", action="store_true", help="also record 10,000 resources without levers")
    options = parser.parse_args()
    if options.one:
        known = {"reviewed": None, "with levers": None, "plain": ()}
        levers = known.get(options.one[1], tuple(options.one[1].split(",")))
        print(json.dumps(measure(int(options.one[0]), levers, judged=options.one[1] == "reviewed")))
        return
    few, many = apart(SMALL, "reviewed"), apart(LARGE, "reviewed")
    compare(f"{LARGE:,} resources reviewed against ten times {SMALL:,}", many, {k: v * 10 for k, v in few.items()})
    empty = apart(1, "with levers")
    small, large = apart(SMALL, "with levers"), apart(LARGE, "with levers")
    plain = apart(SMALL, "plain")
    for kind in ("seconds", "cpu"):
        each = [(run[kind] - empty[kind]) * 1000 / count for run, count in ((small, SMALL), (large, LARGE))]
        print(f"without the start, in {kind}: {each[0]:.2f} and {each[1]:.2f} ms a resource, {each[1] / each[0]:.2f}x")
    compare(
        f"{LARGE:,} resources with levers against ten times {SMALL:,}", large, {k: v * 10 for k, v in small.items()}
    )
    compare(f"plain against levers, {SMALL:,}", plain, small)
    if options.plain_large:
        compare(f"plain against levers, {LARGE:,}", apart(LARGE, "plain"), large)


main()
