"""`gpuyard schema`: the shape of a stack file, for editors."""

from __future__ import annotations

import json

import click

from gpuyard.cli.output import emit


@click.command(short_help="The JSON schema of a stack file, for editors.")
def schema() -> None:
    """Print the JSON schema of a stack file.

    \b
    An editor with the YAML language server reads it by a stack file's first line:
      # yaml-language-server: $schema=schema.json
    """
    emit(text())


def text() -> str:
    """The schema, as a file has it."""
    # Here, because the components load pulumi, which few commands need.
    from gpuyard.components.stack import stack_schema

    return json.dumps(stack_schema(), indent=2) + "\n"
