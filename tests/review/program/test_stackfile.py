from __future__ import annotations

from pathlib import Path

import pytest
from recorded import write

from gpuyard.review.errors import InputError
from gpuyard.review.program import stackfile
from gpuyard.review.program.project import Project
from gpuyard.review.program.yamlfile import MAX_BYTES
from gpuyard.review.recording.values import UNKNOWN

CIPHERTEXT = "v1:bm9uY2U=:Y2lwaGVydGV4dA=="


def project(folder: Path, config: str, settings: str = "") -> Project:
    return write(folder, "", config=config, settings=settings)


def read(folder: Path, config: str, settings: str = "") -> stackfile.StackConfig:
    return stackfile.read(project(folder, config, settings), "dev")


def test_keys_get_the_projects_name_where_they_have_no_other(tmp_path: Path) -> None:
    config = read(tmp_path, "config: {size: 3, 'aws:region': us-east-1, 'shop:config:old': x, 'shop:list': [1, a]}\n")
    assert config.values == {
        "shop:size": "3",
        "aws:region": "us-east-1",
        "shop:old": "x",
        "shop:list": '[1,"a"]',
    }
    assert config.secret_keys == ()


def test_a_key_without_a_value_is_an_empty_text(tmp_path: Path) -> None:
    assert read(tmp_path, "config:\n  size:\n").values == {"shop:size": ""}


def test_what_pulumi_itself_keeps_in_a_stack_file_is_allowed(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        f"""
        encryptionsalt: v1:c2FsdA==:{CIPHERTEXT}
        encryptedkey: a2V5
        secretsprovider: awskms://alias/x
        environment: [base]
        config: {{}}
        """,
    )
    assert config.values == {}


def test_a_secret_is_never_decrypted_nor_carried_on(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        f"""
        config:
          token: {{secure: {CIPHERTEXT}}}
          database: {{host: db, users: [{{name: a, password: {{secure: {CIPHERTEXT}}}}}]}}
          plain: x
        """,
    )
    assert config.values["shop:token"] == UNKNOWN
    assert config.values["shop:database"] == f'{{"host":"db","users":[{{"name":"a","password":"{UNKNOWN}"}}]}}'
    assert config.secret_keys == ("shop:database", "shop:token")
    assert CIPHERTEXT not in str(config)


@pytest.mark.parametrize("value", ["{secure: 12}", "{secure: abc, other: x}", "{secure: }"])
def test_what_only_looks_like_a_secret_is_plain_as_for_the_cli(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, f"config:\n  token: {value}\n").secret_keys == ()


def test_a_secret_inside_the_platform_is_refused_with_the_place_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"config:\n  gpuyard:platform: {{tenants: {{a: {{token: {{secure: {CIPHERTEXT}}}}}}}}}\n")
    message = str(caught.value)
    assert "config.gpuyard:platform.tenants.a.token is a secret" in message
    assert "Kubernetes Secret" in message
    assert CIPHERTEXT not in message


def test_a_revision_that_yaml_turns_into_a_number_is_a_number_to_the_program(tmp_path: Path) -> None:
    """The spec then says that a revision is text; a quoted one arrives as it is."""
    config = read(tmp_path, "config:\n  gpuyard:platform: {revision: 1234567e8, quoted: '1234567e8'}\n")
    assert config.values["gpuyard:platform"] == '{"quoted":"1234567e8","revision":123456700000000}'


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("", "Pulumi.dev.yaml: is empty: give `config:`"),
        ("# nothing\n", "is empty"),
        ("- a\n", "is not a mapping: give `config:`"),
        ("hello\n", "is not a mapping"),
        ("a: [\n", "Pulumi.dev.yaml: line 2: did not find expected"),
        ("config:\n  a: 1\n  a: 2\n", "line 3: the key 'a' is given twice: keep one"),
        ("config:\n  a: 1\nconfig:\n  b: 2\n", "line 3: the key 'config' is given twice"),
        ("config:\n  a: 1\n  shop:a: 2\n", "config has both 'a' and 'shop:a', which are one key"),
        ("confg:\n  a: 1\n", "'confg' is not a key of a stack file: give config, environment"),
        ("config: [a]\n", "config is \\['a'\\]: give a mapping"),
        ("config:\n  a:b:c: 1\n", "config.a:b:c is not a configuration key: give <namespace>:<name>"),
        ("config:\n  a: .inf\n", "config.shop:a: inf is not a number .* quote it"),
        ("config:\n  a: [.nan]\n", "config.shop:a: nan is not a number"),
        ("config:\n  1: a\n", "line 2: a key here is not text: quote it"),
    ],
)
def test_a_wrong_stack_file_is_refused_with_the_place_and_the_remedy(tmp_path: Path, config: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, config)


def test_more_than_a_megabyte_is_refused_before_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = project(tmp_path, "config: {}\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  a: " + "x" * MAX_BYTES + "\n")
    monkeypatch.setattr("gpuyard.review.program.yamlfile.parse", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(InputError, match="is over 1,000,000 bytes"):
        stackfile.read(shop, "dev")


def test_a_megabyte_that_is_just_small_enough_is_read(tmp_path: Path) -> None:
    text = "config:\n  a: "
    (value,) = read(tmp_path, text + "x" * (MAX_BYTES - len(text))).values.values()
    assert len(value) == MAX_BYTES - len(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("config: {a: ä}\n".encode("latin-1"), "line 1 has the byte 0xe4, which is not UTF-8: save the file as UTF-8"),
        (b"config:\n  a: \xff\n", "line 2 has the byte 0xff"),
        ("config: {}\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        ("config: {}\n".encode("utf-16-be"), "control characters are not allowed|unacceptable character"),
        (b"config: {a: \x00}\n", "control characters are not allowed|unacceptable character"),
        (b"\x89PNG\r\n\x1a\n\x00", "line 1 has the byte 0x89"),
    ],
)
def test_another_encoding_than_utf_8_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    shop = project(tmp_path, "config: {}\n")
    (tmp_path / "Pulumi.dev.yaml").write_bytes(data)
    with pytest.raises(InputError, match=message):
        stackfile.read(shop, "dev")


def test_a_byte_order_mark_of_utf_8_is_not_part_of_the_first_key(tmp_path: Path) -> None:
    shop = project(tmp_path, "config: {}\n")
    (tmp_path / "Pulumi.dev.yaml").write_bytes(b"\xef\xbb\xbfconfig: {a: \xc3\xa4}\n")
    assert stackfile.read(shop, "dev").values == {"shop:a": "ä"}


def test_a_missing_stack_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    shop = project(tmp_path, "config: {}\n")
    (tmp_path / "Pulumi.prod.eu.yaml").write_text("config: {}\n")
    (tmp_path / "Pulumi.other.yml").write_text("config: {}\n")
    with pytest.raises(InputError, match=r"no stack 'stage': there are dev, prod.eu"):
        stackfile.read(shop, "stage")
    assert stackfile.stacks(shop) == ["dev", "prod.eu"]


@pytest.mark.parametrize("name", ["", "../dev", "a/b", "dev\n", "x" * 101, "."])
def test_a_name_that_no_stack_can_have_is_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no stack"):
        stackfile.read(project(tmp_path, "config: {}\n"), name)


def test_a_folder_without_stacks_says_so(tmp_path: Path) -> None:
    shop = project(tmp_path, "config: {}\n", "stackConfigDir: stacks\n")
    with pytest.raises(InputError, match=r"stacks: no stack 'dev': there is no Pulumi.<stack>.yaml at all"):
        stackfile.read(shop, "dev")
    assert stackfile.stacks(shop) == []


def test_stack_files_lie_where_the_project_says(tmp_path: Path) -> None:
    shop = project(tmp_path, "config: {}\n", "stackConfigDir: stacks\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {a: 1}\n")
    assert stackfile.stacks(shop) == ["prod"]
    assert stackfile.read(shop, "prod").values == {"shop:a": "1"}


def test_a_stack_file_that_is_a_folder_is_no_stack(tmp_path: Path) -> None:
    shop = project(tmp_path, "config: {}\n")
    (tmp_path / "Pulumi.odd.yaml").mkdir()
    with pytest.raises(InputError, match="no stack 'odd'"):
        stackfile.read(shop, "odd")
    assert stackfile.stacks(shop) == ["dev"]


DECLARED = """
config:
  size: 3
  zones: [a, b]
  aws:region: eu-west-1
  aws:tags: {value: {a: b}}
  count: {type: integer, default: 2}
  flags: {type: array, items: {type: boolean}, default: [true]}
"""


def test_the_projects_own_values_are_taken_where_the_stack_gives_none(tmp_path: Path) -> None:
    config = read(tmp_path, "config: {count: '7', 'aws:region': us-east-1}\n", DECLARED)
    assert config.values == {
        "shop:size": "3",
        "shop:zones": '["a","b"]',
        "aws:region": "us-east-1",
        "aws:tags": '{"a":"b"}',
        "shop:count": "7",
        "shop:flags": "[true]",
    }


@pytest.mark.parametrize(
    ("declared", "config", "message"),
    [
        ("size: {type: integer}", "{}", "Pulumi.yaml asks every stack for size: give a value"),
        ("size: {description: needed}", "{}", "asks every stack for size"),
        ("size: {type: integer}", "{size: many}", "config.size is 'many': Pulumi.yaml asks for integer"),
        ("size: {type: boolean}", "{size: yes}", "config.size is 'yes': Pulumi.yaml asks for boolean"),
        ("size: {type: string}", "{size: [a]}", "asks for string"),
        ("size: {type: object}", "{size: a}", "asks for object"),
        ("size: {type: array, items: {type: integer}}", "{size: [1, a]}", "asks for array"),
        ("size: {type: integer, secret: true}", "{size: 1}", "config.size is secret by Pulumi.yaml"),
        ("size: {type: number}", "{size: 1}", "config.size.type is 'number': give string, integer"),
        ("size: 1.5", "{}", "config.size is 1.5: give text, a whole number, a list or a declaration"),
        ("'aws:region': {type: string}", "{}", "config.aws:region is not of this project"),
        ("a.b: 1", "{}", "config.a.b names a part of a value"),
    ],
)
def test_a_stack_that_does_not_fit_its_project_is_refused(
    tmp_path: Path, declared: str, config: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, f"config: {config}\n", f"config:\n  {declared}\n")


def test_a_secret_is_not_looked_into_for_its_type(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        f"config: {{size: {{secure: {CIPHERTEXT}}}}}\n",
        "config:\n  size: {type: integer, secret: true}\n",
    )
    assert config.secret_keys == ("shop:size",)
