"""Small git repositories with a program in them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

OBJECT = """\
pulumi.CustomResource("kubernetes:{type}", "{name}", {{
    "apiVersion": "{api}", "kind": "{kind}", "metadata": {{"name": "{name}", "namespace": "fraud"}}, {rest}
}})
"""


def git(folder: Path, *arguments: str) -> str:
    """Runs git as nobody in particular, without any configuration but the repository's own."""
    who = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    day = {f"GIT_{role}_DATE": "2026-11-30T08:00:00Z" for role in ("AUTHOR", "COMMITTER")}
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the tests find
        env=who | day | none,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """An empty repository with a branch `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, files: dict[str, str | None]) -> str:
    """Writes files, or takes those away that are None, and commits all of it; the commit."""
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a change")
    return git(folder, "rev-parse", "HEAD")


def config_map(name: str, **data: str) -> str:
    """A line of a program."""
    return OBJECT.format(type="core/v1:ConfigMap", api="v1", kind="ConfigMap", name=name, rest=f'"data": {data!r}')


def privileged(name: str) -> str:
    """A pod that no limits allow."""
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10", "securityContext": {"privileged": True}}
    return OBJECT.format(
        type="core/v1:Pod", api="v1", kind="Pod", name=name, rest=f'"spec": {{"containers": [{container!r}]}}'
    )


def program(*lines: str, stacks: tuple[str, ...] = ("dev",)) -> dict[str, str | None]:
    """The files of a program."""
    files: dict[str, str | None] = {"Pulumi.yaml": "name: shop\nruntime: python\n"}
    files |= {f"Pulumi.{stack}.yaml": "config: {}\n" for stack in stacks}
    return files | {"__main__.py": "import os\nimport pulumi\n" + "".join(lines)}
