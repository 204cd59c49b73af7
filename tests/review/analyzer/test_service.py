"""What the engine is told, in its own protocol; and that nothing which goes wrong is told as nothing."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from documents import kubernetes, pod_spec, resource, workload
from pack import EVERYBODYS, Json, Pack, RefusedError, engines_own, grown, registration
from pulumi.runtime.proto import analyzer_pb2 as pb
from raw_programs import TAGS, raw_aws, tenant
from refused_programs import BROKEN, HUGGING_FACE

from gpuyard.review.analyzer import messages
from gpuyard.review.evaluation.evaluate import rulebook

RULES = rulebook("dev", EVERYBODYS).rules.rules
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
URN = "urn:pulumi:dev::shop::kubernetes:core/v1:Pod::model"


def pod(**spec: Any) -> Any:
    return registration(kubernetes(workload("Pod", pod_spec() | spec)))


def named(diagnostics: list[Any]) -> list[tuple[str, int]]:
    return [(diagnostic.policyName, diagnostic.enforcementLevel) for diagnostic in diagnostics]


# --- what is told


def test_the_engine_is_told_every_rule() -> None:
    info = Pack().call("GetAnalyzerInfo")
    assert (info.name, info.version, info.supportsConfig) == ("gpuyard", messages.VERSION, True)
    assert [policy.name for policy in info.policies] == list(RULES)
    machines = next(policy for policy in info.policies if policy.name == "quota/machines")
    assert machines.displayName == RULES["quota/machines"].title
    assert machines.enforcementLevel == pb.MANDATORY
    assert machines.severity == pb.POLICY_SEVERITY_HIGH
    assert machines.remediation_steps == RULES["quota/machines"].remediation
    assert "Q6" in machines.tags
    kinds = {policy.name: policy.policy_type for policy in info.policies}
    assert kinds["isolation/default_deny"] == pb.POLICY_TYPE_STACK
    assert kinds["quota/machines"] == kinds["cost/budget"] == pb.POLICY_TYPE_RESOURCE
    assert Pack().call("GetPluginInfo").version == messages.VERSION


def test_a_finding_says_what_is_wrong_where_and_what_to_do() -> None:
    [diagnostic] = Pack().analyze(pod(hostNetwork=True))
    rule = RULES["isolation/privileged"]
    assert diagnostic == pb.AnalyzeDiagnostic(
        policyName="isolation/privileged",
        policyPackName="gpuyard",
        policyPackVersion=messages.VERSION,
        description=rule.title,
        message="the pod shares a namespace of the host (hostNetwork), outside the namespaces of operators "
        f"(/spec/hostNetwork). {rule.remediation}",
        enforcementLevel=pb.MANDATORY,
        urn=URN,
        severity=pb.POLICY_SEVERITY_CRITICAL,
    )


def test_a_finding_of_every_rule_says_what_the_review_says() -> None:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for name, make in BROKEN.items():
        resources = make()["resources"]
        findings = {messages.diagnostic(f, RULES[f.rule], 0).message for f in grown(resources, date=today).last}
        assert findings <= {diagnostic.message for diagnostic in Pack().judge(resources)}, name


def test_a_finding_of_the_whole_stack_waits_for_all_and_is_told_once() -> None:
    namespace, _, *rest = tenant()
    pack = Pack()
    assert [found for one in (namespace, *rest) for found in pack.analyze(registration(one))] == []
    [finding] = pack.analyze_stack([namespace, *rest])
    assert (finding.policyName, finding.urn) == ("isolation/default_deny", namespace["urn"])
    assert pack.analyze_stack([namespace, *rest]) == []


def test_the_outputs_that_the_engine_shows_at_last_are_not_judged() -> None:
    """AnalyzeStack has outputs: they would hide what a program left out, and show what it never said."""
    resources = raw_aws()["resources"]
    assert Pack().judge(resources) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (kubernetes(workload("Pod", pod_spec() | {"hostPID": None}), unknown=["/spec/hostPID"]), [pb.MANDATORY]),
        (
            kubernetes(workload("Pod", pod_spec(None)), unknown=["/spec/containers/0/image"]),
            [pb.ADVISORY],
        ),
        (
            kubernetes(
                workload("Pod", pod_spec(env=[{"name": "A", "value": None}])),
                unknown=["/spec/containers/0/env/0/value"],
            ),
            [],
        ),
    ],
    ids=["deny", "warn", "skip"],
)
def test_a_rule_says_what_follows_from_a_value_that_is_not_known(given: Json, expected: list[int]) -> None:
    found = Pack().analyze(registration(given))
    assert [diagnostic.enforcementLevel for diagnostic in found] == expected
    assert all("cannot be decided before the deployment" in diagnostic.message for diagnostic in found)


def test_a_value_that_the_preview_did_not_know_is_judged_at_the_update() -> None:
    given = kubernetes(workload("Pod", pod_spec(None)), unknown=["/spec/containers/0/image"])
    [warned] = Pack().analyze(registration(given))
    assert warned.enforcementLevel == pb.ADVISORY
    known = kubernetes(workload("Pod", pod_spec("evil.example/vllm:1")))
    [denied] = Pack(dry_run=False).analyze(registration(known))
    assert (denied.policyName, denied.enforcementLevel) == ("supply_chain/registries", pb.MANDATORY)


def test_rules_that_do_not_look_at_a_resource_are_not_said_to_pass() -> None:
    answer = Pack().call("Analyze", pod())
    apart = {one.policy_name for one in answer.not_applicable}
    looking = {rule.id for rule in RULES.values() if any(read.type == "pod" for read in rule.reads)}
    assert {"isolation/privileged", "supply_chain/plain_tokens", "supply_chain/registries"} <= set(RULES) - apart
    assert set(RULES) - apart <= looking | {"supply_chain/plain_tokens"}
    [stack, default] = [Pack().call("Analyze", message) for message in engines_own("shop", "dev")]
    assert {one.policy_name for one in stack.not_applicable} == set(RULES)
    assert {one.policy_name for one in default.not_applicable} == set(RULES)


def test_what_configuration_says_of_default_providers_counts() -> None:
    lustre = registration(resource(LUSTRE, "scratch", {}))
    assert [d.policyName for d in Pack().analyze(lustre)] == ["cost/tags"]
    tags = '{"tags": {"owner": "ml", "cost-center": "1"}}'
    assert Pack(config={"aws:defaultTags": tags, "shop:x": "y"}).analyze(lustre) == []


def test_the_limits_are_those_of_the_stacks_environment() -> None:
    def told(stack: str) -> list[str]:
        group = resource(
            "gpuyard:index:NodeInventory", "a", {"machine": "g5.xlarge", "count": 0}, custom=False, stack=stack
        )
        return [diagnostic.policyName for diagnostic in Pack(stack).analyze(registration(group))]

    assert told("dev") == []
    assert told("anything") == ["quota/machines"]


# --- secrets


def test_no_message_shows_a_secret() -> None:
    server = pod_spec("evil.example/vllm:s3cr3t-word", env=[{"name": "T", "value": HUGGING_FACE}])
    message = registration(kubernetes(workload("Pod", server)))
    pack = Pack(config={"shop:word": "s3cr3t-word", "shop:plain": "fraud"}, secret_keys=["shop:word"])
    said = pack.analyze(message)
    assert sorted(d.policyName for d in said) == ["supply_chain/plain_tokens", "supply_chain/registries"]
    text = str(said) + str(pack.analyze_stack([])) + str(pack.call("GetAnalyzerInfo"))
    assert HUGGING_FACE not in text
    assert "s3cr3t-word" not in text
    assert "image evil.example/vllm:(secret)" in text


def test_a_secret_that_comes_later_is_no_reason_to_say_all_again() -> None:
    denied = kubernetes(workload("Pod", pod_spec("evil.example/vllm:word")))
    later = kubernetes({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "word"}})
    pack = Pack()
    assert "vllm:word" in pack.analyze(registration(denied))[0].message
    assert pack.analyze(registration(later)) == []
    assert pack.analyze_stack([denied, later]) == []


def test_a_secret_that_makes_a_whole_list_secret_is_told_and_not_shown() -> None:
    given = kubernetes(workload("Pod", pod_spec(env=[{"name": "PIN", "value": "four-seven"}])))
    given["secret"] = ["/spec/containers"]
    [finding] = Pack().analyze(registration(given))
    assert finding.policyName == "supply_chain/plain_tokens"
    assert "pod holds a value that the program marks secret in plain text (/spec/containers)" in finding.message
    assert "four-seven" not in str(finding)


# --- levels


@pytest.mark.parametrize(
    ("level", "expected"),
    [(pb.ADVISORY, [pb.ADVISORY]), (pb.MANDATORY, [pb.MANDATORY]), (pb.DISABLED, []), (pb.REMEDIATE, [pb.MANDATORY])],
)
def test_a_rules_level_can_be_set(level: int, expected: list[int]) -> None:
    pack = Pack()
    pack.configure(**{"isolation/privileged": level})
    assert [diagnostic.enforcementLevel for diagnostic in pack.analyze(pod(hostNetwork=True))] == expected


def test_a_level_that_is_not_set_is_the_rules_own() -> None:
    pack = Pack()
    pack.configure()
    [diagnostic] = pack.analyze(registration(resource(LUSTRE, "a", {"tags": None}, unknown=["/tags"])))
    assert diagnostic.enforcementLevel == pb.ADVISORY, "the rule is mandatory, and only warns of what is not known"


def test_all_rules_can_be_set_at_once() -> None:
    pack = Pack()
    pack.configure(all=pb.ADVISORY, **dict.fromkeys(RULES, pb.ADVISORY))
    levels = {diagnostic.enforcementLevel for diagnostic in pack.judge(BROKEN["pods"]()["resources"])}
    assert levels == {pb.ADVISORY}


def test_a_rule_that_there_is_not_cannot_be_set() -> None:
    with pytest.raises(
        RefusedError, match=r"names 'quota/machine', and there is no such rule: give all, or one of accelerators/"
    ):
        Pack().configure(**{"quota/machine": pb.DISABLED})


def test_what_is_loosened_is_shown_on_the_stack() -> None:
    pack = Pack()
    pack.configure(**{"quota/machines": pb.DISABLED, "cost/budget": pb.ADVISORY})
    [stack, _] = engines_own("shop", "dev")
    said = pack.analyze(stack)
    assert named(said) == [("cost/budget", pb.ADVISORY), ("quota/machines", pb.ADVISORY)]
    assert [d.message.partition(":")[0] for d in said] == ["this rule only warns here", "this rule is off here"]
    strict = Pack()
    strict.configure()
    assert strict.analyze(stack) == []


# --- what is judged


def test_a_name_hides_nothing() -> None:
    given = kubernetes(workload("Pod", pod_spec() | {"hostNetwork": True}), name="pulumi:providers:x::default")
    assert named(Pack().analyze(registration(given))) == [("isolation/privileged", pb.MANDATORY)]


def test_values_of_a_chart_that_are_called_defaults_are_judged() -> None:
    values = {"hostNetwork": True, "__defaults": ["hostNetwork"]}
    chart = {"chart": "x", "namespace": "fraud", "version": "1.2.3", "values": values}
    given = resource("kubernetes:helm.sh/v3:Release", "x", chart)
    assert named(Pack().analyze(registration(given))) == [("isolation/privileged", pb.MANDATORY)]


@pytest.mark.parametrize("type_", ["aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster", LUSTRE])
def test_a_cloud_resource_that_is_not_targeted_and_not_there_yet_is_not_judged(type_: str) -> None:
    given = resource(type_, "a", {})
    untargeted = registration(given)
    untargeted.properties.Clear()
    pack = Pack()
    assert pack.analyze(untargeted) == pack.analyze_stack([given]) == []
    assert Pack().analyze(registration(given)) != []


# --- what the engine may ask


def test_inputs_that_are_nested_as_deep_as_the_protocol_allows_are_judged() -> None:
    message = pod(hostNetwork=True)
    holder = message.properties
    for _ in range(90):  # protobuf itself reads a hundred levels
        holder.update({"a": {}})
        holder = holder.fields["a"].struct_value
    assert named(Pack().analyze(message)) == [("isolation/privileged", pb.MANDATORY)]


def test_the_engine_must_say_which_stack_it_deploys() -> None:
    pack = Pack("", "")
    assert pack.call("GetAnalyzerInfo").policies, "a pack that is only looked at has no stack"
    with pytest.raises(RefusedError, match="does not say which stack"):
        pack.analyze_stack([])


def test_a_state_that_is_judged_without_a_deployment_says_its_stack_by_its_urns() -> None:
    resources = BROKEN["clouds"]()["resources"]
    assert Pack("", "").judge(resources) == Pack().judge(resources) != []


def test_the_engine_may_want_no_more_answers() -> None:
    pack = Pack()
    pack.call("Cancel")
    assert pack.cancelled


def test_a_resource_that_is_registered_again_takes_its_own_place() -> None:
    pack = Pack()
    assert len(pack.analyze(pod(hostNetwork=True))) == 1
    assert pack.analyze(pod()) == []
    assert pack.analyze_stack([kubernetes(workload("Pod", pod_spec()))]) == []


def test_everything_well_configured_is_left_alone() -> None:
    group = resource(
        "aws:eks/nodeGroup:NodeGroup",
        "a",
        {"instanceTypes": ["m7i.large"], "launchTemplate": {"id": "lt-1"}, "tags": TAGS, "region": "us-east-1",
         "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 1}},
    )  # fmt: skip
    assert Pack().judge([group, *tenant()]) == []
