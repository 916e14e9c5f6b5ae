# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line: what each verb takes, and where its output goes."""

import json
import os
import signal
import sys
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tockmark import __version__, catalogue, doctor, listing, parse, paths, profile, run, table
from tockmark import board as boards
from tockmark import result as results
from tockmark.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError
from tockmark.image import read_kernel
from tockmark.validate import report
from tockmark.validate import runner as validation
from tockmark.validate.row import Verdict, judge, load_unexplained

SHOWN_REASONS = 20  # of an incomplete result, on stderr; the file has them all

app = typer.Typer(
    name="tockmark",
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    Exit codes: 0 all is well; 1 rows failed or are missing (what was good is kept);
    2 unusable input or wrong usage.""",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_debug = False


def _set_debug(value: bool) -> bool:
    global _debug
    _debug = _debug or value
    return value


Debug = Annotated[
    bool, typer.Option("--debug", callback=_set_debug, help="Show the trace of an error.")
]


class Switch(StrEnum):
    """on or off."""

    ON = "on"
    OFF = "off"


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"tockmark {__version__}")
        raise typer.Exit(OK)


@app.command(
    name="run",
    epilog="Examples: `tockmark run`; `tockmark run --only mem,loop.empty`; "
    "`tockmark run --kernel ~/tock/earlgrey-cw310.elf --icache off`; "
    "`tockmark run --machine nexysvideo` after `make sim-nexysvideo kernel-nexysvideo`",
)
def run_verb(
    kernel: Annotated[
        Path | None, typer.Option(help="ELF of the kernel to measure; default: the baseline's.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Groups or benchmark ids, separated by commas.")
    ] = None,
    board: Annotated[
        str, typer.Option(help="Board profile: the name of a file in boards/.")
    ] = boards.DEFAULT,
    machine: Annotated[
        str | None,
        typer.Option(help="Simulated machine, in place of --board: cw310 or nexysvideo."),
    ] = None,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: as on the board.")
    ] = None,
    all_samples: Annotated[
        bool, typer.Option("--all-samples", help="Take all samples, even once they repeat.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Result file; the log goes beside it.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    max_cycles: Annotated[
        int | None, typer.Option(min=1, help="Give an app up after so many cycles.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run the suite and print its table.

    Writes results/<date>-<kernel>-<board>.json, and the UART log beside it as .log.
    A run that is partial or incomplete says so in the name of its files."""
    profile = boards.load(boards.simulated(machine) if machine else board)
    known = catalogue.load()
    groups, wanted = run.choose(known, only)
    options = run.Options(
        kernel=read_kernel(kernel if kernel is not None else profile.kernel),
        board=profile,
        groups=groups,
        wanted=wanted,
        icache=profile.target.icache if icache is None else icache is Switch.ON,
        all_samples=all_samples,
        jobs=jobs or os.cpu_count() or 1,
        max_cycles=max_cycles or profile.target.max_cycles,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    result, log = run.run(options, known)
    path = output if output is not None else run.default_path(options, result)
    print(table.render(result, known), flush=True)
    results.write_whole({path.with_suffix(".log"): log, path: results.text(result)})
    print(
        f"result  {paths.shown(path)}\nlog     {paths.shown(path.with_suffix('.log'))}", flush=True
    )
    raise typer.Exit(_judge(result))


@app.command(
    name="profile",
    epilog="Examples: `tockmark profile syscall.command`; `tockmark profile call.args:n=3 -o out`",
)
def profile_verb(
    benchmark: Annotated[
        str, typer.Argument(help="A benchmark, with its parameters if it has any: call.args:n=3.")
    ],
    kernel: Annotated[
        Path | None, typer.Option(help="ELF of the kernel to profile; default: the baseline's.")
    ] = None,
    board: Annotated[
        str, typer.Option(help="Board profile: the name of a file in boards/.")
    ] = boards.DEFAULT,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: as on the board.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; default: in build/profile/.")
    ] = None,
    max_cycles: Annotated[
        int | None, typer.Option(min=1, help="Give the app up after so many cycles.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Show where each cycle of one steady sample goes: by phase, function and cause.

    Writes the tables, folded stacks, a flame graph (SVG) and a listing of the sample.
    Needs what `make profile` builds."""
    profiled = boards.load(board)
    known = catalogue.load()
    id_, params = profile.choose(known, benchmark)
    measured = read_kernel(kernel if kernel is not None else profiled.kernel)
    cached = profiled.target.icache if icache is None else icache is Switch.ON
    folder = output or profile.default_out(id_, params, measured, profiled, cached)
    limit = max_cycles or profiled.target.max_cycles
    options = profile.Options(measured, profiled, cached, id_, params, folder, limit)
    print(profile.profile(options, known))


@app.command(
    name="parse", epilog="Example: `tockmark parse uart.log -o uart.json`, then `tockmark table`"
)
def parse_verb(
    log: Annotated[Path, typer.Argument(help="UART log, kernel messages and all.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Result file; default: LOG with .json.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Turn a captured UART log into a result file.

    What is intact is kept, what is missing is named on stderr; the exit code is 1 then."""
    path = output if output is not None else log.with_suffix(".json")
    if output is None and path.exists():  # it may be the run's own, which knows more than its log
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the result with -o")
    result = parse.parse(log, catalogue.load())
    results.write_whole({path: results.text(result)})
    print(f"{len(result['rows'])} rows kept: {paths.shown(path)}")
    raise typer.Exit(_judge(result))


@app.command(
    name="table",
    epilog="Examples: `tockmark table results/a.json`; `tockmark table a.json b.json` side by side",
)
def table_verb(
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
    debug: Debug = False,
) -> None:
    """Show result files as a table; several of them side by side."""
    known = catalogue.load()
    named = [(paths.shown(file), results.load(file)) for file in files]
    if as_json:
        print(json.dumps(table.as_json(named, known), indent=1, ensure_ascii=False))
    elif len(named) == 1:
        print(table.render(named[0][1], known), end="")
    else:
        print(table.render_side_by_side(named, known), end="")
    raise typer.Exit(INCOMPLETE if any(results.incomplete(r) for _, r in named) else OK)


@app.command(name="list")
def list_verb(debug: Debug = False) -> None:
    """Show the catalogue: every benchmark, what a sample does, and what is counted."""
    print(listing.render(catalogue.load()), end="")


@app.command(name="doctor")
def doctor_verb(debug: Debug = False) -> None:
    """Show what is installed and built, in which version, and what to do about the rest."""
    findings = doctor.examine()
    print(doctor.render(findings), end="")
    raise typer.Exit(OK if all(finding.good for finding in findings) else INCOMPLETE)


@app.command(
    name="validate",
    epilog="Examples: `tockmark validate`; `tockmark validate --only memory,study`",
)
def validate_verb(
    only: Annotated[
        str | None, typer.Option(help=f"Parts, separated by commas: {', '.join(validation.PARTS)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Store all rows in a file, too.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show a stored validation; run nothing.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Compare the simulator with what others published or measured.

    Builds the simulators that it needs. Exit code 0 only if every row is inside its bound or in
    validation/unexplained.toml with the same measurement."""
    if show is not None:
        judged = report.load(show)
    else:
        parts = validation.choose(only)
        validation.build_simulators(parts)
        judged = judge(validation.run(parts), load_unexplained())
    data = report.as_json(judged)
    print(report.text(data) if as_json else report.render(judged), end="", flush=True)
    if output is not None:
        results.write_whole({output: report.text(data)})
    wrong = any(item.verdict is Verdict.WRONG for item in judged)
    raise typer.Exit(INCOMPLETE if wrong else OK)


def _judge(result: dict[str, Any]) -> int:
    """Name on stderr what is wrong with a result; the exit code that it deserves."""
    reasons = results.incomplete(result)
    for reason in reasons[:SHOWN_REASONS]:
        print(f"tockmark: {reason}", file=sys.stderr)
    if len(reasons) > SHOWN_REASONS:
        print(f"tockmark: and {len(reasons) - SHOWN_REASONS} more", file=sys.stderr)
    return INCOMPLETE if reasons else OK


def main() -> None:
    """Run the tool; an error is one line, and a trace only with --debug."""
    try:
        app()
    except TockmarkError as error:
        if _debug:
            traceback.print_exc()
        print(f"tockmark: {error}", file=sys.stderr)
        sys.exit(error.code)
    except BrokenPipeError:  # `tockmark table … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OK)
    except Exception as error:
        if _debug:
            raise
        print(
            f"tockmark: unexpected {type(error).__name__}: {error}; --debug shows the trace,"
            " please report it",
            file=sys.stderr,
        )
        sys.exit(UNUSABLE)
