# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs profile, which breaks down the cycles of a row, and latency, which traces alarms."""

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
from tockmark.latency import FORM
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
    """The sample that a timeline shows."""

    WORST = "worst"
    MEDIAN = "median"


@dataclass(frozen=True)
class TimelineOptions:
    """The file of a timeline, and the part of the run that it shows."""

    perfetto: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write a timeline of one sample for https://ui.perfetto.dev: apps, phases of the"
            " kernel, interrupts, stages of alarms, system calls.",
        ),
    ] = None
    around: Annotated[
        Around | None, Option(help="With --perfetto: the sample to show (default: worst).")
    ] = None
    begin: Annotated[
        int | None,
        Option("--from", min=0, help="With --perfetto: show from this cycle since reset."),
    ] = None
    end: Annotated[
        int | None,
        Option("--to", min=1, help=f"Last cycle to show, at most {MOST_CYCLES:,} after --from."),
    ] = None

    def window(self) -> Window:
        """Return the part of the run. TockmarkError if the options contradict each other."""
        by_cycles = self.begin is not None or self.end is not None
        if self.perfetto is None and (self.around or by_cycles):
            raise TockmarkError("--around, --from and --to need a timeline", "add --perfetto FILE")
        if self.around and by_cycles:
            raise TockmarkError("--around excludes --from and --to", "give only one")
        return Window(self.begin, self.end, (self.around or Around.WORST).value)


@dataclass(frozen=True)
class ProfiledRun:
    """The kernel, apps and board to profile a row on."""

    kernel: run_options.KernelFile = None
    kernel_name: run_options.KernelName = None
    kernel_manifest: run_options.KernelManifest = None
    board: run_options.BoardName = boards.DEFAULT
    engine: run_options.EngineName = None
    icache: run_options.ICache = None
    abi: run_options.Abi = 2
    lang: run_options.OneLanguage = "c"
    max_cycles: run_options.MaxCycles = None
    fresh: run_options.Fresh = False

    def options(
        self, catalogue: Catalogue, benchmark: str | None, out: Path | None
    ) -> ProfileOptions:
        """Return the options to profile a benchmark."""
        if benchmark is None:
            raise TockmarkError("profile needs a benchmark", "`tockmark list` shows all")
        row = single_row(catalogue, benchmark)
        if out is not None:
            check_folder(out)
        settings = {"max-cycles": self.max_cycles, "engine": self.engine}
        board = boards.load(self.board).configured(settings)
        cached = board.target.icache if self.icache is None else self.icache is options.Switch.ON
        apps = AppBuild.built(self.abi, run_options.single_language(self.lang))
        read = read_kernel(self.kernel or board.kernels[self.abi])
        kernel = with_origin(read, self.kernel_name, manifest=self.kernel_manifest)
        out = out or default_out(*row, kernel, board, cached, apps.lang)
        return ProfileOptions(kernel, board, apps, cached, *row, out, self.fresh)

    def on(self, kernel: Path) -> "ProfiledRun":
        """Return the same run on another kernel. TockmarkError if --kernel is also given."""
        if self.kernel or self.kernel_name or self.kernel_manifest:
            todo = "omit --kernel, --kernel-name and --kernel-manifest"
            raise TockmarkError("--diff already names both kernels", todo)
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
    exits={INCOMPLETE: "the row was not measured, or the run ended before --from"},
)
def profile_verb(
    *,
    benchmark: Annotated[
        str | None,
        Argument(
            help="Benchmark with its parameters, such as call.args:n=3.",
            autocompletion=options.complete_name(run_options.benchmarks),
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        Argument(help="With --functions: patterns or parts of names, such as grant '*::enter'."),
    ] = None,
    functions: Annotated[
        bool, Option("--functions", help="Show the cost of a call of each function.")
    ] = False,
    whole: Annotated[bool, Option("--whole", help="With --functions: over the whole run.")] = False,
    measured: ProfiledRun,
    output: Annotated[
        Path | None, options.output_option("Folder (default: in build/profile/).")
    ] = None,
    callgrind: Annotated[
        Path | None,
        Option(metavar="FILE", help="Also write functions, lines and calls for KCachegrind."),
    ] = None,
    compared: Annotated[
        tuple[Path, Path] | None,
        Option(
            "--diff",
            metavar="A B",
            help="Compare two kernels, or two profile.json files of the same row.",
        ),
    ] = None,
    timeline: TimelineOptions,
    as_json: options.AsJson = False,
) -> None:
    """Break down the cycles of one steady sample by phase, function and cause.

    Writes tables, folded stacks, a flame graph (SVG) and a listing of the sample. Run
    `make profile` first."""
    if not functions and (names or whole):
        argument = f"the name {names[0]}" if names else "--whole"
        raise TockmarkError(f"{argument} needs --functions", "add --functions")
    modes = {"--diff": compared, "--perfetto": timeline.perfetto}
    options.check_exclusive({"--functions": functions, **modes})
    options.check_exclusive({"--callgrind": callgrind, **modes})
    options.check_exclusive({"--perfetto": timeline.perfetto, "--json": as_json})
    window, catalogue, sizes = timeline.window(), catalogues.load(), None
    if compared is not None:
        if are_profiles(compared, benchmark):
            diff = diff_profiles(*map(profile_file.load, compared))
        else:
            base, new = (measured.on(elf).options(catalogue, benchmark, output) for elf in compared)
            diff, sizes = diff_kernels(base, new, catalogue)
        options.show(diff_json(diff, sizes) if as_json else f"{diff_text(diff, sizes)}\n")
        return
    if callgrind is not None:
        check_writable([callgrind])
    request = replace(measured.options(catalogue, benchmark, output), callgrind=callgrind)
    if timeline.perfetto is not None:
        print(write_timeline(request, catalogue, window, alarm_tracks, timeline.perfetto))
    elif functions:
        call_costs = count_costs(request, catalogue, names or (), whole)
        options.show(costs_json(call_costs) if as_json else f"{costs_text(call_costs)}\n")
    else:
        stored, text = profile(request, catalogue)
        print(profile_file.text(stored).rstrip() if as_json else text)


@verb(
    "make profile && tockmark latency",
    "tockmark latency --loads nothing,console --alarms 50",
    "tockmark latency --chain uart",
    "tockmark latency --kernel ~/tock/earlgrey-cw310.elf --opt-level z -o waits.json",
    "tockmark latency --show waits.json",
    "tockmark latency --show after.json --against before.json",
    exits={
        OK: "measured; `>` before a wait: the upcall had not come when the boot ended",
        INCOMPLETE: "a boot ended without all its alarms, or no alarm reached the end of a stage",
        REGRESSION: "with --against: an alarm waits longer",
    },
)
def latency_verb(
    *,
    kernel: run_options.KernelFile = None,
    claims: run_options.KernelClaims,
    board: run_options.BoardName = boards.DEFAULT,
    engine: run_options.EngineName = None,
    icache: run_options.ICache = None,
    alarms: Annotated[
        int,
        Option(min=1, max=latency.MOST_ALARMS, help="Measure N alarms or lines per load."),
    ] = latency.ALARMS,
    chain: Annotated[
        Literal["alarm", "uart"],
        Option(help="Event to trace: an alarm, or a line that the UART sent."),
    ] = "alarm",
    loads: Annotated[
        str | None,
        options.names_option(
            lambda: [load.name for load in latency.read_loads()],
            "Loads, separated by commas (default: all that the kernel supports).",
        ),
    ] = None,
    shown: Annotated[
        Path | None, Option("--show", help="Show a stored file instead of running.")
    ] = None,
    base: Annotated[
        Path | None,
        Option("--against", help="Compare with this stored file of another kernel."),
    ] = None,
    fresh: run_options.Fresh = False,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store the waits here.")] = None,
) -> None:
    """Show how long an alarm takes to reach an app, by stage and under load, and the longest times
    that interrupts, kernel work and other processes wait.

    The kernel is not modified: the simulator reports when the core reaches the end of a stage. For
    the worst alarm and the longest waits the output shows where the cycles went. Run `make profile`
    first."""
    if output is not None:
        check_writable([output], FORM)
    before = latency_report.load(base) if base is not None else None
    if shown is not None:
        waits = latency_report.load(shown)
    else:
        profiled = boards.load(board).configured({"engine": engine})
        elf = claims.read(kernel or profiled.kernels[2])
        cached = profiled.target.icache if icache is None else icache is options.Switch.ON
        names = loads.split(",") if loads is not None else None
        chosen = latency.loads_for(elf, names, chain)
        request = latency.LatencyOptions(elf, profiled, cached, alarms, chosen, fresh, chain)
        waits = latency.measure(request, print_message)
    options.show(waits if as_json else latency_report.format_report(waits))
    if output is not None:
        write_whole({output: latency_report.format_file(waits)})
    if before is not None:
        judgement = Judgement(sorted_verdicts(latency_report.wait_verdicts(before, waits)))
        if not as_json:
            lines = table_lines(judgement, text.width_of_terminal(), every=True)
            print("\n".join(["", *lines]), flush=True)
        print_message(
            f"{first_line(judgement)}; {waits.kernel.title} against {before.kernel.title}"
        )
        raise Exit(judgement.exit_code)
