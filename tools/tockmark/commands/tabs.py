# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that runs anybody's apps: run-tab."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.choosing import BoardName, Switch
from tockmark.commands.common import Debug
from tockmark.commands.ending import ended_once
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, INTERRUPTED, OK, TockmarkError
from tockmark.files import folder_for_a_while
from tockmark.target import board as boards
from tockmark.target.board import Board
from tockmark.target.image import read_kernel
from tockmark.target.protocol import Ability, Session, Start, require
from tockmark.target.tabs import lay_tabs
from tockmark.target.tbf import Tbf


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "run-tab",
        run_tab_verb,
        Group.KERNELS,
        (
            "tockmark run-tab --kernel ~/tock/earlgrey-cw310.elf hello.tab",
            "tockmark run-tab ping.tab pong.tab --max-cycles 5000000",
        ),
        {
            OK: "the app ended, the core sleeps for good, or the limit is reached",
            INCOMPLETE: "the kernel panicked or hung",
        },
    )


def run_tab_verb(
    tabs: Annotated[list[Path], typer.Argument(help="TABs, as elf2tab makes them.")],
    kernel: Annotated[
        Path | None, typer.Option(help="ELF of the kernel; default: the baseline's.")
    ] = None,
    board: BoardName = boards.DEFAULT,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: as on the board.")
    ] = None,
    max_cycles: Annotated[int | None, typer.Option(min=1, help="End after so many cycles.")] = None,
    debug: Debug = False,
) -> None:
    """Run any TABs on a kernel and show what they print, until nothing more can come.

    tockloader lays them behind the kernel, as `tockloader install` does. The UART's bytes go to
    stdout; all else is on stderr."""
    profiled = boards.load(board).configured({"max-cycles": max_cycles})
    target = profiled.target
    if icache is not None:
        require(target, Ability.ICACHE, "run with another cache setting", profiled.name)
    if Ability.PARALLEL not in target.can:
        raise TockmarkError(
            f"run-tab does not load {profiled.name}",
            "leave out --board, or let tockloader lay the TABs into a flash file of yours",
        )
    cached = target.icache if icache is None else icache is Switch.ON
    target.ready()
    elf = read_kernel(kernel if kernel is not None else profiled.kernels[2])
    with folder_for_a_while(paths.RUNS) as folder:
        flash = folder / "tabs.flash"
        _say_places(lay_tabs(tabs, elf, profiled, flash))
        raise typer.Exit(_show(profiled, Start("tabs", flash, cached)))


def _say_places(found: list[Tbf]) -> None:
    for one in found:
        if one.name is None:
            _say(f"{one.start:#x}: a gap of {one.length} bytes, at which Tock on Earl Grey panics")
        else:
            _say(f"{one.start:#x}: {one.name}, {one.length} bytes")


def _show(board: Board, start: Start) -> int:
    """Run it, its lines to stdout; the exit code."""
    session = board.target.start(start)
    try:
        with ended_once():
            for line in session.lines():
                sys.stdout.buffer.write(line.encode("latin-1", "replace") + b"\n")
                sys.stdout.buffer.flush()
            return _ended(session)
    except KeyboardInterrupt:
        session.stop()
        session.ending()
        _say("interrupted")
        return INTERRUPTED
    finally:
        session.stop()


def _ended(session: Session) -> int:
    """Say how it ended; the exit code."""
    ending = session.ending()
    fine = ending is None or session.idle
    said = "the suite closed" if ending is None else ending
    if session.idle:
        said = said.partition(":")[0]  # what it means for the suite does not matter here
    _say(f"{said}, after {session.cycles} cycles" if session.cycles else said)
    return OK if fine else INCOMPLETE


def _say(text: str) -> None:
    print(f"tockmark: {text}", file=sys.stderr, flush=True)
