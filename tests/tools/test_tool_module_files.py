"""Files are copied out of pinned Go modules once; nothing is fetched here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "module_files.py"


def asked(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
    return subprocess.run([sys.executable, TOOL, name], capture_output=True, text=True, env=environment, check=False)


def go(folder: Path, *files: str) -> None:
    """A Go that has a module with these files."""
    for file in files:
        path = folder / "module" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
    answer = folder / "answer.json"
    answer.write_text(json.dumps({"Dir": str(folder / "module")}))
    (folder / "bin").mkdir()
    script = folder / "bin" / "go"
    script.write_text(f'#!/bin/sh\ntest "$1" = env && echo go99.0 || cat {answer}\n')
    script.chmod(0o755)


def test_files_are_fetched_once_and_lie_flat(tmp_path: Path) -> None:
    go(tmp_path, "config/crd/bases/keda.sh_scaledobjects.yaml", "config/crd/bases/other.yaml", "README.md")
    first = asked("keda", tmp_path)
    assert first.returncode == 0, first.stderr
    assert "fetching files of github.com/kedacore/keda/v2" in first.stderr
    folder = Path(first.stdout.strip())
    assert folder.is_relative_to(tmp_path / "cache")
    assert [path.name for path in folder.iterdir()] == ["keda.sh_scaledobjects.yaml"]
    again = asked("keda", tmp_path)
    assert (again.stdout, again.stderr) == (first.stdout, "")


def test_files_that_the_module_lacks_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    go(tmp_path, "README.md")
    answer = asked("keda", tmp_path)
    assert answer.returncode == 1
    assert answer.stderr.endswith(
        "error: keda/files.toml: github.com/kedacore/keda/v2 has no config/crd/bases/keda.sh_*.yaml\n"
    )
    assert [path.suffix for path in (tmp_path / "cache/gpuyard/files").iterdir()] == [".lock"]


def test_unknown_files_are_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    answer = asked("istio", tmp_path)
    assert answer.returncode == 1
    assert "no files 'istio': there are keda, kueue, prometheus-operator" in answer.stderr
