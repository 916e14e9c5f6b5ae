# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs that look into a run: profile says where the cycles of a row go, latency how long
alarms wait."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Exit, Option

from tockmark.base.errors import INCOMPLETE, OK, REGRESSION, TockmarkError, print_message
from tockmark.base.files import check_folder, check_writable, write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.compare.verdict import Judgement, sorted_verdicts
from tockmark.latency import report as latency_report
from tockmark.latency import run as latency
from tockmark.latency.chain import alarm_tracks
from tockmark.profile import file as profile_file
from tockmark.profile.calls import costs_json, costs_text, count_costs
from tockmark.profile.diff import are_profiles, diff_json, diff_kernels, diff_profiles, diff_text
from tockmark.profile.run import ProfileOptions, default_out, profile
from tockmark.profile.timeline import MOST_CYCLES, Window, write_timeline
from tockmark.show import text
from tockmark.show.judgement import first_line, table_lines
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.selection import single_row
from tockmark.target import board as boards
from tockmark.target.image import AppBuild
from tockmark.target.kernel import read_kernel, with_origin


class Around(StrEnum):
    """Around which sample a timeline is."""

    WORST = "worst"
    MEDIAN = "median"


@dataclass(frozen=True)
class TimelineAsked:
    """The file of a timeline, and which part of the run it shows."""

    perfetto: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write a timeline of one sample instead, for https://ui.perfetto.dev: apps, phases"
            " of the kernel, interrupts, the stages of alarms, system calls.",
        ),
    ] = None
    around: Annotated[
        Around | None, Option(help="With --perfetto: around which sample; default: the worst.")
    ] = None
    begin: Annotated[
        int | None,
        Option("--from", min=0, help="With --perfetto: instead, the first cycle since reset."),
    ] = None
    end: Annotated[
        int | None,
        Option("--to", min=1, help=f"And the last; {MOST_CYCLES:,} cycles at most."),
    ] = None

    def window(self) -> Window:
        """Return the part of the run. TockmarkError if it is given in two ways, or for no file."""
        by_cycles = self.begin is not None or self.end is not None
        if self.perfetto is None and (self.around or by_cycles):
            raise TockmarkError(
                "no --perfetto FILE is given", "it goes with --around, --from, --to"
            )
        if self.around and by_cycles:
            raise TockmarkError("--around excludes --from and --to", "give one of them")
        return Window(self.begin, self.end, (self.around or Around.WORST).value)


@dataclass(frozen=True)
class ProfiledRun:
    """What a row is profiled on."""

    kernel: run_options.KernelFile = None
    kernel_name: run_options.KernelName = None
    kernel_manifest: run_options.KernelManifest = None
    board: run_options.BoardName = boards.DEFAULT
    icache: run_options.ICache = None
    abi: run_options.Abi = 2
    lang: run_options.OneLanguage = "c"
    max_cycles: run_options.MaxCycles = None
    fresh: run_options.Fresh = False

    def options(self, known: Catalogue, benchmark: str | None, out: Path | None) -> ProfileOptions:
        """Return how a benchmark's row is profiled."""
        if benchmark is None:
            raise TockmarkError("no benchmark is named", "`tockmark list` shows all")
        row = single_row(known, benchmark)
        if out is not None:
            check_folder(out)
        board = boards.load(self.board).configured({"max-cycles": self.max_cycles})
        cached = board.target.icache if self.icache is None else self.icache is options.Switch.ON
        apps = AppBuild.built(self.abi, run_options.single_language(self.lang))
        read = read_kernel(self.kernel or board.kernels[self.abi])
        kernel = with_origin(read, self.kernel_name, manifest=self.kernel_manifest)
        out = out or default_out(*row, kernel, board, cached, apps.lang)
        return ProfileOptions(kernel, board, apps, cached, *row, out, self.fresh)

    def on(self, kernel: Path) -> "ProfiledRun":
        """Return the same on another kernel. TockmarkError if one was named here."""
        if self.kernel or self.kernel_name or self.kernel_manifest:
            todo = "leave out --kernel and what says of it"
            raise TockmarkError("--diff names both kernels", todo)
        return replace(self, kernel=kernel)


@verb(
    "tockmark profile syscall.command",
    "tockmark profile call.args:n=3 -o out",
    "tockmark profile syscall.sbrk --functions grant '*::setup_mpu'",
    "tockmark profile syscall.sbrk --callgrind sbrk.callgrind",
    "tockmark profile syscall.sbrk --diff before.elf after.elf",
    "tockmark profile --diff before/profile.json after/profile.json",
    "tockmark profile sched.alarm_lateness:beside=ipc --perfetto alarm.json",
    "tockmark profile sched.preempted --perfetto slices.json --from 1000000 --to 1200000",
    exits={INCOMPLETE: "the row was not measured, or the run was over before --from"},
)
def profile_verb(
    *,
    benchmark: Annotated[
        str | None,
        Argument(
            help="A benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=options.complete_name(run_options.benchmarks),
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        Argument(help="With --functions: patterns of names, or parts: grant '*::enter'."),
    ] = None,
    functions: Annotated[
        bool, Option("--functions", help="Show what a call of each function costs.")
    ] = False,
    whole: Annotated[bool, Option("--whole", help="With --functions: in all of the run.")] = False,
    measured: ProfiledRun,
    output: Annotated[
        Path | None, options.output_option("Folder (default: build/profile/).")
    ] = None,
    callgrind: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write functions, lines and calls for KCachegrind."),
    ] = None,
    compared: Annotated[
        tuple[Path, Path] | None,
        Option(
            "--diff",
            metavar="A B",
            help="Show what is other in B: two kernels, or two profile.json of the same row.",
        ),
    ] = None,
    seen: TimelineAsked,
    as_json: options.AsJson = False,
) -> None:
    """Show where each cycle of one steady sample goes: by phase, function and cause.

    Writes the tables, folded stacks, a flame graph (SVG) and a listing of the sample.
    Needs what `make profile` builds."""
    if not functions and (names or whole):
        given = f"the name {names[0]}" if names else "--whole"
        raise TockmarkError(f"{given} means nothing here", "it goes with --functions")
    apart = {"--diff": compared, "--perfetto": seen.perfetto}
    options.check_exclusive({"--functions": functions, **apart})
    options.check_exclusive({"--callgrind": callgrind, **apart})
    options.check_exclusive({"--perfetto": seen.perfetto, "--json": as_json})
    window, known, sizes = seen.window(), catalogues.load(), None
    if compared is not None:
        if are_profiles(compared, benchmark):
            found = diff_profiles(*map(profile_file.load, compared))
        else:
            base, new = (measured.on(one).options(known, benchmark, output) for one in compared)
            found, sizes = diff_kernels(base, new, known)
        options.show(diff_json(found, sizes) if as_json else f"{diff_text(found, sizes)}\n")
        return
    if callgrind is not None:
        check_writable([callgrind])
    asked = replace(measured.options(known, benchmark, output), callgrind=callgrind)
    if seen.perfetto is not None:
        print(write_timeline(asked, known, window, alarm_tracks, seen.perfetto))
    elif functions:
        counted = count_costs(asked, known, names or (), whole)
        options.show(costs_json(counted) if as_json else f"{costs_text(counted)}\n")
    else:
        kept, text = profile(asked, known)
        print(profile_file.text(kept).rstrip() if as_json else text)


@verb(
    "make profile && tockmark latency",
    "tockmark latency --loads nothing,console --alarms 50",
    "tockmark latency --chain uart",
    "tockmark latency --kernel ~/tock/earlgrey-cw310.elf --opt-level z -o waits.json",
    "tockmark latency --show waits.json",
    "tockmark latency --show after.json --against before.json",
    exits={
        OK: "all came that can",
        INCOMPLETE: "an alarm or a line did not come, or a stage of the kernel is not where it was",
        REGRESSION: "with --against, an alarm waits longer",
    },
)
def latency_verb(
    *,
    kernel: run_options.KernelFile = None,
    claims: run_options.KernelClaims,
    board: run_options.BoardName = boards.DEFAULT,
    icache: run_options.ICache = None,
    alarms: Annotated[
        int, Option(min=1, max=latency.MOST_ALARMS, help="Alarms, or lines, beside each load.")
    ] = latency.ALARMS,
    chain: Annotated[
        Literal["alarm", "uart"],
        Option(help="What waits: an alarm, or a line that the UART has sent."),
    ] = "alarm",
    loads: Annotated[
        str | None,
        options.names_option(
            lambda: [load.name for load in latency.read_loads()],
            "What runs beside, separated by commas; default: all that the kernel can bear.",
        ),
    ] = None,
    shown: Annotated[
        Path | None, Option("--show", help="Show what was stored; run nothing.")
    ] = None,
    base: Annotated[
        Path | None,
        Option("--against", help="What was stored of another kernel: say which waits are worse."),
    ] = None,
    fresh: run_options.Fresh = False,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Store all in a file, too.")] = None,
) -> None:
    """Show how long an alarm is on its way to an app, by stage, beside apps that disturb it; and
    the longest stretches in which interrupts, the kernel's work or other processes wait.

    The kernel runs unchanged: the simulator tells when the core comes by a stage's end. Of the
    worst alarm and of each stretch it says where the cycles went. Needs what `make profile`
    builds."""
    if output is not None:
        check_writable([output], latency_report.FORM)
    before = latency_report.load(base) if base is not None else None
    if shown is not None:
        found = latency_report.load(shown)
    else:
        profiled = boards.load(board)
        elf = claims.read(kernel or profiled.kernels[2])
        cached = profiled.target.icache if icache is None else icache is options.Switch.ON
        names = loads.split(",") if loads is not None else None
        chosen = latency.loads_for(elf, names, chain)
        asked = latency.LatencyOptions(elf, profiled, cached, alarms, chosen, fresh, chain)
        found = latency.measure(asked, print_message)
    options.show(latency_report.as_json(found) if as_json else latency_report.format_report(found))
    if output is not None:
        write_whole({output: latency_report.format_file(found)})
    if before is not None:
        judgement = Judgement(sorted_verdicts(latency_report.wait_verdicts(before, found)))
        if not as_json:
            lines = table_lines(judgement, text.width_of_terminal(), every=True)
            print("\n".join(["", *lines]), flush=True)
        print_message(
            f"{first_line(judgement)}; {found.kernel.title} against {before.kernel.title}"
        )
        raise Exit(judgement.exit_code)
