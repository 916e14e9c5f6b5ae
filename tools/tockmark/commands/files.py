# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that turn one file into another, or into a table: parse, table, export."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands import completing
from tockmark.commands.choosing import KernelManifest, KernelName, OptLevel, Switch
from tockmark.commands.common import AsJson, Debug, Only, judge, not_a_log, print_json, selected
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.files import write_whole
from tockmark.result import file, parse
from tockmark.result.told import Told
from tockmark.show import export, summary, table
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target import laid
from tockmark.target.image import named, read_kernel
from tockmark.target.kinds.file import settled


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    add(
        app,
        "parse",
        parse_verb,
        Group.MEASURE,
        (
            "tockmark parse uart.log -o uart.json && tockmark table uart.json",
            "tockmark parse uart.log --board cw310 --kernel earlgrey-cw310.elf",
            "tockmark parse loop.log --study",
        ),
        {INCOMPLETE: "rows failed or are missing; what was good is kept"},
    )
    add(
        app,
        "table",
        table_verb,
        Group.SHOW,
        (
            "tockmark table results/a.json",
            "tockmark table a.json b.json  # side by side",
            "tockmark table a.json --all",
            "tockmark table a.json --only 'call.*,mem.copy_asm:size=64'",
            "tockmark table a.json --events",
        ),
        {INCOMPLETE: "a result is incomplete"},
    )
    add(
        app,
        "export",
        export_verb,
        Group.SHOW,
        (
            "tockmark export results/a.json --format csv -o a.csv",
            "tockmark export results/a.json --format bmf > a.bmf",
        ),
        {INCOMPLETE: "a row has an error, and is in csv alone"},
    )


Form = StrEnum("Form", {name.upper(): name for name in export.FORMS})  # type: ignore[misc]


def parse_verb(
    log: Annotated[Path, typer.Argument(help="UART log, kernel messages and all.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Result file; default: LOG with .json.")
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            help="Board profile that it was captured from.",
            autocompletion=completing.one(boards.names),
        ),
    ] = None,
    kernel: Annotated[Path | None, typer.Option(help="ELF of the kernel that ran.")] = None,
    kernel_name: KernelName = None,
    opt_level: OptLevel = None,
    kernel_manifest: KernelManifest = None,
    abi: Annotated[
        int | None, typer.Option(min=1, max=2, help="Version of the interface; the log says it.")
    ] = None,
    icache: Annotated[
        Switch | None,
        typer.Option(help="Cache setting of a log without marks; default: the board's."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Folder that `tockmark image` laid and that was installed: says both."),
    ] = None,
    study: Annotated[
        bool,
        typer.Option("--study", help="The study of 2021 took this log: its kernel, its board."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Turn a captured UART log, ours or of the 2021 study's form, into a result file.

    What is intact is kept, what is missing is named on stderr. With the board and the kernel that
    it is of, compare, gate and agree take the result."""
    path = output if output is not None else log.with_suffix(".json")
    not_a_log(path)
    if output is None and path.exists():  # it may be the run's own, which knows more than its log
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the result with -o")
    known = catalogue.load()
    about = (kernel_name, opt_level, kernel_manifest)
    if kernel is None and any(one is not None for one in about):
        raise TockmarkError("something is said of a kernel, but no kernel is named", "add --kernel")
    ran = named(read_kernel(kernel), *about) if kernel else None
    installed = laid.read(images) if images else None
    if installed is not None:
        installed.suits(known)
        if ran is not None:
            installed.holds(ran)
        ran, board = ran or installed.kernel(), board or installed.manifest.board
    told = Told(
        board=boards.load(board) if board else None,
        kernel=ran,
        abi=abi,
        icache=None if icache is None else icache is Switch.ON,
        images=installed,
        study=study,
    )
    settled(log)
    result = parse.parse(log, known, told)
    write_whole({path: file.text(result)})
    print(f"{len(result.rows)} rows kept: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - known.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    raise typer.Exit(judge(result))


def table_verb(
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    every: Annotated[
        bool, typer.Option("--all", help="Show every row, not one screen of them.")
    ] = False,
    only: Only = None,
    events: Annotated[
        bool,
        typer.Option("--events", help="Show the core's event counters: stalls, loads and others."),
    ] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show what result files cost on one screen; several of them side by side.

    --all shows every row, --only those that are named."""
    known = catalogue.load()
    named = [(paths.shown(path), file.load(path)) for path in files]
    wanted, results = selected(known, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    if events:
        print("\n".join(table.render_events(result, known) for result in results), end="")
    elif as_json:
        print_json(table.as_json(results, known))
    elif not every:
        blocks = summary.chosen(wanted, results) if wanted else None
        print(summary.render(named, known, summary.width_of_terminal(), blocks), end="")
    elif len(named) == 1:
        print(table.render(results[0], known), end="")
    else:
        print(table.render_side_by_side(named, known, summary.width_of_terminal()), end="")
    raise typer.Exit(INCOMPLETE if any(result.incomplete for result in results) else OK)


def export_verb(
    path: Annotated[Path, typer.Argument(metavar="RESULT", help="Result file.")],
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="csv; bmf: Bencher Metric Format; github: github-action-benchmark's "
            "customSmallerIsBetter; lmbench: as in its result files.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File; default: standard output.")
    ] = None,
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Write a result in a form that another tool reads.

    A row with an error is in no form but csv: it is named on stderr."""
    known = catalogue.load()
    _, (result,) = selected(known, only, [file.load(path)])
    text = export.export(result, known, form.value)
    if output is None:
        print(text, end="")
    else:
        write_whole({output: text})
        print(f"written {paths.shown(output)}")
    dropped = export.left_out(result)
    for reason in dropped:
        print(f"tockmark: wrong: {reason}", file=sys.stderr)
    raise typer.Exit(INCOMPLETE if dropped else OK)
