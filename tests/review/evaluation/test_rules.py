"""Rules are read whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.rules import load, metadata

MAIN = "package gpuyard.main\n"
RULE = """# METADATA
# title: No pets
# description: Because of what happened last time.
# custom:
#   id: X1
#   severity: low
#   level: mandatory
#   on_unknown: deny
#   waivable: true
#   reads: []
#   remediation: Use cattle.
package gpuyard.rules.pets.none

deny contains {"urn": input.urn, "path": "", "message": "a pet"} if false
"""


def policies(folder: Path, rule: str = RULE, path: str = "rules/pets/none/none.rego", main: str = MAIN) -> Path:
    (folder / "main.rego").write_text(main)
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text(rule)
    return folder


def test_a_rules_id_is_its_path(tmp_path: Path) -> None:
    loaded = load([policies(tmp_path)])
    assert list(loaded.rules) == ["pets/none"]
    assert loaded.rules["pets/none"].catalogue == "X1"
    assert list(loaded.modules) == ["rules/pets/none.rego", "main.rego"]


def test_a_module_follows_what_it_imports(tmp_path: Path) -> None:
    folder = policies(tmp_path)
    (folder / "lib").mkdir()
    (folder / "lib" / "names.rego").write_text("package gpuyard.lib.names\n")
    assert list(load([folder]).modules) == ["lib/names.rego", "rules/pets/none.rego", "main.rego"]


def test_tests_are_no_rules(tmp_path: Path) -> None:
    folder = policies(tmp_path)
    (folder / "rules/pets/none/none_test.rego").write_text("package gpuyard.rules.pets.none_test\n")
    assert list(load([folder]).modules) == ["rules/pets/none.rego", "main.rego"]


def test_a_change_of_any_text_is_another_revision(tmp_path: Path) -> None:
    folder = policies(tmp_path)
    before = load([folder]).revision
    assert load([folder]).revision == before
    (folder / "main.rego").write_text(MAIN + "\n# changed\n")
    assert load([folder]).revision != before


def test_rules_of_ones_own_are_added(tmp_path: Path) -> None:
    packaged, own = tmp_path / "packaged", tmp_path / "own"
    packaged.mkdir()
    own.mkdir()
    policies(packaged)
    policies(own, RULE.replace("rules.pets.none", "rules.pets.old"), "rules/pets/old/old.rego", "package evil\n")
    loaded = load([packaged, own])
    assert list(loaded.rules) == ["pets/none", "pets/old"]
    assert loaded.modules["main.rego"] == MAIN, "the entry point is the packaged one"


def test_a_rule_cannot_take_the_place_of_another(tmp_path: Path) -> None:
    packaged, own = tmp_path / "packaged", tmp_path / "own"
    packaged.mkdir()
    own.mkdir()
    policies(packaged)
    policies(own)
    with pytest.raises(GateError, match=r"there is a rules/pets/none already"):
        load([packaged, own])


def test_no_rules_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "main.rego").write_text(MAIN)
    with pytest.raises(GateError, match="no rule is found"):
        load([tmp_path])


def test_rules_without_an_entry_point_are_an_error(tmp_path: Path) -> None:
    (policies(tmp_path) / "main.rego").unlink()
    with pytest.raises(GateError, match=r"main\.rego cannot be read"):
        load([tmp_path])


@pytest.mark.parametrize("path", ["rules/none.rego", "rules/pets/none/other.rego", "rules/Pets/none/none.rego"])
def test_a_rule_in_the_wrong_place_is_an_error(path: str, tmp_path: Path) -> None:
    with pytest.raises(GateError, match="is no rule"):
        load([policies(tmp_path, path=path)])


def test_thresholds_of_all_rules_are_known_by_rule_and_name(tmp_path: Path) -> None:
    text = RULE.replace("reads: []", "reads: []\n#   thresholds: {n: {type: number, default: 0.5, description: d}}")
    assert load([policies(tmp_path, text)]).thresholds["pets/none"]["n"].default == 0.5


@pytest.mark.parametrize(
    ("path", "at", "expected"),
    [
        ("", "/a/b", ["/a/b"]),
        ("/c", "/a/b", ["/a/b/c"]),
        ("/../c/d", "/a/b", ["/a/c/d"]),
        ("/../../c", "/a/b", ["/c"]),
        ("/../../../c", "/a/b", []),
        ("/c", "", ["/c"]),
    ],
)
def test_a_patch_goes_from_where_the_finding_is(path: str, at: str, expected: list[str], tmp_path: Path) -> None:
    text = RULE.replace("reads: []", f"reads: []\n#   patch: [{{op: add, path: {path!r}, value: {{x: [1]}}}}]")
    found = load([policies(tmp_path, text)]).rules["pets/none"].patched(at)
    assert [(step.op, step.path, step.value) for step in found] == [("add", where, {"x": [1]}) for where in expected]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("package gpuyard.rules.pets.none", "package rules.pets.none", "must be gpuyard.rules.pets.none"),
        ("deny contains", "denies contains", "there is no `deny contains`"),
        ("# METADATA", "# METADATE", "there is no `# METADATA` block"),
        ("#   severity: low\n", "", "severity"),
        ("severity: low", "severity: grave", "severity"),
        ("level: mandatory", "level: advisory", "what only warns cannot deny what is unknown"),
        ("#   reads: []", "#   reads: [{type: pod, path: image}]", "reads/0/path"),
        ("#   reads: []", "#   reads: [*]", "METADATA is not YAML"),
        ("#   reads: []", "#   reads: []\n#   raeds: []", "raeds"),
        ("# title: No pets\n", "", "METADATA lacks 'title'"),
        ("#   waivable: true", "#   waivable: perhaps", "waivable"),
        (
            "reads: []",
            'reads: []\n#   thresholds: {n: {type: integer, default: "3", description: d}}',
            "a whole number",
        ),
        ("reads: []", "reads: []\n#   thresholds: {n: {type: number, default: true, description: d}}", "thresholds/n"),
        ("reads: []", "reads: []\n#   thresholds: {n: {type: texts, default: a, description: d}}", "a list of texts"),
        ("reads: []", "reads: []\n#   thresholds: {n: {type: size, default: 1, description: d}}", "thresholds/n/type"),
        ("reads: []", "reads: []\n#   thresholds: {n: {type: integer, default: 1}}", "thresholds/n/description"),
        ("reads: []", "reads: []\n#   patch: [{op: replace, path: /a}]", "replace has no value"),
        ("reads: []", "reads: []\n#   patch: [{op: remove, path: /a, value: 1}]", "remove has a value"),
        ("reads: []", "reads: []\n#   patch: [{op: move, path: /a}]", "patch/0/op"),
        ("reads: []", "reads: []\n#   patch: [{op: remove, path: a}]", "patch/0/path"),
        ("reads: []", "reads: []\n#   patch: [{op: remove, path: /a/../b}]", "goes up after it went down"),
        ("reads: []", "reads: []\n#   thresholds: {N: {type: integer, default: 1, description: d}}", "thresholds/N"),
    ],
)
def test_a_malformed_rule_is_an_error_that_names_the_file_and_the_fault(
    old: str, new: str, says: str, tmp_path: Path
) -> None:
    assert old in RULE
    with pytest.raises(GateError, match=r"none\.rego") as error:
        load([policies(tmp_path, RULE.replace(old, new))])
    assert says in str(error.value)


def test_text_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    (policies(tmp_path) / "rules/pets/none/none.rego").write_bytes(b"\xff\xfe")
    with pytest.raises(GateError, match="cannot be read"):
        load([tmp_path])


def test_metadata_stands_right_above_the_package() -> None:
    assert metadata("# METADATA\n# title: a\npackage x\n") == {"title": "a"}
    assert metadata("# A licence.\n\n# METADATA\n# title: a\npackage x\n") == {"title": "a"}
    with pytest.raises(ValueError, match="METADATA"):
        metadata("# METADATA\n# title: a\n\npackage x\n")
