"""The `gpuyard` command."""

from __future__ import annotations

import sys

import click

from gpuyard.cli.cost import cost
from gpuyard.cli.explain import explain
from gpuyard.cli.review import review
from gpuyard.cli.schema import schema
from gpuyard.review.errors import GateError, InputError

PASSED, DENIED, BAD_INPUT, UNDECIDED = 0, 1, 2, 3
"""Exit codes: nothing denies; a finding denies; the user's input is wrong; the gate could not decide."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gpuyard")
def gpuyard() -> None:
    """GPU infrastructure as one typed stack file, judged before anything deploys.

    \b
    Exit codes: 0 it may deploy, 1 a finding denies it, 2 the input is wrong, 3 the gate could not decide.
    """


for command in (review, cost, explain, schema):
    gpuyard.add_command(command)


def main() -> None:
    """Runs the command. An error is one message, an exit code, and never a pass."""
    try:
        sys.exit(gpuyard.main(standalone_mode=False) or PASSED)
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.exceptions.Abort:
        sys.exit(130)
    except InputError as error:
        click.secho(f"error: {error}", fg="red", err=True)
        sys.exit(BAD_INPUT)
    except GateError as error:
        click.secho(f"the gate could not decide: {error}", fg="red", err=True)
        sys.exit(UNDECIDED)
