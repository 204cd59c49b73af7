"""Waivers and break-glass: what they let through, what they never do, and what is wrong with them."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import gpuyard, program
from documents import DATE, document, kubernetes, pod_spec, resource, urn, workload
from pack import Pack, grown, registration

from gpuyard.review import judge, waivers
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation import engines, evaluate, limits, waiving
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.rules import load
from gpuyard.review.evaluation.waiver_limits import WaiverLimit
from gpuyard.review.gate import _sentence
from gpuyard.review.program import yamlfile
from gpuyard.review.program.goyaml import parse
from gpuyard.review.recording import Recording

Json = dict[str, Any]

PACKAGED = find_policies(Path("/nonexistent"))

RULE = """# METADATA
# title: A rule of ours
# description: Because.
# custom:
#   id: X{number}
#   severity: high
#   level: {level}
#   on_unknown: {on_unknown}
#   scope: resource
#   waivable: {waivable}
#   reads:
#     - {{type: "a:b/c:D", path: /x}}
#     - {{type: "kubernetes:apps/v1:Deployment", path: /spec/replicas}}
#   patch:
#     - {{op: replace, path: "", value: good}}
#     - {{op: remove, path: /../y}}
#   remediation: Do something.
package gpuyard.rules.ours.{name}

deny contains {{"urn": r.urn, "path": "/x", "message": "x is bad"}} if {{
	some r in input.by_type["a:b/c:D"]
	r.inputs.x == "bad"
}}

deny contains {{"urn": r.urn, "path": sprintf("%v/spec/replicas", [r.path]), "message": "too few"}} if {{
	some r in input.objects["Deployment.apps"]
	r.body.spec.replicas < 2
}}
"""
LIMITS = """strictest: development
stacks: {}
"""
ALLOWED = """
waivers:
  max_days: 60
  patterns: false
  break_glass: {max_hours: 12, never: [ours/kept]}
"""
THING = urn("dev", "a:b/c:D", "thing")
WAIVER = {
    "rule": "ours/rule",
    "resource": THING,
    "reason": "the new one comes in January",
    "ticket": "ML-1",
    "approver": "ben",
    "expires": "2026-12-31",
}
GLASS = {
    "stack": "dev",
    "rules": "all",
    "by": "anna",
    "approver": "ben",
    "ticket": "INC-7",
    "reason": "no capacity in the other region",
    "from": "2026-11-30T08:00:00Z",
    "until": "2026-11-30T20:00:00Z",
}
NOON = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    at(NOON, monkeypatch)


def at(moment: datetime.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiving, "clock", lambda: moment)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rules, and those about waivers."""
    folder = tmp_path_factory.mktemp("rules")
    packaged = PACKAGED.directories[0]
    shutil.copy(packaged / "main.rego", folder)
    shutil.copytree(packaged / "rules/waivers", folder / "rules/waivers")
    kinds = {
        "rule": {},
        "other": {},
        "kept": {},
        "sacred": {"waivable": "false"},
        "advice": {"level": "advisory", "on_unknown": "warn"},
        "later": {"on_unknown": "skip"},
    }
    for number, (name, more) in enumerate(kinds.items()):
        said = {"level": "mandatory", "on_unknown": "deny", "waivable": "true"} | more
        path = folder / f"rules/ours/{name}/{name}.rego"
        path.parent.mkdir(parents=True)
        path.write_text(RULE.format(name=name, number=number, **said))
    return folder


@pytest.fixture
def policies(rules: Path, tmp_path: Path) -> Policies:
    (tmp_path / "limits").mkdir()
    (tmp_path / "limits/environments.yaml").write_text(LIMITS)
    base = yamlfile.load(PACKAGED.limits / "production.yaml")
    common = {key: value for key, value in base.items() if key not in ("stacks", "thresholds", "waivers")}
    said = [f"{key}: {json.dumps(value)}\n" for key, value in common.items()]
    (tmp_path / "limits/development.yaml").write_text("".join(said) + ALLOWED)
    return Policies((rules,), tmp_path / "limits")


def given(policies: Policies, *entries: Json, glass: tuple[Json, ...] = ()) -> Policies:
    """The policies with waivers; an entry of None has a field less."""

    def trimmed(entry: Json) -> Json:
        return {key: value for key, value in entry.items() if value is not None}

    path = policies.limits.parent / "waivers.yaml"
    path.write_text(json.dumps({"waivers": [trimmed(e) for e in entries], "break_glass": [trimmed(e) for e in glass]}))
    return replace(policies, waivers=path)


def allowing(policies: Policies, old: str, new: str) -> Policies:
    path = policies.limits / "development.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return policies


def thing(x: Any = "bad", name: str = "thing", **more: Any) -> Json:
    return resource("a:b/c:D", name, {"x": x}, **more)


def deployment(replicas: Any = 1, **more: Any) -> Json:
    manifest = workload("Deployment", pod_spec(), **{k: more.pop(k) for k in ("namespace",) if k in more})
    manifest["spec"]["replicas"] = replicas
    return kubernetes(manifest, **more)


def found(policies: Policies, *resources: Json, date: str = DATE) -> list[Finding]:
    verdict = evaluate.evaluate(document(list(resources)) | {"date": date}, policies, choice="embedded")
    return verdict.findings


def about(findings: list[Finding], rule: str = "ours/rule") -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


def statuses(findings: list[Finding], rule: str = "ours/rule") -> list[str]:
    return [finding.status for finding in about(findings, rule)]


# --- waivers


def test_a_waived_finding_does_not_deny_and_says_why(policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER), thing()))
    assert (finding.status, finding.denies, finding.level) == ("waived", False, "mandatory")
    assert finding.waiver is not None
    assert finding.waiver.said == "waiver ML-1 by ben until 2026-12-31: the new one comes in January"
    assert finding.waiver.status == "violation"
    assert _sentence(finding).startswith(f"[{finding.waiver.said}] ours/rule: thing/x: x is bad.")


def test_a_waiver_is_about_one_rule_and_one_resource(policies: Policies) -> None:
    findings = found(given(policies, WAIVER), thing(), thing(name="thing2"))
    assert statuses(findings) == ["violation", "waived"]
    assert statuses(findings, "ours/other") == ["violation"] * 2


def test_advice_is_waived_too(policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"rule": "ours/advice"}), thing())
    assert statuses(findings, "ours/advice") == ["waived"]


def test_a_waiver_may_be_about_one_place_of_a_resource(policies: Policies) -> None:
    assert statuses(found(given(policies, WAIVER | {"path": "/x"}), thing())) == ["waived"]
    for path in ("/y", "/x/z", "/xx"):
        assert statuses(found(given(policies, WAIVER | {"path": path}), thing())) == ["violation"]


def test_what_cannot_be_decided_is_waived_and_its_status_stays_visible(policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER), thing(None, unknown=["/x"])))
    assert finding.waiver is not None
    assert (finding.status, finding.waiver.status, finding.patch) == ("waived", "undetermined", ())


def test_a_waiver_of_a_place_does_not_cover_what_is_not_known_elsewhere(policies: Policies) -> None:
    """One finding speaks of every place that is not known."""
    things = {"items": [workload("Deployment", pod_spec(), name=name) for name in ("one", "two")]}
    both = resource("kubernetes:apps/v1:DeploymentList", "all", things | {"apiVersion": "apps/v1", "kind": "List"})
    both["unknown"] = ["/items/0/spec/replicas", "/items/1/spec/replicas"]
    entry = WAIVER | {"resource": "fraud/Deployment/one", "stack": "dev"}
    assert statuses(found(given(policies, entry), both)) == ["undetermined"]
    both["unknown"] = ["/items/0/spec/replicas"]
    assert statuses(found(given(policies, entry), both)) == ["waived"]


@pytest.mark.parametrize("day", ["2026-11-30", "2026-12-01", "2026-12-31"])
def test_a_waiver_holds_from_its_first_day_to_its_last(day: str, policies: Policies) -> None:
    entry = WAIVER | {"granted": "2026-11-30"}
    assert statuses(found(given(policies, entry), thing(), date=day)) == ["waived"]


@pytest.mark.parametrize(
    ("day", "says"),
    [
        ("2026-11-29", "x is bad (the waiver ML-1 of ben is not in force before 2026-11-30)"),
        ("2027-01-01", "x is bad (the waiver ML-1 of ben has expired on 2026-12-31)"),
    ],
)
def test_outside_these_days_the_finding_is_back_and_says_so(day: str, says: str, policies: Policies) -> None:
    [finding] = about(found(given(policies, WAIVER | {"granted": "2026-11-30"}), thing(), date=day))
    assert (finding.status, finding.denies, finding.message) == ("violation", True, says)


@pytest.mark.parametrize(
    ("day", "warned"), [("2026-12-23", 0), ("2026-12-24", 1), ("2026-12-31", 1), ("2027-01-01", 0)]
)
def test_a_waiver_that_is_needed_warns_before_it_expires(day: str, warned: int, policies: Policies) -> None:
    findings = about(found(given(policies, WAIVER), thing(), date=day), "waivers/expires")
    assert len(findings) == warned
    assert all(not finding.denies for finding in findings)


def test_a_waiver_that_waives_nothing_is_a_finding_of_its_own(policies: Policies) -> None:
    others = WAIVER | {"resource": THING.replace("thing", "thong")}
    findings = found(given(policies, WAIVER, others, WAIVER | {"rule": "ours/other"}), thing("good"))
    assert [finding.rule for finding in findings] == ["waivers/unused"] * 3
    assert {finding.path for finding in findings} == {
        f"/waivers/dev/ours~1{rule}/{name.replace('/', '~1')}"
        for rule, name in [("rule", THING), ("other", THING), ("rule", others["resource"])]
    }, "each has its own place, whatever its number in the file"
    assert found(given(policies, WAIVER), thing("good"), date="2027-01-01")[0].message.endswith(
        "it has expired on 2026-12-31"
    )
    assert statuses(found(given(policies, WAIVER), thing(), date="2027-01-01"), "waivers/unused") == []


def test_a_waiver_is_needed_for_what_only_the_deployment_decides(policies: Policies) -> None:
    """The rule says nothing before, and denies then."""
    findings = found(given(policies, WAIVER | {"rule": "ours/later"}), thing(None, unknown=["/x"]))
    assert statuses(findings, "waivers/unused") == []


def test_a_waiver_of_another_stack_is_none_of_this_one(policies: Policies) -> None:
    other = WAIVER | {"resource": THING.replace(":dev::", ":dev-2::")}
    findings = found(given(policies, other), thing())
    assert statuses(findings) == ["violation"]
    assert about(findings, "waivers/unused") == []


def test_a_stack_is_found_by_its_name_whatever_stands_before_it(policies: Policies) -> None:
    book = evaluate.rulebook("acme/shop/dev", given(policies, WAIVER))
    assert len(book.waivers.waivers) == 1


# --- names in Kubernetes


@pytest.mark.parametrize("name", ["fraud/Deployment/model", "fraud/Deployment.apps/model"])
def test_an_object_is_waived_by_its_name(name: str, policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), deployment())
    assert statuses(findings) == ["waived"]
    assert about(findings, "waivers/unused") == []


@pytest.mark.parametrize(
    "name",
    [
        "Deployment/model",
        "fraud/Deployment/Model",
        "fraud/deployment/model",
        "Fraud/Deployment/model",
        "fraud/StatefulSet/model",
        "fraud/Deployment.extensions/model",
        "fraud/Deployment/mode",
        "fraud/Deployment/model2",
        "fraud/Deployment/m\u043edel",
    ],
)
def test_a_name_that_is_nearly_the_objects_waives_nothing(name: str, policies: Policies) -> None:
    findings = found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), deployment())
    assert statuses(findings) == ["violation"]
    assert len(about(findings, "waivers/unused")) == 1


def test_an_object_that_names_no_namespace_is_named_without_one(policies: Policies) -> None:
    bare = deployment()
    del bare["inputs"]["metadata"]["namespace"]
    for name in ("Deployment/model", "default/Deployment/model"):
        assert statuses(found(given(policies, WAIVER | {"resource": name, "stack": "dev"}), bare)) == ["waived"]


@pytest.mark.parametrize("pointer", ["/metadata/namespace", "/metadata/name"])
def test_an_object_whose_name_is_not_known_is_not_waived_by_one(pointer: str, policies: Policies) -> None:
    vague = deployment(unknown=[pointer])
    vague["inputs"]["metadata"][pointer.rpartition("/")[2]] = None
    entries = [
        WAIVER | {"resource": name, "stack": "dev"}
        for name in ("fraud/Deployment/model", "default/Deployment/model", "Deployment/model")
    ]
    assert statuses(found(given(policies, *entries), vague)) == ["violation"]


def test_a_name_that_two_clusters_have_waives_neither(policies: Policies) -> None:
    """A second provider: the same name, somewhere else."""
    entry = WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"}
    findings = found(given(policies, entry), deployment(name="here"), deployment(name="there"))
    assert statuses(findings) == ["violation"] * 2
    assert "that of 2 resources" in about(findings, "waivers/unused")[0].message
    by_urn = WAIVER | {"resource": deployment(name="here")["urn"]}
    assert statuses(found(given(policies, by_urn), deployment(name="here"), deployment(name="there"))) == [
        "violation",
        "waived",
    ]


# --- patterns


def test_patterns_are_taken_only_where_the_limits_allow_them(policies: Policies) -> None:
    entry = WAIVER | {"resource": "fraud/Deployment/mo*", "stack": "dev"}
    with pytest.raises(InputError, match="the limits of its stack allow no patterns"):
        found(given(policies, entry), deployment())
    allowing(policies, "patterns: false", "patterns: true")
    findings = found(given(policies, entry), deployment(), deployment(namespace="other", name="o"), thing())
    assert statuses(findings) == ["violation", "violation", "waived"]
    entry = WAIVER | {"resource": f"{THING[:-2]}*"}
    assert statuses(found(given(policies, entry), thing(), thing(name="thin::other"))) == ["violation", "waived"]


# --- what is wrong

WRONG = {
    "an unknown rule": ({"rule": "ours/rul"}, "waivers/0: there is no rule ours/rul"),
    "every rule": ({"rule": "*"}, "waivers/0/rule"),
    "a group of rules": ({"rule": "ours/*"}, "waivers/0/rule"),
    "a rule that cannot be waived": ({"rule": "ours/sacred"}, "ours/sacred cannot be waived"),
    "a rule about waivers": ({"rule": "waivers/unused"}, "waivers/unused cannot be waived"),
    "a question mark": ({"resource": THING.replace("thing", "thin?")}, "has one of ? [ ]"),
    "a set of characters": ({"resource": "fraud/Deployment/[a-z]", "stack": "dev"}, "has one of ? [ ]"),
    "a star for the stack": ({"resource": THING.replace(":dev:", ":*:")}, "names no resource"),
    "a star for the type": ({"resource": THING.replace("a:b/c:D", "a:b/c:*")}, "names no resource"),
    "a star for the kind": ({"resource": "fraud/*/model", "stack": "dev"}, "names no resource"),
    "a star for the name": ({"resource": THING.replace("thing", "**")}, "is about every name"),
    "a name alone": ({"resource": "thing", "stack": "dev"}, "names no resource"),
    "nothing": ({"resource": ""}, "waivers/0/resource"),
    "a name without its stack": ({"resource": "fraud/Deployment/model"}, "stack: is missing"),
    "a stack beside a URN": ({"stack": "prod"}, "is left out beside a URN"),
    "every stack": ({"resource": "fraud/Deployment/model", "stack": "*"}, "waivers/0/stack"),
    "a path that is none": ({"path": "x"}, "waivers/0/path"),
    "no reason": ({"reason": None}, "waivers/0/reason: Field required"),
    "a reason of spaces": ({"reason": " "}, "waivers/0/reason: this has spaces around it"),
    "a reason that does not print": ({"reason": "a\u200bb"}, "characters that do not print"),
    "no ticket": ({"ticket": ""}, "waivers/0/ticket"),
    "no approver": ({"approver": None}, "waivers/0/approver: Field required"),
    "who asks approves": ({"by": "Ben"}, "nobody approves what they ask for"),
    "no end": ({"expires": None}, "waivers/0/expires: Field required"),
    "no such day": ({"expires": "2026-02-30"}, "waivers/0/expires: this is no day: give one as 2026-11-30"),
    "words": ({"expires": "never"}, "this is no day"),
    "an hour": ({"expires": "2026-12-01T10:00:00Z"}, "this is no day"),
    "a number": ({"expires": 20261231}, "this is no day"),
    "an end before the beginning": ({"granted": "2027-01-01"}, "is before granted"),
    "a long time": ({"expires": "2027-01-30"}, "is 61 days after 2026-11-30, for granted is left out: give 60"),
    "a long time since it was granted": ({"granted": "2026-11-01"} | {"expires": "2027-01-01"}, "61 days after granted"),
    "a key that there is not": ({"expiry": "2026-12-31"}, "waivers/0/expiry"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), WRONG.values(), ids=WRONG)
def test_a_waiver_that_is_wrong_is_the_users_mistake(change: Json, says: str, policies: Policies) -> None:
    with pytest.raises(InputError, match=r"waivers\.yaml: ") as error:
        found(given(policies, WAIVER | change), thing())
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["waivers: {", "[]", "waiver: []", "waivers: {}", "waivers: [7]", "0"])
def test_a_file_that_is_wrong_is_the_users_mistake(text: str, policies: Policies) -> None:
    (path := policies.limits.parent / "waivers.yaml").write_text(text)
    with pytest.raises(InputError, match=r"waivers\.yaml"):
        found(replace(policies, waivers=path), thing())


def test_a_file_that_is_gone_is_no_empty_one(policies: Policies) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        found(replace(policies, waivers=policies.limits / "gone.yaml"), thing())


@pytest.mark.parametrize("text", ["", "waivers:\n", "waivers: []\n", "# nothing\n"])
def test_a_file_without_waivers_waives_nothing(text: str, policies: Policies) -> None:
    (path := policies.limits.parent / "waivers.yaml").write_text(text.replace("waivers:\n", ""))
    assert statuses(found(replace(policies, waivers=path), thing())) == ["violation"]


def test_the_same_waiver_twice_is_the_users_mistake(policies: Policies) -> None:
    with pytest.raises(InputError, match="waivers/1: is there twice"):
        found(given(policies, WAIVER, WAIVER | {"ticket": "ML-2", "expires": "2027-01-05"}), thing())


def test_a_wrong_waiver_of_another_stack_is_told_but_its_limits_are_not_asked(policies: Policies) -> None:
    other = WAIVER | {"resource": THING.replace(":dev:", ":prod:")}
    with pytest.raises(InputError, match="there is no rule"):
        found(given(policies, WAIVER, other | {"rule": "a/b"}), thing())
    assert statuses(found(given(policies, WAIVER, other | {"expires": "2030-01-01"}), thing())) == ["waived"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (ALLOWED, "", "the limits of its stack allow no waivers"),
        ("max_days: 60", "max_days: 0", "the limits of its stack allow no waivers"),
        ("patterns: false", "approvers: [carl]", "'ben' may not approve: the limits name carl"),
        ("max_days: 60", "max_days: -1", "waivers/max_days"),
        ("never: [ours/kept]", "never: [ours/keep]", "waivers/break_glass/never: there is no rule ours/keep"),
    ],
)
def test_the_limits_say_what_may_be_waived(old: str, new: str, says: str, policies: Policies) -> None:
    with pytest.raises(InputError) as error:
        found(given(allowing(policies, old, new), WAIVER), thing())
    assert says in str(error.value)


def test_a_document_of_no_day_is_no_verdict(policies: Policies) -> None:
    with pytest.raises(GateError, match="which is no day"):
        found(given(policies, WAIVER), thing(), date="tomorrow")


# --- break-glass


def test_in_an_incident_what_denies_does_not_and_every_report_says_so(policies: Policies) -> None:
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == statuses(findings, "ours/other") == ["waived"]
    assert statuses(findings, "ours/sacred") == ["violation"], "its METADATA says that it is never waived"
    assert statuses(findings, "ours/kept") == ["violation"], "the limits keep it"
    assert statuses(findings, "ours/advice") == ["violation"], "it denies nothing"
    [loud] = about(findings, "waivers/break_glass")
    assert loud.message.startswith("BREAK GLASS until 2026-11-30T20:00:00Z")
    assert (loud.severity, loud.denies) == ("critical", False)
    waiver = about(findings)[0].waiver
    assert waiver is not None
    assert (waiver.kind, waiver.until, waiver.ticket) == ("break-glass", GLASS["until"], "INC-7")


def test_an_override_of_some_rules_is_of_no_others(policies: Policies) -> None:
    findings = found(given(policies, glass=(GLASS | {"rules": ["ours/other"]},)), thing())
    assert statuses(findings) == ["violation"]
    assert statuses(findings, "ours/other") == ["waived"]


def test_what_cannot_be_decided_does_not_deny_in_an_incident(policies: Policies) -> None:
    [finding] = about(found(given(policies, glass=(GLASS,)), thing(None, unknown=["/x"])))
    assert finding.waiver is not None
    assert (finding.status, finding.waiver.status) == ("waived", "undetermined")


@pytest.mark.parametrize(
    ("hour", "status", "says"),
    [
        ("07:59:59", "violation", None),
        ("08:00:00", "waived", "BREAK GLASS"),
        ("20:00:00", "waived", "BREAK GLASS"),
        ("20:00:01", "violation", "has ended on 2026-11-30T20:00:00Z: it must be removed"),
    ],
)
def test_an_override_holds_for_its_hours(
    hour: str, status: str, says: str | None, policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(datetime.datetime.fromisoformat(f"2026-11-30T{hour}+00:00"), monkeypatch)
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == [status]
    told = about(findings, "waivers/break_glass")
    assert len(told) == (says is not None)
    assert says is None or says in told[0].message


@pytest.mark.parametrize(
    ("day", "status"), [("2026-11-29", "violation"), ("2026-12-01", "violation"), ("2027-12-01", "violation")]
)
def test_a_review_of_another_day_is_judged_as_of_its_end(day: str, status: str, policies: Policies) -> None:
    """No hour of it is known, and two such reviews are equal."""
    assert statuses(found(given(policies, glass=(GLASS,)), thing(), date=day)) == [status]


def test_a_review_of_the_same_day_that_is_made_later_sees_the_override_ended(
    policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(NOON + datetime.timedelta(days=3), monkeypatch)
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == ["violation"]
    assert "it must be removed" in about(findings, "waivers/break_glass")[0].message


WRONG_GLASS = {
    "too long": ({"until": "2026-11-30T20:00:01Z"}, "hours after from: give 12 at most"),
    "a rule that the limits keep": ({"rules": ["ours/kept"]}, "no incident overrides ours/kept"),
    "a rule that cannot be waived": ({"rules": ["ours/sacred"]}, "ours/sacred cannot be waived"),
    "an unknown rule": ({"rules": ["ours/rule", "a/b"]}, "there is no rule a/b"),
    "no rules": ({"rules": []}, "break_glass/0/rules"),
    "a pattern": ({"rules": ["ours/*"]}, "break_glass/0/rules"),
    "every stack": ({"stack": "*"}, "break_glass/0/stack"),
    "who asks approves": ({"approver": "anna"}, "nobody approves what they ask for"),
    "nobody asks": ({"by": None}, "break_glass/0/by"),
    "no ticket": ({"ticket": None}, "break_glass/0/ticket"),
    "no end": ({"until": None}, "break_glass/0/until"),
    "an end before the beginning": ({"until": "2026-11-30T08:00:00Z"}, "is not after from"),
    "a day": ({"until": "2026-12-01"}, "this is no moment in UTC"),
    "another zone": ({"until": "2026-11-30T12:00:00+02:00"}, "this is no moment in UTC"),
    "no such hour": ({"until": "2026-11-30T25:00:00Z"}, "this is no moment in UTC"),
    "a key that there is not": ({"since": "2026-11-30T08:00:00Z"}, "break_glass/0/since"),
}


@pytest.mark.parametrize(("change", "says"), WRONG_GLASS.values(), ids=WRONG_GLASS)
def test_an_override_that_is_wrong_is_the_users_mistake(change: Json, says: str, policies: Policies) -> None:
    with pytest.raises(InputError, match=r"waivers\.yaml: ") as error:
        found(given(policies, glass=(GLASS | change,)), thing())
    assert says in str(error.value)


def test_limits_that_say_nothing_of_incidents_allow_no_override(policies: Policies) -> None:
    allowing(policies, "  break_glass: {max_hours: 12, never: [ours/kept]}", "")
    with pytest.raises(InputError, match="allow no break-glass"):
        found(given(policies, glass=(GLASS,)), thing())


def test_dates_may_stand_without_quotes(policies: Policies) -> None:
    path = policies.limits.parent / "waivers.yaml"
    lines = [f"{key}: {value}" for key, value in GLASS.items()]
    entry = [f'{key}: "{value}"' if key == "resource" else f"{key}: {value}" for key, value in WAIVER.items()]
    path.write_text(f"waivers:\n- {{{', '.join(entry)}}}\nbreak_glass:\n- {{{', '.join(lines)}}}\n")
    read = waivers.read(path, load(policies.directories).rules)
    assert read.waivers[0].expires == datetime.date(2026, 12, 31)
    assert waivers.text(read.break_glass[0].until) == GLASS["until"]


# --- every point


@pytest.mark.parametrize("entries", [(WAIVER,), (WAIVER, WAIVER | {"rule": "ours/other"})], ids=["one", "two"])
def test_the_review_and_the_pack_say_the_same_before_a_resource_is_created(
    entries: tuple[Json, ...], policies: Policies
) -> None:
    own = WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"}
    granted = given(policies, *entries, own, glass=(GLASS | {"rules": ["ours/later"]},))
    resources = [thing(), deployment()]
    recording = Recording("shop", "dev", resources, [], 0.0, {})  # type: ignore[arg-type]
    reviewed = judge.judge(recording, granted, date=DATE)
    judged = grown(resources, policies=granted)
    assert judged.last == reviewed.findings
    assert [f.status for f in judged.early if f.rule == "ours/rule"] == ["waived", "waived"]
    assert [f.status for f in judged.early if f.rule == "ours/later"] == ["waived", "waived"]


def test_a_name_that_turns_out_to_be_of_two_resources_denies_both_in_the_end(policies: Policies) -> None:
    granted = given(policies, WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"})
    judged = grown([deployment(name="here"), deployment(name="there")], policies=granted)
    assert [f.status for f in judged.early if f.rule == "ours/rule"] == ["waived"] * 2
    assert [f.status for f in judged.late if f.rule == "ours/rule"] == ["violation"] * 2


def test_the_engine_is_told_of_a_waived_finding_as_advice(policies: Policies) -> None:
    pack = Pack(policies=given(policies, WAIVER))
    diagnostics = pack.call("Analyze", registration(thing(), [thing()])).diagnostics
    told = {each.policyName: each for each in diagnostics}
    assert told["ours/rule"].enforcementLevel == 0
    assert told["ours/rule"].message.startswith("[waiver ML-1 by ben until 2026-12-31: ")
    assert told["ours/other"].enforcementLevel == 1


def test_both_engines_judge_the_waivers_alike(opa: Path, policies: Policies) -> None:
    soon = WAIVER | {"rule": "ours/other", "expires": "2026-12-02"}
    granted = given(policies, WAIVER | {"path": "/y"}, soon, glass=(GLASS | {"rules": ["ours/rule"]},))
    embedded = found(granted, thing())
    assert {f.rule for f in embedded} > {"waivers/unused", "waivers/expires", "waivers/break_glass"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(opa.parent))
        patch.delenv("OPA_URL", raising=False)
        assert evaluate.evaluate(document([thing()]), granted, choice="opa").findings == embedded


class Half:
    """An engine that gives half an answer."""

    name = "a test"

    def ask(self, asked: str) -> Any:
        return {"findings": []}


def test_an_error_of_the_engine_is_never_waived(policies: Policies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "Embedded", lambda rules: Half())
    with pytest.raises(GateError, match="no whole answer"):
        found(given(policies, WAIVER, glass=(GLASS,)), thing())


# --- a patch


def test_a_violation_has_the_patch_that_cures_it(policies: Policies) -> None:
    [finding] = about(found(policies, thing()))
    assert [(step.op, step.path, step.value) for step in finding.patch] == [
        ("replace", "/x", "good"),
        ("remove", "/y", None),
    ]
    [finding] = about(found(policies, thing(None, unknown=["/x"])))
    assert finding.patch == (), "what is not known may be right"


# --- the documentation and the command


def test_the_documented_file_is_one_that_the_documented_limits_allow(policies: Policies) -> None:
    page = (Path(__file__).parents[2] / "docs/waivers.md").read_text()
    file, allowed = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    path = policies.limits.parent / "waivers.yaml"
    path.write_text(file)
    known = load(PACKAGED.directories)
    limit = WaiverLimit.model_validate(parse(allowed)["waivers"])
    read = waivers.read(path, known.rules).of_stack("prod-aws")
    assert (len(read.waivers), len(read.break_glass)) == (1, 1)
    read.check(limit, NOON.date())
    assert list(limit.unknown(known.rules)) == []


def test_the_packaged_waivers_are_none_and_its_limits_allow_some() -> None:
    rules = load(PACKAGED.directories)
    packaged = waivers.read(PACKAGED.directories[0] / waivers.FILE, rules.rules)
    assert packaged.stacks == []
    for name in limits.environments(PACKAGED.limits):
        found = limits.limits("any", name, PACKAGED.limits, rules.thresholds)["waivers"]
        assert 0 < found["max_days"] <= 90
        assert not found["patterns"]
        assert 0 < found["break_glass"]["max_hours"] <= 24


def test_lint_says_what_is_over_and_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "policies" / waivers.FILE
    file.parent.mkdir()
    entry = f"rule: quota/machines, reason: r, ticket: ML-1, approver: ben, resource: '{THING}'"
    file.write_text(f"waivers: [{{{entry}, expires: 2026-12-31}}]\n")

    def lint(date: str = DATE) -> Any:
        return gpuyard("waivers", "lint", "--program", tmp_path, "--date", date)

    assert (answer := lint()).code == 0
    assert [word in answer.out for word in ("in force", "quota/machines", "ML-1", "2026-12-31")] == [True] * 4
    assert (answer := lint("2027-01-01")).code == 1
    assert "expired" in answer.out
    program(tmp_path, prod="config: {}\n")
    assert (answer := lint()).code == 1
    assert "no such stack" in answer.out
    file.write_text(f"waivers: [{{{entry}, expires: 2027-12-31}}]\n")
    assert (answer := lint()).code == 2
    assert "stack dev" in answer.err
    assert "give 90 at most" in " ".join(answer.err.split())
