# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `judge`: from two kernels to a verdict on the change between them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.choosing import Abi, BoardName, Switch
from tockmark.commands.common import AsJson, Debug, print_json
from tockmark.commands.ending import ended_once
from tockmark.files import check_writable, write_whole
from tockmark.judge import gate
from tockmark.judging import engine, markdown, report, sides, where
from tockmark.judging.explain import explained
from tockmark.judging.sides import How, Simulated
from tockmark.suite import catalogue as catalogues
from tockmark.suite.select import select
from tockmark.target import board as boards
from tockmark.target.image import Apps, Kernel, read_kernel
from tockmark.target.protocol import Ability, require
from tockmark.tree.links import Given

LONGEST = 12  # digits of a hash in a folder's name


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    app.command(
        name="judge",
        epilog="Examples: `tockmark judge --base old.elf --head new.elf`; `tockmark judge --base"
        " old1.elf --base old2.elf --head new1.elf --head new2.elf --markdown comment.md`. Exit"
        " codes: 0 pass; 1 beyond a soft limit, or something is missing; 2 unusable input, or a"
        " kernel panicked; 3 regression: beyond a hard limit, or a row is gone. What was simulated"
        " is kept: the same command goes on from there.",
    )(judge_verb)


def judge_verb(
    base: Annotated[
        list[Path],
        typer.Option(
            help="ELF of the kernel before the change. May be given again for links of the same"
            " source that differ in layout only."
        ),
    ],
    head: Annotated[list[Path], typer.Option(help="The same of the kernel with the change.")],
    only: Annotated[
        str | None,
        typer.Option(help=f"Which rows, as for --only elsewhere; default: {sides.DEFAULT}."),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--links", min=1, help="Of a side at most so many links, for rows in doubt."),
    ] = engine.LINKS,
    limits: Annotated[
        Path | None, typer.Option(help="TOML file with limits; docs/comparing.md has the default.")
    ] = None,
    profiles: Annotated[
        int, typer.Option(min=0, help="Of so many rows that moved say where, by profiles.")
    ] = where.ROWS,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: on, and again off.")
    ] = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    samples: Annotated[
        int, typer.Option(min=9, help="At most so many samples of a row.")
    ] = sides.SAMPLES,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Simulate also what was simulated before.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for what is kept; default: in build/judge/."),
    ] = None,
    comment: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a comment for a pull request to this file, too."),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Judge a change of a kernel: which rows it moves, for certain, and where."""
    if comment is not None:
        check_writable([comment])
    known = catalogues.load()
    profiled = boards.load(board)
    require(profiled.target, Ability.PARALLEL, "judge", profiled.name)
    rules = gate.load_limits(limits, known)
    wanted = select(known, only or sides.DEFAULT)
    kernels = [read_kernel(elves[0]) for elves in (base, head)]
    folder = output or default_folder(kernels)
    how = How(
        board=profiled,
        apps=Apps.built(abi),
        catalogue=known,
        icaches=(True, False) if icache is None else (icache is Switch.ON,),
        samples=samples,
        jobs=jobs or os.cpu_count() or 1,
        fresh=fresh,
    )
    of_both = [
        Simulated(name, Given(tuple(elves)), how, folder)
        for name, elves in (("base", base), ("head", head))
    ]
    with ended_once():
        judged = engine.judge(of_both[0], of_both[1], wanted, rules, most)
        found = explained(judged, kernels, how, folder, profiles)
    if comment is not None:
        write_whole({comment: markdown.markdown(found)})
    if as_json:
        print_json(report.as_json(found))
    else:
        print(report.render(found), end="")
    raise typer.Exit(found.exit_code)


def default_folder(kernels: list[Kernel]) -> Path:
    """Where a judgement of these kernels is kept."""
    return paths.JUDGED / "-".join(kernel.sha256[:LONGEST] for kernel in kernels)
