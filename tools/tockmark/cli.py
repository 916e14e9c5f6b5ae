# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line: the verbs of commands/ together, and what an error looks like."""

import os
import sys
import traceback
from typing import Annotated

import typer

from tockmark import __version__, paths
from tockmark.commands import (
    checking,
    conformance,
    files,
    judging,
    patching,
    running,
    showing,
)
from tockmark.commands.common import debugging
from tockmark.errors import INTERRUPTED, OK, UNUSABLE, TockmarkError

app = typer.Typer(
    name="tockmark",
    help=f"""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    Exit codes: 0 all is well; 1 rows failed or are missing (what was good is kept);
    2 unusable input or wrong usage; 3 a regression (`gate`); {INTERRUPTED} Ctrl-C.""",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"tockmark {__version__}")
        raise typer.Exit(OK)


for verbs in (running, files, judging, showing, conformance, patching, checking):
    verbs.register(app)


def main() -> None:
    """Run the tool; an error is one line, and a trace only with --debug."""
    try:
        paths.check_environment(sys.argv[0])
        app()
    except TockmarkError as error:
        if debugging():
            traceback.print_exc()
        print(f"tockmark: {error}", file=sys.stderr)
        sys.exit(error.code)
    except BrokenPipeError:  # `tockmark table … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OK)
    except Exception as error:
        if debugging():
            raise
        print(
            f"tockmark: unexpected {type(error).__name__}: {error}; --debug shows the trace,"
            " please report it",
            file=sys.stderr,
        )
        sys.exit(UNUSABLE)
