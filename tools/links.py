"""Lays `.venv/links/gpuyard/<package>` as links to the folders of the source tree, and tells Python of them.

setuptools' editable finder works at run time only: type checkers and editors do not see through it, and they see links.
"""

from __future__ import annotations

import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Makes every link anew."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    links = ROOT / ".venv" / "links" / "gpuyard"
    links.mkdir(parents=True, exist_ok=True)
    for old in links.iterdir():
        old.unlink()
    for package, folder in folders.items():
        (links / package.removeprefix("gpuyard.")).symlink_to(ROOT / folder)
    (Path(sysconfig.get_path("purelib")) / "gpuyard.pth").write_text(f"{links.parent}\n")


main()
