"""Secrets of a program and of its configuration are in no message and no recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded import inputs, record, refused, write

from gpuyard.review import document

RESOURCE = 'import pulumi\npulumi.CustomResource("a:b:C", "it", {"x": 1})\n'
CIPHERTEXT = "v1:bm9uY2U=:Y2lwaGVydGV4dA=="
SECRETS = f"""
encryptionsalt: v1:c2FsdA==:{CIPHERTEXT}
config:
  shop:token: {{secure: {CIPHERTEXT}}}
  shop:plain: visible
"""


def test_a_secret_of_the_configuration_is_in_no_message_and_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the shell that starts the review has it decrypted."""
    secret = "decrypted-by-somebody"
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({"shop:token": secret, "shop:other": secret}))
    monkeypatch.setenv("PULUMI_CONFIG_SHOP_TOKEN", secret)
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", secret)
    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", secret)
    source = """
import os, sys, pulumi
config = pulumi.Config()
token = config.require_secret("token")
for stream in (sys.stdout, sys.stderr):
    print(config.get("token"), config.get("other"), dict(os.environ), token, file=stream)
pulumi.log.info(f"{config.get('token')} {token}")
pulumi.CustomResource("a:b:C", "it", {"token": token, "text": config.require("token"), "plain": config.get("plain")})
if FAIL:
    raise ValueError(f"{config.get('token')} {dict(os.environ)}")
"""
    message = refused(tmp_path, source.replace("FAIL", "True"), config=SECRETS)
    recording = record(write(tmp_path, source.replace("FAIL", "False"), config=SECRETS))
    whole = document.dumps(document.build(recording, date="2026-11-30", environment="dev"))
    for text in (message, whole, json.dumps(recording.log)):
        assert secret not in text
        assert CIPHERTEXT not in text
    assert inputs(recording, "it") == {"token": None, "text": None, "plain": "visible"}


def test_a_secret_of_the_program_itself_is_masked_in_its_output_and_log(tmp_path: Path) -> None:
    source = """
import pulumi
pulumi.CustomResource("a:b:C", "it", {"a": pulumi.Output.secret({"deep": ["literal-secret"]})})
pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})
pulumi.log.warn("it is literal-secret")
print("printed literal-secret")
if FAIL:
    raise ValueError("raised literal-secret")
"""
    message = refused(tmp_path, source.replace("FAIL", "True"))
    assert "literal-secret" not in message
    assert "raised [secret]" in message
    assert "printed [secret]" in message
    recording = record(write(tmp_path, source.replace("FAIL", "False")))
    assert recording.log == [{"severity": "warning", "message": "it is [secret]"}]


def test_reading_a_secret_as_plain_text_is_refused_with_the_way_to_read_it(tmp_path: Path) -> None:
    message = refused(tmp_path, "import pulumi\npulumi.Config().require_int('token')\n", config=SECRETS)
    assert "Configuration 'shop:token' value '<secret>' is not a valid 'int'" in message
    assert "a review never decrypts secrets" in message
    assert "read them by the *_secret methods of pulumi.Config" in message
