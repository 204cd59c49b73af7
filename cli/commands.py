"""The commands, and what an error of each kind looks like."""

from __future__ import annotations

from importlib import import_module

import click

from gpuyard.catalogue.tables import Malformed
from gpuyard.cli.main import INTERRUPTED
from gpuyard.cli.problems import BAD_INPUT, FailedError, Problem, say
from gpuyard.review.errors import GateError, InputError

PASSED = 0


EPILOG = """\b
Exit codes:
  0  every stack may deploy
  1  a finding denies one
  2  the input is wrong: a stack file, the program, an option
  3  the gate could not decide, which is never a pass

\b
Environment:
  OPA_URL            OPA server that applies the rules; without it, `opa`
                     on PATH; without that, the embedded engine
  OPA_TOKEN          bearer token for that server
  NO_COLOR           no colours
  GPUYARD_TRACEBACK  show the traceback of an error inside gpuyard,
                     which may quote secrets
"""


COMMANDS = (
    "review",
    "cost",
    "explain",
    "machines",
    "size",
    "schema",
    "prices",
    "quotas",
    "inventory",
    "waivers",
    "admission",
    "adopt",
    "new",
)
"""In the order in which they are listed; each is the command of that name in the module of that name."""


class _Loaded(click.Group):
    """Loads a command when it is asked for: what one needs takes longer to load than another to run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
        command: click.Command = getattr(import_module(f"gpuyard.cli.{cmd_name}"), cmd_name)
        return command


@click.group(
    cls=_Loaded, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="gpuyard")
def gpuyard() -> None:
    """GPU infrastructure as one typed stack file, judged before anything deploys.

    \b
    gpuyard review                     every stack of the program in this folder
    gpuyard review dev --out reports   one stack, and its report as files
    gpuyard explain Q6                 what a rule demands, and what to do
    gpuyard machines h100              machines that have one, and their price
    gpuyard inventory --context prod   a live cluster's nodes, as a stack file
    """


def run() -> int:
    """Runs the command that the process was given; its exit code."""
    try:
        return gpuyard.main(standalone_mode=False) or PASSED
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except click.exceptions.Abort:
        return INTERRUPTED
    except FailedError as failed:
        return max(say(problem) for problem in failed.problems)
    except (InputError, GateError) as error:
        return say(Problem((), error))
    except Malformed as error:
        return say(Problem((), GateError(f"the catalogue: {error}")))
