"""`gpuyard schema`: the shape of a stack file, for editors."""

from __future__ import annotations

import json

import click


@click.command()
def schema() -> None:
    """Print the JSON schema of a stack file."""
    # Here, because the components load pulumi, which no other command needs.
    from gpuyard.components.stack import stack_schema

    click.echo(json.dumps(stack_schema(), indent=2))
