"""What METADATA says: the same to us as to OPA, about types and inputs that there are, in terms that a user understands."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from gpuyard.review.evaluation.rules import Read, Rule, load, metadata

POLICIES = Path(__file__).parent.parent.parent / "policies"
RULES = load([POLICIES]).rules
READS = sorted({(read.type, read.path) for rule in RULES.values() for read in [*rule.reads, *rule.refers]})
OURS = {
    "gpuyard:index:EksNodeGroup": {"capacity", "partition"},
    "gpuyard:index:Endpoint": {"replicas"},
    "gpuyard:index:GkeNodeGroup": {"capacity", "partition"},
    "gpuyard:index:NodeInventory": {"count", "machine", "partition", "usd_hour"},
    "gpuyard:index:Tenant": {"accelerators", "groups", "viewers"},
}
"""Inputs of our own components: the fields of their specs."""


def sdk_class(type_: str) -> type | None:
    """The class of a cloud's SDK: `aws:eks/nodeGroup:NodeGroup` is pulumi_aws.eks.NodeGroup."""
    package, module, name = type_.split(":")
    if (package, module) == ("pulumi", "providers"):
        provider: type = importlib.import_module(f"pulumi_{name}").Provider
        return provider
    if package not in ("aws", "gcp"):
        return None
    found: type = getattr(importlib.import_module(f"pulumi_{package}.{module.split('/')[0]}"), name)
    return found


def inputs(class_: type) -> set[str]:
    """The inputs of a resource class, as the engine names them."""
    members = importlib.import_module(class_.__module__).__dict__
    # The SDK gives way where a nested input has the name already.
    arguments = members.get(f"{class_.__name__}InitArgs") or members[f"{class_.__name__}Args"]
    text = Path(str(importlib.import_module(class_.__module__).__file__)).read_text()
    body = text.partition(f"class {arguments.__name__}:")[2].partition("\n@pulumi.input_type")[0]
    named = re.findall(r'@pulumi\.getter\(name="(\w+)"\)', body)
    return {*named, *re.findall(r"@pulumi\.getter\n    def (\w+)", body)}


def test_opa_reads_the_same_metadata(opa: Path) -> None:
    answer = subprocess.run(
        [str(opa), "inspect", "--annotations", "--format", "json", str(POLICIES / "rules")],
        capture_output=True,
        text=True,
        check=True,
    )
    said = {
        "/".join(str(step["value"]) for step in entry["path"][3:]): entry["annotations"]
        for entry in json.loads(answer.stdout)["annotations"]
    }
    for rule_id, rule in RULES.items():
        group, name = rule_id.split("/")
        ours = metadata((POLICIES / "rules" / group / name / f"{name}.rego").read_text())
        theirs = said[rule_id]
        assert theirs["scope"] == "package"
        assert (theirs["title"], theirs["description"]) == (rule.title, rule.description)
        assert theirs["custom"] == ours["custom"]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_says_why_and_what_to_do(rule: Rule) -> None:
    assert len(rule.description) > 80, "say why it matters"
    assert rule.description.endswith(".")
    assert rule.remediation.endswith(".")
    assert not rule.title.endswith(".")


def test_the_rules_of_the_catalogue_are_there() -> None:
    known = {
        "Q4",
        "Q6",
        "Q11",
        "Q11-B",
        "Q13",
        "I1",
        "I2",
        "I3",
        "I5",
        "I6",
        "I7",
        "I9",
        "I10",
        "I11",
        "I4",
        "C1",
        "C2",
        "S2",
        "S9",
        "Q10",
        "Q15",
        "Q16",
        "X1",
        "X2",
        "W1",
        "W2",
        "W3",
        "I8",
        *(f"Q{n}" for n in ("1", "2", "3", "5", "7", "8", "9", "10-B", "12", "14")),
        *(f"C{n}" for n in range(3, 10)),
        "S12",
        *(f"S{n}" for n in (1, 3, 4, 5, 6, 7, 8, 10, 11, 13, 14)),
    }
    found = [rule.catalogue for rule in RULES.values()]
    assert known - {*found} == set()
    assert len({*found}) == len(found), "a short id tells which rule is meant"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of whole SDK modules, while they are imported
@pytest.mark.parametrize(("type_", "path"), READS, ids=lambda value: str(value))
def test_a_rule_reads_types_and_inputs_that_there_are(type_: str, path: str) -> None:
    first = path.split("/")[1]
    if type_.startswith("kubernetes:") or type_ == "pod" or "*" in type_:
        return
    known: Any = OURS.get(type_)
    class_ = sdk_class(type_)
    if class_ is not None:
        text = Path(str(importlib.import_module(class_.__module__).__file__)).read_text()
        assert f"'{type_.removeprefix('pulumi:providers:')}'" in text, "another class has this type"
        known = inputs(class_)
    assert first in known


def test_types_in_rules_are_types_that_they_declare_to_read() -> None:
    """A rule that looks at a type and does not say so would pass what is unknown."""
    for rule_id, rule in RULES.items():
        group, name = rule_id.split("/")
        text = (POLICIES / "rules" / group / name / f"{name}.rego").read_text().partition("\npackage ")[2]
        for type_ in re.findall(r'"((?:aws|gcp|gpuyard):[^"]+:[^"]+)"', text):
            patterns = [*(read.type for read in [*rule.reads, *rule.refers]), *(refers.to for refers in rule.refers)]
            assert any(type_ == p or (p.endswith("*") and type_.startswith(p[:-1])) for p in patterns), (rule_id, type_)


@pytest.mark.parametrize("rule_id", RULES)
def test_a_rule_says_what_a_finding_needs(rule_id: str) -> None:
    """The policy pack asks it as early as that allows: see tests/review/analyzer for whether it is true."""
    group, name = rule_id.split("/")
    text = (POLICIES / "rules" / group / name / f"{name}.rego").read_text()
    assert metadata(text)["custom"]["scope"] == RULES[rule_id].scope, "nothing is left to a default"
    reads_sums = "input.cost" in text or "input.capacity" in text
    assert not reads_sums or RULES[rule_id].scope != "resource", "a sum is over more than one resource"


PARTS = {
    "pods": ["pod"],
    "releases": ["kubernetes:helm.sh/v3:Release"],
    "software": ["pod", "kubernetes:helm.sh/v3:Release"],
    "servers": ["pod"],
    "openings": ["aws:ec2/securityGroup:SecurityGroup", "gcp:compute/firewall:Firewall"],
    "entrances": ["kubernetes:core/v1:Service", "kubernetes:helm.sh/v3:Release"],
    "permissions": ["aws:iam/rolePolicy:RolePolicy", "gcp:projects/iAMMember:IAMMember"],
    "places": ["pulumi:providers:aws", "aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket"],
    "plain_secrets": ["pod", "kubernetes:core/v1:ConfigMap", "kubernetes:helm.sh/v3:Release"],
}
"""Parts of the input, and a type that each comes from."""


@pytest.mark.parametrize("rule_id", [rule.id for rule in RULES.values() if rule.scope != "stack"])
def test_a_rule_that_is_asked_early_names_every_kind_that_it_looks_at(rule_id: str) -> None:
    """The policy pack asks a rule about a resource only if the rule says that it reads its type."""
    group, name = rule_id.split("/")
    text = (POLICIES / "rules" / group / name / f"{name}.rego").read_text().partition("\npackage ")[2]
    patterns = [read.type for read in RULES[rule_id].reads]
    looked_at = [type_ for part in re.findall(r"input\.(\w+)", text) for type_ in PARTS.get(part, [])]
    for kind in re.findall(r'input\.objects(?:\.(\w+)|\["([^"]+)"\])', text):
        name, _, api = "".join(kind).partition(".")
        looked_at.append(f"kubernetes:{api or 'core'}/v1:{name}")
    assert "input.objects[kind]" not in text, "a kind is written out, so that it can be looked for"
    for type_ in looked_at:
        assert any(fnmatchcase(type_, pattern) for pattern in patterns), type_


def test_a_read_is_a_pair_of_type_and_path() -> None:
    read = Read(type="pod", path="/containers/*/image")
    assert read.steps == ("containers", "*", "image")
