# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that only listens: listen."""

import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.common import Debug
from tockmark.commands.verb import NEVER, Group, add
from tockmark.errors import INCOMPLETE, INTERRUPTED, OK, TockmarkError
from tockmark.target.port import GoneError, Port

USUAL_BAUD = 115_200  # of Tock's console on OpenTitan


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "listen",
        listen_verb,
        Group.KERNELS,
        (
            "tockmark listen --port /dev/ttyACM1",
            "tockmark listen --port /dev/ttyACM1 -o uart.log && tockmark parse uart.log",
        ),
        {
            OK: "it ended: Ctrl-C, or --seconds are over",
            INCOMPLETE: "the port is gone; the lines are kept",
            INTERRUPTED: NEVER,
        },
    )


def listen_verb(
    port: Annotated[str, typer.Option(help="Serial port of the board, such as /dev/ttyACM1.")],
    baud: Annotated[int, typer.Option(min=1, help="Its rate.")] = USUAL_BAUD,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="For how long; default: until Ctrl-C.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Log; default: in results/, by its time.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write down what a board says, and show it, until Ctrl-C. Runs and loads nothing.

    Each line is in the log as soon as it is shown; `tockmark parse` reads it."""
    path = output or paths.RESULTS / f"{datetime.now():%Y-%m-%d-%H%M%S}-listen.log"
    opened = Port(port, baud)
    count = 0
    try:
        with path.open("x", encoding="latin-1", newline="\n") as log:
            for line in _lines(opened, seconds):
                log.write(f"{line}\n")
                log.flush()
                print(line if line.isprintable() else repr(line)[1:-1], flush=True)
                count += 1
    except (KeyboardInterrupt, BrokenPipeError):  # `tockmark listen … | head`
        pass
    except FileExistsError as error:
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the log with -o") from (
            error
        )
    except OSError as error:
        raise TockmarkError(
            f"cannot write {paths.shown(path)}: {error.strerror}", "name another log with -o"
        ) from error
    except GoneError as error:
        raise TockmarkError(
            f"the port {port} is gone; {count} lines are kept in {paths.shown(path)}",
            "plug it in and listen again, with another -o",
            INCOMPLETE,
        ) from error
    finally:
        opened.close()
    print(f"{count} lines kept: {paths.shown(path)}", file=sys.stderr)


def _lines(port: Port, seconds: float | None) -> Iterator[str]:
    """What comes, for so long."""
    until = None if seconds is None else time.monotonic() + seconds
    try:
        while until is None or time.monotonic() < until:
            yield from port.read()[0]
    except (GoneError, KeyboardInterrupt):
        yield from port.rest()
        raise
    yield from port.rest()
