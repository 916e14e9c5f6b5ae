# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that shows a row on a timeline: trace."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Option

from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.files import check_writable, write_whole
from tockmark.latency.chain import alarm_tracks
from tockmark.paths import shown
from tockmark.profile.run import ProfileOptions, default_out
from tockmark.profile.timeline import FORM, chrome
from tockmark.profile.trace import MOST_CYCLES, Window, timeline
from tockmark.rig import board as boards
from tockmark.rig.image import AppBuild
from tockmark.rig.kernel import named, read_kernel
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import only_one


class Around(StrEnum):
    """Around which sample a trace is, where no cycles are given."""

    WORST = "worst"
    MEDIAN = "median"


@verb(
    "tockmark trace --only sched.alarm_lateness:beside=ipc",
    "tockmark trace --kernel tock.elf --only syscall.command --around median -o trace.json",
    "tockmark trace --only sched.preempted --from 1000000 --to 1200000 -o slices.json",
    exits={INCOMPLETE: "the row was not measured, or the run was over before the window"},
)
def trace_verb(
    only: Annotated[
        str,
        options.one_of(
            run_options.benchmarks,
            "A benchmark, with its parameters if it has any: call.args:n=3.",
        ),
    ],
    kernel: run_options.KernelFile = None,
    kernel_name: run_options.KernelName = None,
    kernel_manifest: run_options.KernelManifest = None,
    board: run_options.BoardName = boards.DEFAULT,
    icache: run_options.ICache = None,
    abi: run_options.Abi = 2,
    lang: run_options.OneLanguage = "c",
    around: Annotated[
        Around | None, Option(help="Around which sample; default: the worst.")
    ] = None,
    begin: Annotated[
        int | None, Option("--from", min=0, help="Or else the first cycle since reset.")
    ] = None,
    end: Annotated[
        int | None,
        Option("--to", min=1, help=f"And the last; {MOST_CYCLES:,} cycles at most."),
    ] = None,
    output: Annotated[
        Path | None, options.output_to("File; default: trace.json in build/profile/.")
    ] = None,
    max_cycles: run_options.MaxCycles = None,
    fresh: run_options.Fresh = False,
) -> None:
    """Show one sample of a row on a timeline: apps, phases of the kernel, interrupts, the stages of
    alarms, system calls.

    Simulates the row again, and writes trace events for Perfetto (https://ui.perfetto.dev), which
    shows them without sending them anywhere. Needs what `make profile` builds."""
    if around is not None and (begin is not None or end is not None):
        raise TockmarkError("--around excludes --from and --to", "give one of them")
    profiled = boards.load(board).configured({"max-cycles": max_cycles})
    known = catalogues.load()
    row = only_one(known, only)
    cached = profiled.target.icache if icache is None else icache is options.Switch.ON
    apps = AppBuild.built(abi, run_options.one_language(lang))
    elf = named(read_kernel(kernel or profiled.kernels[abi]), kernel_name, manifest=kernel_manifest)
    out = default_out(*row, elf, profiled, cached, apps.lang)
    path = output or out / "trace.json"
    if output is not None:
        check_writable([output], FORM)
    wanted = ProfileOptions(elf, profiled, apps, cached, *row, out, fresh)
    asked = Window(begin, end, (around or Around.WORST).value)
    found = timeline(wanted, known, asked, alarm_tracks)
    events = chrome(found)
    write_whole({path: events})
    apart = f"{len(found.slices)} slices on {len(found.tracks)} tracks"
    counts = "".join(f", {len(cycles)} {name}" for name, cycles in found.counted.items())
    print(found.title)
    print(f"{apart}, {len(found.instants)} system calls and upcalls{counts}")
    size = f"{len(events.encode()) / 1000:,.0f} kB"
    print(f"written to {shown(path)}, {size}; open it in https://ui.perfetto.dev")
