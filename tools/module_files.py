"""Copies files out of pinned Go modules: kinds of controllers and the like, which the tests need and we do not keep.

`python tools/module_files.py kueue` prints a folder outside the checkout with the files that `tools/kueue/files.toml`
names, fetched once.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from programs import TOOLS, ProgramError, cache, find_go, locked, pinned


def folder_of(name: str) -> Path:
    """The folder with the files, fetched if need be. Raises ProgramError."""
    said = [TOOLS / name / file for file in ("files.toml", "go.mod", "go.sum")]
    if not said[0].is_file():
        raise ProgramError(f"no files {name!r}: there are {', '.join(sorted(p.parent.name for p in _known()))}")
    key = hashlib.sha256(b"".join(file.read_bytes() for file in said)).hexdigest()[:12]
    target = cache() / "files" / f"{name}-{key}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.with_suffix(".lock")):
            if not target.is_dir():
                _fetch(TOOLS / name, target)
    return target


def _known() -> list[Path]:
    return [*TOOLS.glob("*/files.toml")]


def _fetch(folder: Path, target: Path) -> None:
    wanted = tomllib.loads((folder / "files.toml").read_text())
    version, go = pinned(folder, wanted["module"])
    print(f"{folder.name}: fetching files of {wanted['module']} {version}, once ...", file=sys.stderr, flush=True)
    answer = subprocess.run(
        [str(find_go(go)), "mod", "download", "-json", wanted["module"]],
        cwd=folder,
        env=os.environ | {"GOWORK": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if answer.returncode:
        raise ProgramError(f"{wanted['module']} cannot be had\n{(answer.stdout + answer.stderr).strip()[-2000:]}")
    module = Path(json.loads(answer.stdout)["Dir"])
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        made = Path(temporary) / "files"
        made.mkdir()
        for pattern in wanted["paths"]:
            found = sorted(module.glob(pattern))
            if not found:
                raise ProgramError(f"{folder.name}/files.toml: {wanted['module']} has no {pattern}")
            for file in found:
                shutil.copyfile(file, made / file.name)
        made.rename(target)


def main(arguments: list[str]) -> int:
    """Prints one folder a line; the exit code is 1 when files cannot be had."""
    try:
        for name in arguments or sorted(path.parent.name for path in _known()):
            print(folder_of(name))
    except ProgramError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
