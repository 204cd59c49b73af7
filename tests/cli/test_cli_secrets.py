"""Secrets of a stack and of a program: in no report, document, error or log line of the command."""

from __future__ import annotations

import json
from pathlib import Path

from command import Answer, gpuyard, program

from gpuyard.cli.review import FILES

CIPHER = "AAABAJ8vLRM4c2VjcmV0Y2lwaGVy"
LITERAL = "correct-horse-battery"
PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQ it\'s "quoted" 4d5e6f\n-----END PRIVATE KEY-----\n'
MANIFEST = "staple-in-a-manifest"
NEVER = (CIPHER, LITERAL, "MIIEvQ", "4d5e6f", MANIFEST)

CONFIG = f"""
config:
  shop:password: {{secure: {CIPHER}}}
  shop:registry: {{user: bot, tokens: [{{secure: {CIPHER}}}]}}
encryptionsalt: v1:c2FsdA==:v1:{CIPHER}
"""

SOURCE = f"""
from pulumi_kubernetes.core.v1 import Secret

config = pulumi.Config()
literal, pem = pulumi.Output.secret({LITERAL!r}), pulumi.Output.secret({PEM!r})

def declare(name, kind, **body):
    given = {{"apiVersion": "v1", "kind": kind, "metadata": {{"name": name, "namespace": "default"}}, **body}}
    pulumi.CustomResource(f"kubernetes:core/v1:{{kind}}", name, given)

Secret("typed", metadata={{"name": "typed", "namespace": "default"}}, string_data={{"password": {LITERAL!r}}})
declare("manifest", "Secret", stringData={{"password": {MANIFEST!r}}}, data={{"password": {MANIFEST!r}}})
declare("given", "Secret", stringData={{"own": literal, "key": pem}})
declare("configured", "Secret", stringData={{"own": config.require_secret("password"), "all": config.get_secret_object("registry")}})
declare("wrong", "ConfigMap", data={{"key": pem, "address": literal.apply(lambda text: f"https://bot:{{text}}@git.example")}})
pulumi.export("password", literal)
pulumi.log.warn({LITERAL!r})
print({PEM!r})
"""


def assert_hidden(answer: Answer) -> None:
    for text in (answer.out, answer.err):
        assert [secret for secret in NEVER if secret in text] == [], text


def test_no_report_holds_a_secret(tmp_path: Path) -> None:
    where, out = program(tmp_path / "shop", SOURCE, dev=CONFIG), tmp_path / "reports"
    answer = gpuyard("review", "--program", where, "--out", out)
    assert answer.code == 1, "a secret in a ConfigMap is a finding"
    assert "ConfigMap key address holds a value that the program marks secret" in answer.out
    assert_hidden(answer)
    assert_hidden(gpuyard("cost", "--program", where, "--format", "json"))
    texts = {path.name: path.read_text() for path in out.iterdir()}
    assert {*texts} == {*FILES.values()}
    for text in texts.values():
        assert_hidden(Answer(0, text, ""))
    resources = {one["name"]: one for one in json.loads(texts["review.json"])[0]["document"]["resources"]}
    for name in ("typed", "manifest", "given", "configured"):
        assert resources[name]["inputs"]["stringData"] is None
        assert "/stringData" in resources[name]["secret"]


def test_no_error_of_a_program_holds_a_secret_however_it_is_quoted(tmp_path: Path) -> None:
    raised = "import json, os\nraise {'plain': ValueError(f'bad {S}'), 'key': KeyError(S), 'exit': SystemExit(S)}[pulumi.get_stack()]"
    source = f"{SOURCE}\nprint(json.dumps([S, P]), [S, P], 'end of output')\n{raised}"
    source = f"import json\nS, P = {LITERAL!r}, {PEM!r}\n{source}"
    answer = gpuyard("review", "--program", program(tmp_path, source, plain=CONFIG, key=CONFIG, exit=CONFIG))
    assert answer.code == 2
    assert answer.err.count("end of output") == 3
    assert "the program raised ValueError: bad [secret]" in answer.err
    assert_hidden(answer)


def test_no_error_of_a_stack_file_holds_a_secret(tmp_path: Path) -> None:
    settings = "config:\n  registry: {type: integer, secret: true}\n  password: {type: object}\n"
    stacks = {
        "declared": f"config:\n  shop:registry: {CIPHER}\n  shop:password: {{secure: {CIPHER}}}\n",
        "twice": f"config:\n  shop:password: {{secure: {CIPHER}}}\n  shop:password: {{secure: {CIPHER}}}\n",
        "broken": f"config:\n  shop:password: {{secure: {CIPHER}\n",
        "platform": f"config:\n  gpuyard:platform: {{owner: {{secure: {CIPHER}}}}}\n",
        "list": f"- secure: {CIPHER}\n",
    }
    answer = gpuyard("review", "--program", program(tmp_path, settings=settings, **stacks))
    assert answer.code == 2
    assert answer.err.count("error: stack ") == len(stacks)
    assert_hidden(answer)
