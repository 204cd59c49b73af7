"""The built wheel, alone in an environment of its own."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from command import CONFIG_MAP, FORBIDDEN, ROOT, SECONDS, gpuyard, program, rule

PACKAGED = (".css", ".csv", ".j2", ".js", ".py", ".rego", ".yaml", "py.typed")

LIMITS = """\
accelerators: {max: 0}
machines: []
tags: []
budget: {month_usd: 0, unknown_price: advisory}
registries: [mirror.example/ai/]
namespaces: {privileged: [], system: [default]}
capabilities: []
api: {widest_ipv4: 32, widest_ipv6: 128}
"""

POD = """
for image in ("mirror.example/ai/model:1", "registry.k8s.io/pause:3.10"):
    name = image.split("/")[-1].split(":")[0]
    pulumi.CustomResource("kubernetes:core/v1:Pod", name, {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": image}]},
    })
"""


def sources() -> list[str]:
    """The files of the checkout, those not yet committed too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Built once, from a copy: what an earlier build left in the checkout must not get in."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            for name in sources():
                (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / "source" / name)
            build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, folder / "source"]
            done = subprocess.run(build, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """An environment with the wheel in it; the packages that it needs are those of this environment, gpuyard left out."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)]
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), *install]
    subprocess.run(pip, check=True, timeout=SECONDS)
    # A .pth file read from a path that a .pth file adds does not count, so the checkout itself stays unseen.
    (packages(home) / "needs.pth").write_text(sysconfig.get_path("purelib"))
    return home


def packages(environment: Path) -> Path:
    return Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))


def test_the_wheel_has_every_module_rule_table_and_template(wheel: Path) -> None:
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"].values()
    expected = {n for n in sources() if n.split("/")[0] in folders and n.endswith(PACKAGED)}
    held = {n.removeprefix("gpuyard/") for n in zipfile.ZipFile(wheel).namelist() if n.startswith("gpuyard/")}
    assert expected == held
    assert {Path(name).suffix for name in expected} == {".css", ".csv", ".j2", ".js", ".py", ".rego", ".typed", ".yaml"}


def test_the_installed_wheel_judges_another_folder_by_its_own_limits_and_rules(installed: Path, tmp_path: Path) -> None:
    command = (str(installed / "bin" / "gpuyard"),)
    where = program(tmp_path / "shop", CONFIG_MAP + POD)
    (who,) = packages(installed).glob("gpuyard/cli")
    asked = [str(installed / "bin" / "python"), "-c", "import gpuyard.cli as cli; print(cli.__file__)"]
    assert str(who) in subprocess.run(asked, cwd=where, capture_output=True, text=True, check=True).stdout

    assert found(where, command) == ("development", {("supply_chain/registries", "model")})

    limits = where / "policies" / "limits"
    limits.mkdir(parents=True)
    (limits / "environments.yaml").write_text("strictest: house\nstacks: {}\n")
    (limits / "house.yaml").write_text(LIMITS)
    rule(where, FORBIDDEN)
    # The house allows the one registry that the packaged limits refuse, and the other way round.
    assert found(where, command) == ("house", {("supply_chain/registries", "pause"), ("house/own", "settings")})


def test_the_installed_wheel_has_the_policy_pack(installed: Path) -> None:
    pack = [installed / "bin" / "gpuyard-analyzer"]
    started = subprocess.run(pack, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (started.returncode, started.stdout) == (1, "")
    assert "is started by Pulumi: give its path to pulumi preview" in started.stderr


def found(where: Path, command: tuple[str, ...]) -> tuple[str, set[tuple[str, str]]]:
    """The environment whose limits applied, and each rule that denies a resource."""
    answer = gpuyard("review", "--program", where, "--format", "json", command=command)
    assert answer.code == 1, answer.err
    (review,) = json.loads(answer.out)
    denied = {
        (one["rule"], one["urn"].rpartition("::")[2]) for one in review["findings"] if one["level"] == "mandatory"
    }
    return review["document"]["environment"], denied


def test_an_installation_without_its_rules_is_no_pass(installed: Path, tmp_path: Path) -> None:
    command = (str(installed / "bin" / "gpuyard"),)
    where = program(tmp_path / "shop", CONFIG_MAP)
    assert gpuyard("review", "--program", where, command=command).code == 0
    shutil.rmtree(packages(installed) / "gpuyard" / "policies" / "lib")
    lacking = gpuyard("review", "--program", where, command=command)
    assert (lacking.code, lacking.out) == (3, "")
    assert "match.rego is gone, which gpuyard was installed with: install it again" in lacking.err
    shutil.rmtree(packages(installed) / "gpuyard" / "policies" / "rules")
    lacking = gpuyard("review", "--program", where, command=command)
    assert (lacking.code, lacking.out) == (3, "")
    assert "is gone, which gpuyard was installed with" in lacking.err
