"""A verdict is whole, or there is none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from own_rule import FIRES, PACKAGED, Json, judged, own, thing
from raw_programs import raw_aws
from refused_programs import BROKEN, GITHUB, HUGGING_FACE

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation import engines, evaluate, findings, rules
from gpuyard.review.evaluation.engines import started_opa
from gpuyard.review.evaluation.evaluate import environment_of, find_policies
from gpuyard.review.evaluation.findings import Finding


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "policies/rules/ours/rule").mkdir(parents=True)
    return tmp_path


# --- whose rules and limits


def test_without_policies_of_its_own_a_program_gets_the_packaged_ones(tmp_path: Path) -> None:
    policies = find_policies(tmp_path)
    assert [directory.name for directory in policies.directories] == ["policies"]
    assert environment_of("dev", policies) == "development"


def test_a_program_adds_rules_and_replaces_limits(program: Path) -> None:
    policies = own(program)
    assert policies.limits == PACKAGED.limits
    shutil.copytree(PACKAGED.limits, program / "policies/limits")
    (program / "policies/limits/environments.yaml").write_text("strictest: staging\nstacks: {}\n")
    policies = find_policies(program)
    assert environment_of("dev", policies) == "staging"
    verdict = judged(thing({}) | {"environment": "staging"}, policies)
    assert [finding.rule for finding in verdict.findings] == ["ours/rule"]


def test_the_checkout_itself_is_not_loaded_twice() -> None:
    root = Path(__file__).parents[3]
    assert find_policies(root).directories == PACKAGED.directories


def test_the_environment_is_not_what_the_document_says() -> None:
    with pytest.raises(GateError, match="'development'"):
        judged(document([], stack="prod-aws", environment="development"), PACKAGED)


def test_wrong_limits_are_the_users_mistake(program: Path) -> None:
    shutil.copytree(PACKAGED.limits, program / "policies/limits")
    with (program / "policies/limits/development.yaml").open("a") as file:
        file.write("tagz: []\n")
    with pytest.raises(InputError, match="tagz"):
        judged(document([]), find_policies(program))


def test_a_rule_reads_its_thresholds_whether_limits_set_them_or_not(program: Path) -> None:
    body = FIRES.replace("if some r in", "if {\n\tsome r in")
    body += '\n\tr.inputs.x > input.limits.thresholds["ours/rule"].most\n}'
    policies = own(program, body)
    file = program / "policies/rules/ours/rule/rule.rego"
    said = "#   thresholds:\n#     most: {type: integer, default: 3, description: How many.}\n#   remediation"
    file.write_text(file.read_text().replace("#   remediation", said))
    assert [len(judged(thing({"x": x}), policies).findings) for x in (3, 4)] == [0, 1]
    (program / "policies/limits").mkdir()
    shutil.copy(PACKAGED.limits / "environments.yaml", program / "policies/limits")
    development = program / "policies/limits/development.yaml"
    text = 'extends: gpuyard:development\nthresholds: {"ours/rule": {most: 4}}\n'
    development.write_text(text)
    assert [len(judged(thing({"x": x}), find_policies(program)).findings) for x in (4, 5)] == [0, 1]
    development.write_text(text.replace("ours/rule", "ours/rules"))
    with pytest.raises(InputError, match=r"development\.yaml: thresholds/ours/rules: there is no such rule"):
        judged(thing({}), find_policies(program))


# --- a verdict


@pytest.mark.parametrize("name", BROKEN)
def test_both_engines_give_the_same_verdict(name: str, opa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(opa.parent))
    monkeypatch.delenv("OPA_URL", raising=False)
    embedded = judged(BROKEN[name](), PACKAGED)
    asked = evaluate.evaluate(BROKEN[name](), PACKAGED)
    assert embedded.findings == asked.findings != []
    assert "embedded" in embedded.engine
    assert asked.engine.startswith("opa ")


def test_a_verdict_repeats_and_is_in_order() -> None:
    one, two = (judged(BROKEN["pods"](), PACKAGED) for _ in range(2))
    assert one == two
    assert one.findings == sorted(one.findings, key=findings.order)
    severities = [finding.severity for finding in one.findings if finding.denies]
    assert severities == sorted(severities, key=findings.SEVERITIES.index)


def test_the_order_of_resources_does_not_matter() -> None:
    given = BROKEN["clouds"]()
    turned = given | {"resources": given["resources"][::-1]}
    assert judged(given, PACKAGED).findings == judged(turned, PACKAGED).findings


def test_a_finding_has_what_metadata_says(program: Path) -> None:
    [finding] = judged(thing({}), own(program)).findings
    assert finding == Finding(
        rule="ours/rule",
        severity="low",
        level="mandatory",
        status="violation",
        urn="urn:pulumi:dev::shop::a:b/c:D::thing",
        path="/x",
        message="found",
        remediation="Do something.",
    )
    assert finding.denies


def test_a_rule_of_level_advisory_warns(program: Path) -> None:
    [finding] = judged(thing({}), own(program, level="advisory", on_unknown="warn")).findings
    assert (finding.level, finding.denies) == ("advisory", False)


def test_a_place_is_found_once(program: Path) -> None:
    twice = FIRES + "\n\n" + FIRES.replace("found", "again")
    assert [f.message for f in judged(thing({}), own(program, twice)).findings] == ["again"]


# --- unknown

LISTS = 'deny contains {"urn": r.urn, "path": sprintf("/list/%v/y", [i]), "message": "bad"} if {'
LISTS += '\n\tsome r in input.by_type["a:b/c:D"]\n\tsome i, item in r.inputs.list\n\titem.y == "bad"\n}'
X_IS_BAD = FIRES.replace("if some r in", "if {\n\tsome r in") + '\n\tr.inputs.x == "bad"\n}'


@pytest.mark.parametrize(
    ("inputs", "unknown", "expected"),
    [
        ({"x": "good"}, [], []),
        ({"x": "bad"}, [], [("violation", "/x")]),
        ({"x": None}, ["/x"], [("undetermined", "/x")]),
        ({"x": {"deep": None}}, ["/x/deep"], [("undetermined", "/x/deep")]),
        ({"other": None}, ["/other"], []),
        ({}, [""], [("undetermined", "")]),
    ],
)
def test_a_rule_that_reads_what_is_not_known_is_undetermined(
    inputs: Json, unknown: list[str], expected: list[tuple[str, str]], program: Path
) -> None:
    found = judged(thing(inputs, unknown), own(program, X_IS_BAD)).findings
    assert [(finding.status, finding.path) for finding in found] == expected


@pytest.mark.parametrize(
    ("items", "unknown", "expected"),
    [
        ([{"y": "bad"}, {"y": "good"}], [], [("violation", "/list/0/y")]),
        (
            [{"y": "bad"}, {"y": None}],
            ["/list/1/y"],
            [("undetermined", "/list/1/y"), ("violation", "/list/0/y")],
        ),
        ([{"y": "bad", "z": None}], ["/list/0/z"], [("violation", "/list/0/y")]),
        (None, ["/list"], [("undetermined", "/list")]),
    ],
)
def test_what_is_certain_beside_what_is_not_known_is_told_apart(
    items: Any, unknown: list[str], expected: list[tuple[str, str]], program: Path
) -> None:
    found = judged(thing({"list": items}, unknown), own(program, LISTS)).findings
    assert sorted((finding.status, finding.path) for finding in found) == expected


@pytest.mark.parametrize(
    ("on_unknown", "levels", "undecided"),
    [("deny", ["mandatory"], 0), ("warn", ["advisory"], 0), ("skip", [], 1)],
)
@pytest.mark.parametrize("body", [FIRES, X_IS_BAD], ids=["fired", "not fired"])
def test_the_rule_says_what_follows_from_not_knowing(
    body: str, on_unknown: str, levels: list[str], undecided: int, program: Path
) -> None:
    verdict = judged(thing({"x": None}, ["/x"]), own(program, body, on_unknown=on_unknown))
    assert [finding.level for finding in verdict.findings] == levels
    for finding in [*verdict.findings, *verdict.undecided]:
        assert finding.status == "undetermined"
        assert finding.message == "cannot be decided before the deployment, not known yet: /x"
    assert len(verdict.undecided) == undecided


def test_a_finding_may_say_that_it_rests_on_nothing_unknown(program: Path) -> None:
    certain = FIRES.replace('"message"', '"rests_on": [], "message"')
    [finding] = judged(thing({"x": None}, ["/x"]), own(program, certain)).findings
    assert finding.status == "violation"


def test_a_finding_may_rest_on_a_value_far_away(program: Path) -> None:
    far = FIRES.replace('"message"', '"rests_on": ["/far/away"], "message"')
    [finding] = judged(thing({"far": {"away": None}}, ["/far/away"]), own(program, far)).findings
    assert finding.status == "undetermined"


def test_a_value_that_a_rule_needs_only_where_it_fires_is_no_reason_to_be_undecided_by_itself(program: Path) -> None:
    given = thing({"guarded": None, "x": "good"}, ["/guarded"])
    assert judged(given, own(program, X_IS_BAD)).findings == []
    guarded = FIRES.replace('"message"', '"rests_on": ["/guarded"], "message"')
    [finding] = judged(given, own(program, guarded)).findings
    assert finding.status == "undetermined"


def test_many_unknown_places_are_one_finding(program: Path) -> None:
    items = [{"y": None} for _ in range(5)]
    unknown = [f"/list/{i}/y" for i in range(5)]
    [finding] = judged(thing({"list": items}, unknown), own(program, LISTS)).findings
    assert finding.message.endswith("/list/0/y, /list/1/y, /list/2/y and 2 more")


# --- secrets


def test_no_message_holds_a_secret_or_a_token(program: Path) -> None:
    tells = FIRES.replace('"message": "found"', '"message": sprintf("%v", [r.inputs])')
    given = thing({"pw": "s3cr3t-value", "t": HUGGING_FACE, "n": {"pin": 4711}}, secret=["/pw", "/n"])
    [finding] = judged(given, own(program, tells)).findings
    assert "s3cr3t-value" not in finding.message
    assert HUGGING_FACE not in finding.message
    assert "4711" not in finding.message
    assert "(secret)" in finding.message


def test_the_verdict_on_a_program_full_of_tokens_names_none() -> None:
    for make in BROKEN.values():
        said = str(judged(make(), PACKAGED))
        assert HUGGING_FACE not in said
        assert GITHUB not in said
        assert "0123456789abcdefABCDEF" not in said


def test_an_engines_error_does_not_quote_a_secret(program: Path) -> None:
    quotes = FIRES.replace('"found"', "message").replace("if some r in", "if {\n\tsome r in")
    quotes += "\n\tmessage := to_number(r.inputs.pw)\n}"
    with pytest.raises(GateError) as error:
        judged(thing({"pw": "s3cr3t-value"}, secret=["/pw"]), own(program, quotes))
    assert "s3cr3t-value" not in str(error.value)


# --- OPA, and findings that are one


def test_a_verdict_through_a_shared_opa(opa: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process, server = engines._start(str(opa), str(tmp_path))
    try:
        monkeypatch.setenv("OPA_URL", f"http://127.0.0.1:{server._client.port}")
        monkeypatch.setenv("OPA_TOKEN", server._client.headers["Authorization"].removeprefix("Bearer "))
        verdict = evaluate.evaluate(raw_aws(), PACKAGED)
    finally:
        server.close()
        engines._end(process)
    assert verdict.findings == []
    assert verdict.engine.startswith("opa 1.")


def test_started_opa_is_what_a_path_gives(opa: Path) -> None:
    loaded = rules.load(PACKAGED.directories)
    with started_opa(loaded, str(opa)) as server:
        assert server.ask(json.dumps({"by_type": {}}))["loaded"] == list(loaded.rules)


def test_two_findings_are_the_same_by_the_objects_name_and_never_by_their_message() -> None:
    one = kubernetes(workload("Deployment", pod_spec()), name="one")
    moved = one | {"urn": one["urn"].replace("::one", "::other")}
    first = Finding("a/b", "low", "mandatory", "violation", one["urn"], "/x", "m", "r")
    second = Finding("a/b", "low", "mandatory", "violation", moved["urn"], "/x", "another message", "r")
    assert findings.identity(first, one) == findings.identity(second, moved)
    assert findings.identity(first, one) != findings.identity(first, resource("a:b/c:D", "one", {}))
    assert findings.identity(first, None)[2] == one["urn"]
