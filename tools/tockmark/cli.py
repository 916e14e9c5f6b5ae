# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line: what each verb takes, and where its output goes."""

import os
import signal
import sys
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tockmark import __version__, paths, profile
from tockmark.commands import conformance, doctor, files, judging, patching, showing
from tockmark.commands.common import AsJson, Debug, debugging, judge
from tockmark.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError
from tockmark.result import result as results
from tockmark.show import listing, table
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target.image import Apps, named, read_kernel
from tockmark.validate import report
from tockmark.validate import row as validated
from tockmark.validate import runner as validation
from tockmark.validate.row import Verdict, load_unexplained

app = typer.Typer(
    name="tockmark",
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    Exit codes: 0 all is well; 1 rows failed or are missing (what was good is kept);
    2 unusable input or wrong usage; 3 a regression (`gate`).""",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    kernel_name: Annotated[
        str | None, typer.Option(help="What to call a kernel that does not say its name.")
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
    abi: Annotated[
        int, typer.Option(min=1, max=2, help="Version of the system-call interface.")
    ] = 2,
    apps: Annotated[
        Path | None,
        typer.Option(help="Folder with other builds of the apps; default: build/apps/c-abi<N>."),
    ] = None,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: on, and again off.")
    ] = None,
    all_samples: Annotated[
        bool, typer.Option("--all-samples", help="Take all samples of the catalogue.")
    ] = False,
    samples: Annotated[
        int | None, typer.Option(min=9, help="Take at most so many samples of a row; default: 64.")
    ] = None,
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
    boots, wanted = run.choose(known, only)
    options = run.Options(
        kernel=named(
            read_kernel(kernel if kernel is not None else profile.kernels[abi]), kernel_name
        ),
        board=profile,
        apps=Apps(apps, abi) if apps is not None else Apps.built(abi),
        boots=boots,
        wanted=wanted,
        icaches=[True, False] if icache is None else [icache is Switch.ON],
        all_samples=all_samples,
        samples=None if all_samples else samples or run.SIMULATED_SAMPLES,
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
    raise typer.Exit(judge(result))


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
    kernel_name: Annotated[
        str | None, typer.Option(help="What to call a kernel that does not say its name.")
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
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show where each cycle of one steady sample goes: by phase, function and cause.

    Writes the tables, folded stacks, a flame graph (SVG) and a listing of the sample.
    Needs what `make profile` builds."""
    profiled = boards.load(board)
    known = catalogue.load()
    id_, params = profile.choose(known, benchmark)
    measured = named(
        read_kernel(kernel if kernel is not None else profiled.kernels[2]), kernel_name
    )
    cached = profiled.target.icache if icache is None else icache is Switch.ON
    folder = output or profile.default_out(id_, params, measured, profiled, cached)
    limit = max_cycles or profiled.target.max_cycles
    options = profile.Options(measured, profiled, cached, id_, params, folder, limit, as_json)
    print(profile.profile(options, known))


files.register(app)
conformance.register(app)
judging.register(app)
patching.register(app)
showing.register(app)


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
    as_json: AsJson = False,
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
        judged = validated.judge(validation.run(parts), load_unexplained())
    data = report.as_json(judged)
    print(report.text(data) if as_json else report.render(judged), end="", flush=True)
    if output is not None:
        results.write_whole({output: report.text(data)})
    wrong = any(item.verdict is Verdict.WRONG for item in judged)
    raise typer.Exit(INCOMPLETE if wrong else OK)


def main() -> None:
    """Run the tool; an error is one line, and a trace only with --debug."""
    try:
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
