"""The Rego texts themselves: their tests on both engines, their shape, and the forms on which engines differ."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import regorus

POLICIES = Path(__file__).parent.parent.parent / "policies"
MODULES = sorted(POLICIES.rglob("*.rego"))
RULES = [path for path in MODULES if "rules" in path.parts and not path.name.endswith("_test.rego")]
TESTS = [path for path in MODULES if path.name.endswith("_test.rego")]
PRODUCT = [path for path in MODULES if path not in TESTS]

FORBIDDEN = {
    r":?=\s*walk\(": "regorus gives nothing for it, silently: write walk(x, [path, value])",
    r"\bnet\.cidr_(intersects|merge|contains_matches|expand)\b": "regorus lacks it, or it may fill the memory",
    r"\bnet\.lookup_ip_addr\b": "a rule asks no network",
    r"\bhttp\.send\b": "a rule asks no network",
    r"\b(crypto|io\.jwt|rego\.metadata|opa\.runtime)\b": "regorus lacks it",
    r"\brego\.parse_module\b": "regorus lacks it",
    r"\bregex\.(template_match|globs_match)\b": "regorus gives false, or lacks it",
    r"\bstrings\.render_template\b": "regorus lacks it",
    r"\barray\.flatten\b": "regorus lacks it",
    r"\btime\.now_ns\b": "a review must repeat: compare with input.date",
    r"\b(rand\.intn|uuid\.rfc4122)\b": "a review must repeat",
    r'\$"': "regorus lacks template strings",
    r"\bimport\s+(future|rego)\b": "Rego v1 needs no imports of keywords",
    r'sprintf\("[^"]*%[^v%"]': "only %v prints the same on both engines, whatever the value's type is",
    r"(?m)^deny contains \{.*\w\(": "regorus ends with an error where the call is undefined: name it in the body",
    r"\bcontains [a-z_.]+\[": "where that is missing, regorus loses the set's other members: name it in the body",
    r"\btrace\(|\bprint\(": "left over from debugging",
}
"""What the engines do differently, or what would make a review depend on more than its input."""

NOT_A_CALL_ON_VARIABLES = r"[a-z_]+(\.[a-z_]+)?\([a-z_]+(, ([a-z_]+|\"[^\"]*\"))*\)"
NOT_IN = r"[a-z_]+ in [a-z_]+"


def code(text: str) -> str:
    """The text without comments, and without what raw strings say."""
    lines = [re.sub(r"(^|\s)#.*$", "", line) for line in text.splitlines()]
    return re.sub(r"`[^`]*`", "``", "\n".join(lines))


def test_rego_tests_pass_in_opa(opa: Path) -> None:
    answer = subprocess.run(
        [str(opa), "test", "--ignore", "*.yaml", str(POLICIES)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"PASS: {sum(len(names(path)) for path in TESTS)}/" in answer.stdout


def names(path: Path) -> list[str]:
    return re.findall(r"^(test_\w+)", path.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def engine() -> regorus.Engine:
    engine = regorus.Engine()
    for module in MODULES:
        engine.add_policy(str(module.relative_to(POLICIES)), module.read_text())
    return engine


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_rego_tests_pass_in_the_embedded_engine(path: Path, engine: regorus.Engine) -> None:
    package = re.search(r"^package (\S+)$", path.read_text(), re.MULTILINE)
    assert package
    failed = [name for name in names(path) if engine.eval_rule(f"data.{package[1]}.{name}") is not True]
    assert failed == []


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_every_rule_has_a_test_that_allows_and_one_that_denies(path: Path) -> None:
    text = path.with_name(f"{path.stem}_test.rego").read_text()
    assert re.search(r"^test_\w*(allowed|not_judged)\w* if", text, re.MULTILINE)
    assert re.search(r"^test_\w*(denied|judged|finding)\w* if", text, re.MULTILINE)


def test_opa_takes_the_rules_in_its_strict_mode(opa: Path) -> None:
    answer = subprocess.run(
        [str(opa), "check", "--strict", "--ignore", "*.yaml", str(POLICIES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr


def test_rego_is_formatted(opa: Path) -> None:
    answer = subprocess.run([str(opa), "fmt", "--list", str(POLICIES)], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, ""), f"run `opa fmt --write policies`: {answer.stdout}"


@pytest.mark.parametrize("path", PRODUCT, ids=lambda path: path.stem)
def test_rules_use_no_form_on_which_engines_differ(path: Path) -> None:
    text = code(path.read_text())
    found = [f"{match[0]!r}: {why}" for form, why in FORBIDDEN.items() for match in re.finditer(form, text)]
    assert found == []


@pytest.mark.parametrize("path", PRODUCT, ids=lambda path: path.stem)
def test_not_stands_only_where_engines_agree(path: Path) -> None:
    """Where a reference is missing, OPA does not fire for `not f(a.b)`, and regorus does; of variables both are sure."""
    text = re.sub(r'"[^"\n]*"', '""', code(path.read_text()))
    forms = re.findall(r"\bnot (.+?)(?:\]$|$)", text, re.MULTILINE)
    wrong = [form for form in forms if not re.fullmatch(f"{NOT_A_CALL_ON_VARIABLES}|{NOT_IN}", form)]
    assert wrong == []


@pytest.mark.parametrize(
    ("form", "allowed"),
    [
        ("not allowed(image)", True),
        ("not match.one_of(patterns, name)", True),
        ('not startswith(name, "kube-")', True),
        ("not name in names", True),
        ('not contains(input.image, "@")', False),
        ("not allowed(pod.spec)", False),
        ("not a.b > 3", False),
        ("not pod.name in names", False),
    ],
)
def test_the_lint_knows_the_forms_of_not(form: str, allowed: bool) -> None:
    assert bool(re.fullmatch(f"not ({NOT_A_CALL_ON_VARIABLES}|{NOT_IN})", form)) is allowed


@pytest.mark.parametrize(
    "text",
    [
        "[path, value] := walk(input)",
        'sprintf("%d nodes", [n])',
        'sprintf("pod %q", [n])',
        "net.cidr_intersects(a, b)",
        "now := time.now_ns()",
        "m := rego.metadata.rule()",
        'roles contains group.references["/role"] if {',
        'deny contains {"urn": x.urn, "path": place(x)} if {',
    ],
)
def test_the_lint_knows_the_forbidden_forms(text: str) -> None:
    assert any(re.search(form, code(text)) for form in FORBIDDEN)
