"""What `gpuyard new` writes is picked up as it is, fails for the reason that it says, and passes when it is filled in."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import regorus
from command import CONFIG_MAP, ROOT, gpuyard, patched, program, refused
from ruamel.yaml import YAML

from gpuyard.catalogue import Machine, Malformed, machines
from gpuyard.catalogue.hardware import machine_of
from gpuyard.catalogue.tables import read
from gpuyard.components.serving.template import ServingTemplate
from gpuyard.components.stack import stack_schema

TABLES = Path("catalogue/data/machines")
COLUMNS = (ROOT / TABLES / "onprem.csv").read_text().partition("\n")[0].split(",")


def outcomes(folder: Path) -> dict[str, bool]:
    """The Rego tests of a rule, by name."""
    engine = regorus.Engine()
    for path in folder.iterdir():
        engine.add_policy(path.name, path.read_text())
    text = (folder / f"{folder.name}_test.rego").read_text()
    tests = f"data.gpuyard.rules.{folder.parent.name}.{folder.name}_test"
    return {name: engine.eval_rule(f"{tests}.{name}") is True for name in re.findall(r"^test_\w+", text, re.MULTILINE)}


@pytest.mark.parametrize(
    "reads",
    [
        ("pod", "/containers/*/image"),
        ("aws:eks/nodeGroup:NodeGroup", "/scalingConfig/minSize"),
        ("kubernetes:apps/v1:Deployment", '/metadata/labels/a~1b%v"c'),
        ("kubernetes:core/v1:ConfigMap", "/data/a"),
        ("kubernetes:helm.sh/v3:Release", "/values/x"),
    ],
)
def test_a_new_rule_loads_and_its_test_fails_until_it_is_written(reads: tuple[str, str], tmp_path: Path) -> None:
    answer = gpuyard("new", "rule", "house/pets", "--reads", *reads, "--title", 'No "pets": none', cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert "opa test policies/rules/house/pets" in answer.out
    assert 'No "pets": none\nhouse/pets (H1), medium, advisory\n' in gpuyard("explain", "H1", cwd=tmp_path).out
    folder = tmp_path / "policies/rules/house/pets"
    assert outcomes(folder) == {"test_what_is_right_is_allowed": True, "test_what_is_wrong_is_denied": False}
    rule = folder / "pets.rego"
    rule.write_text(rule.read_text().replace('value == "TO BE WRITTEN"', 'value == "WRONG"'))
    assert [*outcomes(folder).values()] == [True, True]


def test_a_rule_that_is_filled_in_judges_the_program_that_it_stands_beside(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", CONFIG_MAP)
    reads = ("--reads", "kubernetes:core/v1:ConfigMap", "/data/a")
    more = ("--level", "mandatory", "--severity", "high", "--id", "PETS", "--on-unknown", "deny")
    assert gpuyard("new", "rule", "house/pets", *reads, *more, "--program", where).code == 0
    assert gpuyard("review", "--program", where).code == 0
    rule = where / "policies/rules/house/pets/pets.rego"
    rule.write_text(rule.read_text().replace('value == "TO BE WRITTEN"', 'value == "b"'))
    reviewed = gpuyard("review", "--program", where)
    assert reviewed.code == 1
    assert "a is b" in reviewed.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rule", "house"), "'house' cannot name a rule: give <group>/<rule>"),
        (("rule", "../x"), "cannot name a rule"),
        (("rule", "house/default"), "no word of Rego"),
        (("rule", "house/min_test"), "no _test at the end"),
        (("rule", "quota/machines"), "there is a rule 'quota/machines' already"),
        (("rule", "house/x", "--id", "Q6"), "--id Q6: another rule has it"),
        (("rule", "house/x", "--id", "no id"), "METADATA catalogue"),
        (("rule", "house/x", "--reads", "pod", "image"), "METADATA reads/0/path"),
        (("rule", "house/x", "--on-unknown", "deny"), "METADATA: level is advisory and on_unknown is deny"),
        (("stack", "../x", "--cloud", "aws"), "'../x' cannot name a stack"),
        (("stack", "A.b", "--cloud", "aws"), "'A.b' cannot name a cluster on AWS"),
        (("stack", "dev", "--cloud", "aws"), "Pulumi.dev.yaml: is there already"),
        (("engine", "x"), "has no serving_templates: give the folder of a checkout"),
        (("machine", "x", "--cloud", "aws"), "has no catalogue/data/machines: give the folder of a checkout"),
    ],
)
def test_what_cannot_be_is_one_error_and_nothing_is_written(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    program(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    error = refused(gpuyard("new", *arguments, cwd=tmp_path), 2)
    assert error.startswith("error: ")
    assert said in " ".join(error.split())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_new_stack_of_each_cloud_is_reviewed_and_may_deploy_as_it_is(tmp_path: Path) -> None:
    shutil.copy(ROOT / "__main__.py", tmp_path)
    settings = (ROOT / "Pulumi.yaml").read_text()
    (tmp_path / "Pulumi.yaml").write_text(settings.replace("virtualenv: .venv", f"virtualenv: {ROOT / '.venv'}"))
    for cloud in ("aws", "gcp", "onprem", "existing"):
        answer = gpuyard("new", "stack", f"dev-{cloud}", "--cloud", cloud, cwd=tmp_path)
        assert (answer.code, answer.err) == (0, "")
        assert f"gpuyard review dev-{cloud}" in answer.out
        first = (tmp_path / f"stacks/Pulumi.dev-{cloud}.yaml").read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=schema.json"
    schema = YAML(typ="safe", pure=True).load(tmp_path / "stacks/schema.json")
    assert schema == stack_schema()
    reviewed = gpuyard("review", cwd=tmp_path)
    assert (reviewed.code, reviewed.err) == (0, "")
    assert "4 stacks, may deploy, all of them" in reviewed.out


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("serving_templates", "tests/data/serving", str(TABLES)):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_a_new_engine_loads_and_what_its_tests_compare_it_with_is_empty(checkout: Path) -> None:
    answer = gpuyard("new", "engine", "my-server", "--checkout", checkout)
    assert answer.code == 0, answer.err
    template = ServingTemplate.model_validate(
        YAML(typ="safe", pure=True).load(checkout / "serving_templates/my-server.yaml")
    )
    assert (template.image, template.command) == ("my-server", ["my-server"])
    assert "{selector}" in template.load.query
    for kind in ("flags", "metrics"):
        lines = (checkout / f"tests/data/serving/my-server-{kind}.txt").read_text().splitlines()
        assert [line for line in lines if not line.startswith("#")] == []
    again = gpuyard("new", "engine", "my-server", "--checkout", checkout)
    assert "my-server.yaml: is there already" in refused(again, 2)
    assert "cannot name an engine" in refused(gpuyard("new", "engine", "My", "--checkout", checkout), 2)


def table(checkout: Path, cloud: str) -> dict[str, Machine]:
    return dict(read(checkout / TABLES / f"{cloud}.csv", machine_of, ()))


def test_a_new_machine_is_refused_until_it_is_filled_in(checkout: Path) -> None:
    sets = ("--set", "accelerator=L40S", "--set", "accelerators=3")
    answer = gpuyard("new", "machine", "onprem-l40s-x3", "--cloud", "onprem", *sets, cwd=checkout)
    assert answer.code == 0, answer.err
    left = "architecture, vcpus, memory_gib, local_disk_gb, network_gbps, source"
    assert f"fill in {left}: until then the catalogue is refused" in answer.out
    with pytest.raises(Malformed, match=rf"onprem.csv line \d+: to be filled in: {left}$"):
        table(checkout, "onprem")
    file = checkout / TABLES / "onprem.csv"
    *rest, last = file.read_text().splitlines(keepends=True)
    assert "".join(rest) == (ROOT / TABLES / "onprem.csv").read_text()
    file.write_text("".join(rest) + last.replace("?", "amd64", 1).replace("?", "0"))
    machine = table(checkout, "onprem")["onprem-l40s-x3"]
    assert (machine.resource, machine.accelerators, machine.purchase) == ("nvidia.com/gpu", 3, ())


def test_a_new_machine_with_every_column_needs_nothing_more(checkout: Path) -> None:
    said = {"architecture": "arm64", "vcpus": "2", "memory_gib": "4", "accelerator": "", "local_disk_gb": "0"}
    said |= {"network_gbps": "", "purchase": "on_demand spot", "source": 'a "b", c', "date": "2026-11-30"}
    sets = [part for column, value in said.items() for part in ("--set", f"{column}={value}")]
    answer = gpuyard("new", "machine", "x9.large", "--cloud", "aws", *sets, cwd=checkout)
    assert answer.code == 0, answer.err
    assert "fill in" not in answer.out
    machine = table(checkout, "aws")["x9.large"]
    assert (machine.accelerator, machine.accelerators, machine.resource) == (None, 0, None)
    assert (machine.network_gbps, machine.purchase, machine.source) == (None, ("on_demand", "spot"), 'a "b", c')


@pytest.mark.parametrize(
    ("name", "set_", "said"),
    [
        (next(iter(machines())), "vcpus=1", "already: change that row"),
        ("-x", "vcpus=1", "'-x' cannot name a machine"),
        ("x", "vcpu=1", "--set vcpu=1: give COLUMN=VALUE, each column once, of architecture"),
        ("x", "name=y", "--set name=y: give COLUMN=VALUE"),
        ("x", "vcpus", "--set vcpus: give COLUMN=VALUE"),
        ("x", "vcpus=two", "--set vcpus=two: invalid literal"),
        ("x", "source=a\nb", "give plain ASCII on one line"),
        ("x", "accelerator=L44", "accelerator 'L44' is not in the catalogue"),
    ],
)
def test_a_machine_that_cannot_be_is_one_error(name: str, set_: str, said: str, checkout: Path) -> None:
    answer = gpuyard("new", "machine", "--cloud", "aws", "--set", set_, "--checkout", checkout, "--", name)
    assert said in " ".join(refused(answer, 2).split())
    assert (checkout / TABLES / "aws.csv").read_bytes() == (ROOT / TABLES / "aws.csv").read_bytes()


def test_a_row_that_is_not_filled_in_is_one_error_of_every_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(ROOT / "catalogue/data", data)
    with (data / "machines/onprem.csv").open("a") as file:
        file.write(",".join(["x", "onprem", *["?"] * (len(COLUMNS) - 2)]) + "\n")
    code = f"from pathlib import Path\nfrom gpuyard.catalogue import tables\ntables.DATA = Path({str(data)!r})"
    error = refused(gpuyard("machines", command=patched(code)), 3)
    assert error.startswith("the gate could not decide: the catalogue: onprem.csv line ")
    assert "to be filled in: architecture, vcpus" in error
