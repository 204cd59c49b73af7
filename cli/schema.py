"""`gpuyard schema`: the shape of a stack file, for editors."""

from __future__ import annotations

import json

import click

from gpuyard.components.stack import stack_schema


@click.command()
def schema() -> None:
    """Print the JSON schema of a stack file."""
    click.echo(json.dumps(stack_schema(), indent=2))
