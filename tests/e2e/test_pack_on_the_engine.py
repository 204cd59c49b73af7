"""The policy pack beside real providers: what they make of inputs changes no finding, and nothing outlives the engine."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from clouds.cloud import Cloud
from engine.engine import ROOT, Engine
from engine.run import Run

from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.rules import load
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

PACK = ROOT / "policies" / "analyzer"
RULES = load(find_policies(ROOT).directories).rules
DATE = "2026-11-30"
SUM = re.compile(r"\((/(?:cost|capacity)/[^)]+)\)")

PROGRAM = """
import pulumi
import pulumi_aws as aws
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

# Names of nearly everything are left to the providers, and so are many inputs.
role = aws.iam.Role("nodes", assume_role_policy="{}")
cluster = aws.eks.Cluster("ml", role_arn=role.arn, vpc_config={"subnet_ids": ["subnet-0a1b2c3d4e5f60718", "subnet-0a1b2c3d4e5f60719"]})
template = aws.ec2.LaunchTemplate("gpu", metadata_options={"http_tokens": "required"}, instance_type="p5.48xlarge")
aws.eks.NodeGroup("gpu", cluster_name=cluster.name, node_role_arn=role.arn, subnet_ids=["subnet-0a1b2c3d4e5f60718"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 0, "desired_size": 0, "max_size": 3})
repository = aws.ecr.Repository("models", tags={"owner": "ml", "cost-center": "1"})

ml = gcp.container.Cluster("ml", location="us-central1-a", initial_node_count=1, remove_default_node_pool=True,
    resource_labels={"owner": "ml", "cost-center": "1"})
gcp.container.NodePool("l4", cluster=ml.name, location=ml.location, node_config={"machine_type": "g2-standard-8"},
    autoscaling={"min_node_count": 0, "max_node_count": 20})

named = k8s.core.v1.Namespace("kube-tools")
k8s.networking.v1.NetworkPolicy("deny", metadata={"namespace": named.metadata.name},
    spec={"pod_selector": {}, "policy_types": ["Ingress"]})
secret = pulumi.Output.secret("a word that nobody may see")
pod = {"containers": [
    {"name": "server", "image": "evil.example/vllm:latest", "security_context": {"privileged": True},
     "env": [{"name": "PLAIN", "value": "plain"}]},
    {"name": "sidecar", "image": pulumi.Output.concat(repository.repository_url, ":latest")}]}
k8s.core.v1.Pod("typed", metadata={"namespace": named.metadata.name}, spec=pod)
hidden = {"containers": [{"name": "must", "image": "registry.k8s.io/pause:3.10", "env": [{"name": "WORD", "value": secret}]}]}
k8s.core.v1.Pod("hidden", spec=hidden)
pulumi.CustomResource("kubernetes:batch/v1:CronJob", "untyped", {
    "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "untyped", "namespace": "elsewhere"},
    "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": {
        "hostNetwork": True, "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]}}}}}},
    pulumi.ResourceOptions(version="4.34.2"))
k8s.core.v1.Secret("token", string_data={"token": secret})
k8s.core.v1.ConfigMap("settings", data={"HF_TOKEN": "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhi"})
k8s.helm.v3.Release("chart", chart="./chart", values={
    "securityContext": {"privileged": True}, "image": {"repository": "evil.example/app", "tag": "latest"},
    "nested": {"list": [{"a": None, "b": 1}]}, "words": {"hidden": secret}})
"""
CHART = "apiVersion: v2\nname: chart\nversion: 1.0.0\n"


@pytest.fixture
def shop(tmp_path: Path) -> Callable[[str], Engine]:
    """A project with a program, a chart and clouds."""

    def make(source: str, **more: str) -> Engine:
        folder = tmp_path / "program"
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
        (folder / "Pulumi.dev.yaml").write_text("config: {aws:region: us-east-1, gcp:project: example-inference}\n")
        (folder / "__main__.py").write_text(source)
        (folder / "chart" / "templates").mkdir(parents=True)
        (folder / "chart" / "Chart.yaml").write_text(CHART)
        return Engine(tmp_path / "engine", cloud=Cloud(tmp_path / "cloud"), program=folder, more=more)

    return make


Told = tuple[str, str, str, str]


def told(run: Run) -> set[Told]:
    """What the pack said; of a sum that went on growing what it said last."""
    kept = {}
    for event in run.policies():
        rule, message = event["policyName"], event["message"].strip()
        place = SUM.findall(message) if RULES[rule].scope == "sum" else message
        kept[rule, str(place)] = rule, event["severity"], event["enforcementLevel"], message
    return set(kept.values())


def reviewed(folder: Path) -> set[Told]:
    """What a review of the program says, in the pack's words."""
    found = judge(record_program(find_project(folder), "dev"), find_policies(folder), date=DATE).findings
    said = set()
    for finding in found:
        where = f" ({finding.path})" if finding.path and finding.path not in finding.message else ""
        said.add((finding.rule, finding.severity, finding.level, f"{finding.message}{where}. {finding.remediation}"))
    return said


BROKEN = {
    "cloud/api_exposure",
    "cloud/instance_metadata",
    "cost/budget",
    "cost/tags",
    "isolation/default_deny",
    "isolation/privileged",
    "quota/machines",
    "quota/max_accelerators",
    "supply_chain/plain_tokens",
    "supply_chain/registries",
}
"""Rules that the program above breaks for a reason; an example breaks each of the others."""


def test_real_providers_change_no_finding(shop: Callable[[str], Engine], tmp_path: Path) -> None:
    engine = shop(PROGRAM)
    run = engine.preview(pack=PACK, expect_failure=True)
    here, there = told(run), reviewed(tmp_path / "program")
    # A list is secret as a whole once the provider has seen it, and for the review one value in it is.
    secret = [one for one in sorted(here ^ there) if one[0] == "supply_chain/plain_tokens"]
    assert [one[3].partition(". ")[0] for one in secret] == [
        "environment variable WORD holds a value that the program marks secret in plain text (/spec/containers/0/env/0/value)",
        "pod holds a value that the program marks secret in plain text (/spec/containers)",
    ]
    assert here ^ there == set(secret)
    assert {rule for rule, *_ in here} >= BROKEN
    assert "a word that nobody may see" not in run.output + json.dumps(run.events)


POD = """
import pulumi_kubernetes as k8s
k8s.core.v1.Pod("p", metadata={"name": "p"}, spec={"hostNetwork": True, "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]})
"""


def with_config(folder: Path, content: object) -> tuple[str, str]:
    """The option that gives levels to the pack's rules."""
    file = folder / "levels.json"
    file.write_text(json.dumps(content))
    return "--policy-pack-config", str(file)


def test_levels_come_from_a_file_and_what_they_loosen_is_shown(shop: Callable[..., Engine], tmp_path: Path) -> None:
    engine = shop(POD)
    (denied,) = engine.preview(pack=PACK, expect_failure=True).policies()
    assert denied["policyName"] == "isolation/privileged"

    loosened, warned = engine.preview(
        *with_config(tmp_path, {"isolation/privileged": "advisory"}), pack=PACK
    ).policies()
    assert loosened["resourceUrn"].endswith("pulumi:pulumi:Stack::shop-dev")
    assert loosened["message"].startswith("this rule only warns here: --policy-pack-config says so")
    assert (warned["message"], warned["enforcementLevel"]) == (denied["message"], "advisory")

    off = engine.preview(*with_config(tmp_path, {"all": "disabled"}), pack=PACK).policies()
    assert {event["message"].partition(":")[0] for event in off} == {"this rule is off here"}
    assert {event["policyName"] for event in off} == set(RULES)

    wrong = engine.preview(
        *with_config(tmp_path, {"isolation/priviledged": "disabled"}), pack=PACK, expect_failure=True
    )
    assert (
        "--policy-pack-config names 'isolation/priviledged', and there is no such rule: give all, or one of"
        in wrong.output
    )
    assert wrong.operations() == {}


def test_limits_that_are_wrong_are_one_error(shop: Callable[..., Engine]) -> None:
    engine = shop(POD)
    limits = engine.project / "policies" / "limits"
    limits.mkdir(parents=True)
    (limits / "environments.yaml").write_text("strictest: production\nstacks: {dev: Development}\n")
    # The engine starts the pack where the program is; the test's own project says that it lies elsewhere.
    program = engine.folder.parent / "program" / "policies"
    program.symlink_to(limits.parent)
    run = engine.preview(pack=PACK, expect_failure=True)
    (error,) = (line for line in run.output.splitlines() if "gpuyard" in line and "error" in line)
    assert "environments.yaml: stacks/dev" in error


LATE = """
import pulumi, pulumi_aws as aws, pulumi_kubernetes as k8s
repository = aws.ecr.Repository("models", tags={"owner": "ml", "cost-center": "1"})
image = pulumi.Output.concat(repository.repository_url, ":latest")
k8s.core.v1.Pod("p", metadata={"name": "p"}, spec={"containers": [{"name": "c", "image": image}]})
"""


def test_what_the_preview_could_not_know_is_judged_before_it_is_created(shop: Callable[..., Engine]) -> None:
    engine = shop(LATE)
    (warned,) = engine.preview(pack=PACK).policies()
    assert (warned["enforcementLevel"], warned["policyName"]) == ("advisory", "supply_chain/registries")
    run = engine.up(pack=PACK, expect_failure=True)
    (denied,) = run.policies()
    assert (denied["enforcementLevel"], denied["policyName"]) == ("mandatory", "supply_chain/registries")
    assert "has the tag latest, which moves" in denied["message"]
    assert [r["type"] for r in engine.export()["resources"] if "kubernetes:core" in r["type"]] == []


GATED = """
import pulumi, pulumi_aws as aws
from gpuyard.review.gate import gated
def build():
    aws.ecr.Repository("models", tags={"owner": "ml", "cost-center": "1"} if pulumi.Config().get("tagged") else None)
gated(build)
"""


def test_what_is_refused_can_still_be_refreshed_and_destroyed(shop: Callable[..., Engine], tmp_path: Path) -> None:
    engine = shop(GATED)
    engine.pulumi("config", "set", "tagged", "yes")
    engine.up()
    engine.pulumi("config", "rm", "tagged")
    assert "nothing is deployed" in engine.up(expect_failure=True).output
    engine.refresh("--run-program")
    assert [thing.inputs.get("tags") for thing in Cloud(tmp_path / "cloud").resources()] == [
        {"owner": "ml", "cost-center": "1"}
    ]
    engine.destroy("--run-program")
    assert Cloud(tmp_path / "cloud").resources() == []
    assert "nothing is deployed" in engine.up("--refresh", "--run-program", expect_failure=True).output


WAITS = """
import time, pulumi_kubernetes as k8s
k8s.core.v1.ConfigMap("a", metadata={"name": "a"}, data={"a": "b"})
k8s.core.v1.ConfigMap("b", metadata={"name": "b"}, data={"a": "b"}).metadata.apply(lambda _: time.sleep(60))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_pack_does_not_outlive_an_engine_that_is_stopped(shop: Callable[..., Engine], how: signal.Signals) -> None:
    running = shop(WAITS).start("preview", pack=PACK)
    deadline = time.monotonic() + 60
    while not any("resourcePreEvent" in event for event in running.events()):
        assert not running.ended
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(running.id, how)
    # It fails where a process stays.
    run = running.wait()
    assert run.code != 0
    assert "gpuyard/review/analyzer" not in run.output, "no traceback"
