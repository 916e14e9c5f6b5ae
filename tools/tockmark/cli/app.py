# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line: it runs the verbs (verb.py) and says in one line what went wrong."""

import io
import os
import sys
import traceback
from typing import Annotated

import typer

from tockmark import __version__, paths
from tockmark.cli.verb import Verbs, debugging
from tockmark.errors import OK, UNUSABLE, TockmarkError, one_line
from tockmark.show import text

app = typer.Typer(
    name="tockmark",
    cls=Verbs,
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    `tockmark VERB --help` says more of a verb, `tockmark help TOPIC` of everything else.""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[
        bool, typer.Option("--version", help="Show version and commit, and exit.")
    ] = False,
) -> None:
    if version:
        sha, changed, _ = (paths.commit_of_checkout() or "").partition(paths.DIRTY)
        commit = f", commit {sha}{', with changes' * bool(changed)}" if sha else ""
        print(f"tockmark {__version__}{commit}")
        raise typer.Exit(OK)


def main() -> None:
    """Run the tool; an error is one line, and a trace only with --debug."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know ASCII only
    try:
        paths.check_environment(sys.argv[0])
        text.choose(sys.stdout)
        try:
            app(prog_name="tockmark")
        finally:
            sys.stdout.flush()  # at the exit a full disk would be told of in a trace
    except TockmarkError as error:
        if debugging():
            traceback.print_exc()
        print(f"tockmark: {one_line(error)}", file=sys.stderr)
        sys.exit(error.code)
    except BrokenPipeError:  # `tockmark table … | head`
        _silence()
        sys.exit(OK)
    except OSError as error:  # which no verb expects: a disk is full, say
        if debugging():
            traceback.print_exc()
        where = error.filename or "the standard output"
        print(f"tockmark: {one_line(f'{where}: {error.strerror}')}", file=sys.stderr)
        _silence()
        sys.exit(UNUSABLE)
    except ImportError:  # __main__ tells
        raise
    except Exception as error:
        if debugging():
            raise
        print(
            f"tockmark: unexpected {type(error).__name__}: {one_line(error)};"
            " --debug shows the trace,"
            " please report it",
            file=sys.stderr,
        )
        sys.exit(UNUSABLE)


def _open_what_is_closed() -> None:
    """Put something in the place of a standard stream that the caller has closed, or the next file
    to be opened would be taken for it. Whoever prints to the standard output learns that it cannot
    be written; what would be said on the standard error is lost."""
    for number, how in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # as the lowest number that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _silence() -> None:
    """Try no more to write to the standard output, at the exit neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
