"""A program is recorded in a process of its own, with its own interpreter, folder and packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recorded import PROGRAMS, inputs, record, refused, write

from gpuyard.review.program.record import ProgramError, find_project, record_program

RESOURCE = 'import pulumi\npulumi.CustomResource("a:b:C", "it", {"x": 1})\n'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1 / 0\n", "{0}/__main__.py:1: the program raised ZeroDivisionError: division by zero"),
        (
            "\ndef f():\n    raise ValueError('bad\\nthing')\nf()\n",
            "{0}/__main__.py:3: the program raised ValueError: bad",
        ),
        ("import nothing_like_it\n", "{0}/__main__.py:1: the program raised ModuleNotFoundError: No module named"),
        ("def f(:\n", "{0}/__main__.py:1: the program raised"),
        ("import part\n", "{0}/part.py:2: the program raised KeyError: 'x'"),
        ("import sys\nsys.exit(0)\n", "{0}/__main__.py:2: the program called sys.exit(0): let it run to its end"),
        ("import sys\nsys.exit('no')\n", "{0}/__main__.py:2: the program called sys.exit('no')"),
        ("raise SystemExit\n", "{0}/__main__.py:1: the program called sys.exit()"),
        ("raise KeyboardInterrupt\n", "{0}/__main__.py:1: the program raised KeyboardInterrupt"),
        ("import os\nos._exit(0)\n", "{0}: its process ended with status 0 before it was recorded"),
        ("import os\nos._exit(7)\n", "{0}: its process ended with status 7 before it was recorded"),
        ("import os\nos.kill(os.getpid(), 9)\n", "{0}: its process ended by signal 9 before it was recorded"),
        ("import pulumi\nraise pulumi.RunError('the reason\\nin full')\n", "the reason\nin full"),
        (
            "import pulumi\npulumi.Config().require('size')\n",
            "Missing required configuration variable 'shop:size'\n\tplease set a value using the command",
        ),
        (
            "import pulumi\npulumi.Output.from_input(0).apply(lambda x: 1 / x)\n",
            "{0}/__main__.py:2: the program raised ZeroDivisionError",
        ),
        (
            "import pulumi\nasync def main():\n    return [][1]\npulumi.run(main)\n",
            "{0}/__main__.py:3: the program raised IndexError",
        ),
        (
            "import pulumi\npulumi.CustomResource('a:b:C', 'it', {'x': {1, 2}})\n",
            "the program raised ValueError: While processing resource: 'it'",
        ),
        (
            "import pulumi\npulumi.CustomResource('a:b:C', 'it', {'x': float('nan')})\n",
            "the program raised ValueError: urn:pulumi:dev::shop::a:b:C::it: /x is nan",
        ),
        (
            "import pulumi_aws as aws\nfor n in range(2):\n    aws.s3.Bucket('same')\n",
            "two resources are called urn:pulumi:dev::shop::aws:s3/bucket:Bucket::same "
            "(__main__.py:3 and __main__.py:3): give one of them another name",
        ),
        (
            "import pulumi_aws as aws\n\naws.get_regions()\n",
            "{0}/__main__.py:3: the program calls the function aws:index/getRegions:getRegions directly, and a review "
            "asks no provider: write its result into gpuyard.invokes.yaml beside Pulumi.yaml, as "
            '"aws:index/getRegions:getRegions": {{<name>: <value>}}, or call its *_output form',
        ),
        ("def f():\n    f()\nf()\n", "{0}/__main__.py:2: the program raised RecursionError"),
    ],
)
def test_a_program_that_cannot_be_recorded_is_refused_with_place_reason_and_remedy(
    tmp_path: Path, source: str, message: str
) -> None:
    (tmp_path / "part.py").write_text("a = 1\n{}['x']\n")
    assert message.format(tmp_path) in refused(tmp_path, source)


def test_the_message_of_a_run_error_stands_alone(tmp_path: Path) -> None:
    assert refused(tmp_path, "import pulumi\nraise pulumi.RunError('only this')\n") == "only this"


def test_what_a_failed_program_printed_last_is_shown(tmp_path: Path) -> None:
    source = "import sys\nfor n in range(40):\n    print('line', n)\nprint('to stderr', file=sys.stderr)\n1 / 0\n"
    message = refused(tmp_path, source)
    assert "The program's output ended with:\n" in message
    assert "  line 39\n" in message
    assert "  to stderr" in message
    assert "line 0\n" not in message


def test_what_a_program_prints_cannot_spoil_its_recording(tmp_path: Path) -> None:
    source = f"""
import sys
print('{{"end": {{"log": []}}}}')
print("x" * 300_000)
print("y" * 300_000, file=sys.stderr)
{RESOURCE}
print("z" * 300_000)
"""
    assert inputs(record(write(tmp_path, source)), "it") == {"x": 1}


def test_closing_the_standard_streams_does_not_spoil_a_recording(tmp_path: Path) -> None:
    source = f"import os\nos.close(1)\nos.close(2)\n{RESOURCE}"
    assert inputs(record(write(tmp_path, source)), "it") == {"x": 1}


def test_a_program_reads_nothing_from_stdin(tmp_path: Path) -> None:
    assert "EOFError" in refused(tmp_path, "input()\n")


def test_a_program_cannot_import_the_recorders_modules_by_mistake(tmp_path: Path) -> None:
    for name in ("values", "recorder", "child", "levers"):
        assert f"No module named '{name}'" in refused(tmp_path, f"import {name}\n")


def test_a_programs_modules_come_before_others_of_their_name(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text("SIZE = 3\n")
    source = f"import values, sys\n{RESOURCE.replace('1', 'values.SIZE')}assert sys.argv == [{str(tmp_path)!r}]\n"
    assert inputs(record(write(tmp_path, source)), "it") == {"x": 3}


def test_progress_counts_up(tmp_path: Path) -> None:
    source = """
import pulumi, time
for number in range(5):
    pulumi.CustomResource("a:b:C", f"it-{number}", {"x": number})
    pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})
    time.sleep(0.15)
"""
    counts: list[int] = []
    record_program(write(tmp_path, source), "dev", timeout_s=60, on_progress=counts.append)
    assert counts == sorted(counts)
    assert len(counts) >= 3


def test_the_recorder_needs_pulumi_alone_in_the_programs_own_environment(tmp_path: Path) -> None:
    """A virtual environment that has pulumi and what that needs, and neither gpuyard nor pydantic."""
    (real,) = (Path(p) for p in sys.path if p.endswith("site-packages"))
    packages = tmp_path / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    for entry in real.iterdir():
        if not entry.name.startswith(("gpuyard", "pydantic", "__editable__", "ruamel", "click", "rich")):
            (packages / entry.name).symlink_to(entry)
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    home = Path(sys.executable).resolve().parent
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    source = f"""
import importlib.util, os, sys
missing = [name for name in ("gpuyard", "pydantic") if importlib.util.find_spec(name) is None]
import pulumi
pulumi.CustomResource("a:b:C", "it", {{"missing": missing, "prefix": sys.prefix, "environment": os.environ["VIRTUAL_ENV"]}})
assert os.environ["PATH"].startswith({str(tmp_path / "venv" / "bin")!r})
"""
    shop = write(tmp_path, source)
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n")
    assert inputs(record(find_project(tmp_path)), "it") == {
        "missing": ["gpuyard", "pydantic"],
        "prefix": str(tmp_path / "venv"),
        "environment": str(tmp_path / "venv"),
    }
    (packages / "pulumi").unlink()
    with pytest.raises(ProgramError, match=r"has no usable pulumi .*: install the pulumi package") as caught:
        record(find_project(tmp_path))
    assert str(tmp_path / "venv" / "bin" / "python") in str(caught.value)
    assert shop.python == Path(sys.executable)


def test_an_interpreter_that_does_not_start_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    write(tmp_path, RESOURCE)
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n")
    with pytest.raises(ProgramError, match=r"does not start .*: repair the virtual environment"):
        record(find_project(tmp_path))
    python.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    python.chmod(0o755)
    with pytest.raises(ProgramError, match=r"its process ended with status 3 .*\n.*\n  broken"):
        record(find_project(tmp_path))


def test_main_may_be_a_folder_and_the_program_runs_in_it(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(
        "import os, part, pulumi_aws as aws\n\naws.s3.Bucket('it', bucket=os.getcwd(), policy=part.VALUE)\n"
    )
    (tmp_path / "app" / "part.py").write_text("VALUE = 'v'\n")
    write(tmp_path, "raise AssertionError\n", settings="main: app\n")
    recording = record(find_project(tmp_path))
    assert inputs(recording, "it") == {"bucket": str(tmp_path / "app"), "policy": "v"}
    assert recording.resources[0]["source"] == "app/__main__.py:3"


def test_main_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "start.py").write_text(RESOURCE)
    write(tmp_path, "raise AssertionError\n", settings="main: app/start.py\n")
    assert inputs(record(find_project(tmp_path)), "it") == {"x": 1}


def test_the_programs_own_answers_come_first(tmp_path: Path) -> None:
    (tmp_path / "gpuyard.invokes.yaml").write_text(
        "aws:index/getRegion:getRegion: {id: 'own-{region}'}\n"
        "'aws:ec2/getVpc:getVpc': {id: 'vpc-own', cidrBlock: 10.1.0.0/16}\n"
    )
    source = """
import pulumi, pulumi_aws as aws
region = aws.get_region().id
vpc = aws.ec2.get_vpc_output(default=True)
pulumi.CustomResource("a:b:C", "it", {"region": region, "vpc": vpc.id})
"""
    shop = write(tmp_path, source, config="config: {'aws:region': eu-north-1}\n")
    assert inputs(record(shop), "it") == {"region": "own-eu-north-1", "vpc": "vpc-own"}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("a: [\n", "gpuyard.invokes.yaml is not YAML"),
        ("- a\n", "gpuyard.invokes.yaml holds a list: give a mapping of function tokens to results"),
        ("'a:b:c': 3\n", "the result of a:b:c is 3: give a mapping of names to values"),
    ],
)
def test_answers_that_are_no_mapping_are_refused(tmp_path: Path, answers: str, message: str) -> None:
    (tmp_path / "gpuyard.invokes.yaml").write_text(answers)
    assert message in refused(tmp_path, "import pulumi\npulumi.runtime.invoke('a:b/c:c', {})\n")


def test_the_example_program_is_recorded_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(record(find_project(PROGRAMS / "everything")).resources) == 24
