"""Manifests as text and as files: read as the provider reads them, and nothing that cannot be read passes for read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuyard.review.recording.manifests import MOST_BYTES, documents, from_files

FILE = "kubernetes:yaml/v2:ConfigFile"
GROUP = "kubernetes:yaml/v2:ConfigGroup"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n---\n---\nb: [x]\nd: 2026-07-20\n", [{"a": 1}, {"b": ["x"], "d": "2026-07-20"}]),
        ("privileged: yes", [{"privileged": True}]),
        ("privileged: y", [{"privileged": True}]),
        ("privileged: 'y'", [{"privileged": "y"}]),
        ("a: off", [{"a": False}]),
        ("name: no-one", [{"name": "no-one"}]),
        ("a: &x {b: 1}\nc: *x", [{"a": {"b": 1}, "c": {"b": 1}}]),
        ("", []),
        ("a: [", None),
        ("a: .nan", None),
        ("a: !!python/object:os.system x", None),
        ("? {a: b}\n: c", None),
        ("a: *nobody", None),
    ],
)
def test_a_text_is_its_documents(text: str, expected: Any) -> None:
    assert documents(text) == expected


def test_a_bomb_and_what_is_too_long_or_too_deep_are_not_read() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))]
    assert documents("\n".join(lines)) is None
    assert documents("x" * (MOST_BYTES + 1)) is None
    assert documents("[" * 5000 + "]" * 5000) is None


def test_files_are_read_relative_to_the_program_and_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Pod")
    (tmp_path / "b.yaml").write_text("kind: Job\n---\nkind: Service")
    assert from_files(FILE, {"file": "a.yaml"}, tmp_path) == {"file": [{"kind": "Pod"}]}
    found = from_files(GROUP, {"files": ["*.yaml"]}, tmp_path)
    assert [manifest["kind"] for manifest in found["files"]] == ["Pod", "Job", "Service"]


@pytest.mark.parametrize(
    "named",
    ["missing.yaml", "https://x.example/a.yaml", "broken.yaml", "binary.yaml", ["good.yaml", "missing.yaml"], [7]],
)
def test_one_file_that_cannot_be_read_is_as_if_none_were(named: Any, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("kind: Pod")
    (tmp_path / "broken.yaml").write_text("kind: [")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    field = "files" if isinstance(named, list) else "file"
    assert from_files(GROUP if field == "files" else FILE, {field: named}, tmp_path) == {}


def test_a_type_without_files_has_none(tmp_path: Path) -> None:
    assert from_files("kubernetes:core/v1:Pod", {"file": "a.yaml"}, tmp_path) == {}
    assert from_files(FILE, {"file": None}, tmp_path) == {}
