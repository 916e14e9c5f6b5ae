# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `run`, which measures the suite or a part of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
from typer import Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, INTERRUPTED, TockmarkError, print_message
from tockmark.base.files import write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import table
from tockmark.suite import catalogue as catalogues
from tockmark.suite import selection
from tockmark.suite.catalogue import Boot, Catalogue, CounterName, Lang
from tockmark.suite.selection import Selection, select
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target.board import BoardProfile
from tockmark.target.elf import ISAS, RISC_V
from tockmark.target.image import MAX_LAYOUTS, AppBuild
from tockmark.target.image_folder import ImageFolder, read_folder_to_run
from tockmark.target.kernel import run_layouts
from tockmark.target.log import FileTarget as CapturedLog
from tockmark.target.parse import complete_boots
from tockmark.target.protocol import Ability
from tockmark.target.results import build_result, default_path, unused_path

SOURCES: dict[run.BootSource, str] = {  # of boots that need no run
    "log": "come from the log of --resume",
    "cache": "were simulated before (--fresh repeats them)",
}


def machines() -> list[str]:
    """Return the simulated machines, for completion."""
    return sorted(
        {board.machine for board in map(boards.load, boards.names()) if board.kind == "sim"}
    )


@dataclass(frozen=True)
class RunPlace:
    """The target of `run`, and the images that it boots."""

    board: Annotated[
        str | None,
        options.name_option(boards.names, f"Board profile in boards/ (default: {boards.DEFAULT})."),
    ] = None
    images: Annotated[
        Path | None,
        Option(
            help="Folder made by `tockmark board image`; board, kernel and options come from its"
            " manifest."
        ),
    ] = None
    port: Annotated[str | None, Option(help="Serial port of the board, such as /dev/ttyACM1.")] = (
        None
    )
    baud: Annotated[
        int | None, Option(min=1, help="Baud rate of the port (default: in the board's profile).")
    ] = None
    captured: Annotated[
        Path | None,
        Option("--log", help="With --images: read this captured log instead of a board."),
    ] = None
    resume: Annotated[
        Path | None, Option(help="Resume from this log: skip the boots that are complete in it.")
    ] = None
    machine: Annotated[
        str | None,
        options.name_option(machines, "Simulated machine, instead of --board: cw310, nexysvideo."),
    ] = None
    core: Annotated[
        str | None,
        Option(
            metavar="NAME|DIR",
            help="Core to simulate, built with `make sim CORE=`: a configuration of Ibex, such as"
            " maxperf-pmp, or the folder of your own core (default: the machine's core).",
        ),
    ] = None
    engine: run_options.EngineName = None

    def load_board(self, folder: ImageFolder | None, limits: Mapping[str, object]) -> BoardProfile:
        """Return the board, with the log as its target for --log.

        TockmarkError if the board needs images and --images is missing."""
        name = folder.manifest.board if folder else self.board or boards.DEFAULT
        board = boards.load(boards.simulated_board(self.machine) if self.machine else name)
        own = {"port": self.port, "baud": self.baud, "core": self.core, "engine": self.engine}
        board = board.configured({**limits, **own})
        if self.captured is not None:
            if folder is None:
                raise TockmarkError(
                    "--log needs the images that were run",
                    "add --images DIR, or use `tockmark board parse`",
                )
            target = CapturedLog(self.captured, board.target.icache)
            return msgspec.structs.replace(board, kind="log", target=target)
        if folder is None and Ability.PARALLEL not in board.target.can:
            raise TockmarkError(
                f"--board {board.name} needs a folder of images",
                f"run `tockmark board image --board {board.name} -o DIR`, then add --images DIR",
            )
        return board


@dataclass(frozen=True)
class AppChoice:
    """The builds of the apps that `run` runs."""

    abi: Annotated[
        int | None, Option(min=1, max=2, help="Version of the system-call interface (default: 2).")
    ] = None
    lang: Annotated[
        str | None,
        options.names_option(
            lambda: catalogues.LANGS,
            "Languages of the apps, separated by commas: c, rust (default: c).",
        ),
    ] = None
    short: Annotated[
        str | None,
        Option(
            help="In this language, run only rows of the first screen and rows whose body is"
            " compiled."
        ),
    ] = None
    apps: Annotated[
        Path | None,
        Option(help="Folder of built apps (default: build/apps/<LANG>-abi<N>)."),
    ] = None
    catalogue: options.CatalogueFile = None
    counter: Annotated[
        str | None,
        options.name_option(
            lambda: catalogues.COUNTERS,
            "What the apps read: perf, cyclecount (only cycles) or csr, which faults if user mode"
            " cannot read the counters (default: perf; cyclecount if the kernel has no Perf).",
        ),
    ] = None

    def counters(self, isa: str = RISC_V.name) -> list[CounterName]:
        """Return the counters to try on an architecture, the preferred one first."""
        counters = options.counters(self.counter)
        if counters and self.apps is not None:
            raise TockmarkError("--counter does not go with --apps", "omit --counter")
        if ISAS[isa].counts_cycles_only:
            return counters or [catalogues.CYCLECOUNT]
        only_perf = bool(self.apps or self.catalogue) or self.abi == 1 or self.langs != ["c"]
        return counters or (
            [catalogues.PERF] if only_perf else [catalogues.PERF, catalogues.CYCLECOUNT]
        )

    @property
    def langs(self) -> list[Lang]:
        """The languages of the apps."""
        return options.languages(self.lang or "c")

    def builds(self, catalogue: Catalogue, counter: CounterName, isa: str) -> list[AppBuild]:
        """Return the apps of each language. TockmarkError if --apps is given for several."""
        langs, abi = self.langs, self.abi or 2
        if self.apps is None:
            return [AppBuild.built(abi, lang, counter, catalogue.name, isa) for lang in langs]
        if len(langs) > 1:
            raise TockmarkError(
                f"--apps has apps of one language, but --lang names {len(langs)}",
                "give --lang the language of these apps",
            )
        return [AppBuild(self.apps, abi, langs[0], isa=ISAS[isa])]

    def short_selection(self, catalogue: Catalogue) -> dict[Lang, Selection]:
        """Return the selection of --short by language."""
        langs = self.langs
        if self.short is None:
            return {}
        if self.short not in langs:
            raise TockmarkError(
                f"--short {self.short}: this run has no such language",
                f"choose from --lang: {', '.join(langs)}",
            )
        return {catalogues.parse_language(self.short): selection.short_selection(catalogue)}


@dataclass(frozen=True)
class RunExtent:
    """The number of layouts and samples of `run`."""

    layouts: Annotated[int, Option(min=1, max=MAX_LAYOUTS, help="Run N layouts of the apps.")] = 1
    all_samples: Annotated[
        bool, Option("--all-samples", help="Take all samples that the catalogue asks for.")
    ] = False
    samples: Annotated[
        int | None,
        Option(min=9, help="Take at most N samples per row (default: enough for a stable median)."),
    ] = None


@dataclass(frozen=True)
class RunEffort:
    """The parallelism and the limits of simulation in `run`."""

    fresh: run_options.Fresh = False
    jobs: run_options.Jobs = None
    dask: run_options.Dask = None
    max_cycles: run_options.MaxCycles = None
    uart_cycles: Annotated[
        int | None, Option(min=1, help="Simulate N cycles per UART byte; 2083 is 115200 baud.")
    ] = None
    sram_seed: Annotated[
        int | None, Option(min=0, max=2**32 - 1, help="Fill SRAM from a seed (default: 0, zeros).")
    ] = None

    @property
    def limits(self) -> dict[str, object]:
        """The settings of a board's target."""
        cycles = {"max-cycles": self.max_cycles, "uart-cycles": self.uart_cycles}
        return {**cycles, "sram-seed": self.sram_seed, "dask": self.dask}


@dataclass(frozen=True)
class RunRequest:
    """All options of `run`."""

    kernels: list[Path]
    claims: run_options.KernelClaims
    only: str | None
    place: RunPlace
    apps: AppChoice
    extent: RunExtent
    effort: RunEffort
    icache: options.Switch | None

    def with_images(self, catalogue: Catalogue) -> tuple["RunRequest", ImageFolder | None]:
        """Return the request with the settings of --images, and that folder.

        TockmarkError if an option contradicts the folder."""
        place, apps, extent = self.place, self.apps, self.extent
        if place.images is None:
            return self, None
        claims = {"board": place.board, "apps": apps.apps, "abi": apps.abi}
        claims |= {"machine": place.machine, "samples": extent.samples}
        claims |= {"all_samples": extent.all_samples or None}
        claims |= {"layouts": extent.layouts if extent.layouts > 1 else None, **vars(self.claims)}
        langs = options.languages(apps.lang) if apps.lang else []
        folder = read_folder_to_run(place.images, catalogue, claims, self.kernels, langs)
        samples, lang = folder.manifest.samples, apps.lang or ",".join(folder.langs)
        apps = replace(apps, abi=folder.manifest.abi, lang=lang)
        extent = replace(extent, all_samples=samples is None, samples=samples)
        return replace(self, apps=apps, extent=extent), folder

    def selection(self, catalogue: Catalogue) -> Selection:
        """Return the rows to measure."""
        return replace(select(catalogue, self.only), within=self.apps.short_selection(catalogue))

    def board(self, catalogue: Catalogue, folder: ImageFolder | None) -> BoardProfile:
        """Return the board with its limits."""
        board = self.place.load_board(folder, self.effort.limits)
        if catalogue.silence is not None and board.kind == "sim":
            board = board.configured({"silence": self.effort.max_cycles or catalogue.silence})
        return board

    def settings(self, board: BoardProfile) -> list[bool]:
        """Return the settings of the instruction cache to run.

        If the target cannot switch the cache, the option only labels the log."""
        if self.icache is not None:
            return [self.icache is options.Switch.ON]
        return [True, False] if Ability.ICACHE in board.target.can else [board.target.icache]

    def runs(
        self, catalogue: Catalogue, folder: ImageFolder | None, wanted: Selection
    ) -> list[run.RunOptions]:
        """Return the run, then the run to try if the kernel lacks the counter of the first."""
        board = self.board(catalogue, folder)
        varied = wanted.for_further_layouts()
        paths_ = self.kernels or [board.kernels[self.apps.abi or 2]]
        kernels = (
            [self.claims.read(path) for path in paths_] if folder is None else [folder.kernel()]
        )

        def boots_of(selection: Selection, lang: Lang) -> list[Boot]:
            boots = selection.boots(lang)
            return folder.boots(boots, lang, board, catalogue, self.only) if folder else boots

        run_options_ = run.RunOptions(
            layouts=run_layouts(kernels, self.extent.layouts),
            board=board,
            suites=(),
            catalogue=catalogue,
            icaches=self.settings(board),
            all_samples=self.extent.all_samples,
            samples=self.extent.samples,
            jobs=run_options.parallel_jobs(self.effort.jobs, board),
            fresh=self.effort.fresh,
            images=folder,
            earlier=complete_boots(self.place.resume, catalogue, board)
            if self.place.resume
            else {},
        )
        return [
            replace(
                run_options_,
                suites=tuple(
                    run.Suite(apps, boots_of(wanted, apps.lang), boots_of(varied, apps.lang))
                    for apps in self.apps.builds(catalogue, counter, board.isa)
                ),
            )
            for counter in self.apps.counters(board.isa)[: 1 if folder else None]
        ]


@verb(
    "tockmark run",
    "tockmark run --only kernel,call.args:n=3",
    "tockmark run --kernel ~/tock/earlgrey-cw310.elf --opt-level z --icache off",
    "make sim-nexysvideo kernel-nexysvideo && tockmark run --machine nexysvideo",
    "tockmark run --lang c,rust",
    "tockmark run --only kernel --json > run.json",
    exits={
        INCOMPLETE: "rows failed or are missing; the rest is kept",
        INTERRUPTED: "Ctrl-C; finished rows are kept",
    },
)
def run_verb(
    *,
    kernel: Annotated[
        list[Path] | None,
        Option(
            help="ELF of the kernel to measure (default: the baseline's). Repeat it for further"
            " links of the same source."
        ),
    ] = None,
    claims: run_options.KernelClaims,
    only: options.Only = None,
    place: RunPlace,
    apps: AppChoice,
    icache: run_options.ICaches = None,
    extent: RunExtent,
    output: Annotated[
        Path | None,
        options.output_option("Result file (default: in build/results/)."),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        Option(help="Also show this earlier result, in a column before the run's. Repeatable."),
    ] = None,
    every: options.EveryRow = False,
    effort: RunEffort,
    as_json: options.AsJson = False,
) -> None:
    """Run the suite and print what it costs.

    Writes build/results/<time>-<kernel>-<board>.json and the UART log next to it (.log).
    The file names of a partial or incomplete run say so."""
    before = _check_output(output, place.resume)
    catalogue = catalogues.load(apps.catalogue or paths.CATALOGUE)
    others = [(paths.shown(path), file.load(path)) for path in beside or ()]
    request = RunRequest(kernel or [], claims, only, place, apps, extent, effort, icache)
    request, folder = request.with_images(catalogue)
    wanted = request.selection(catalogue)
    first, *fallbacks = request.runs(catalogue, folder, wanted)
    run.check_selection(first, only)
    with run_options.interruptible_once():
        used, finished = run.run_with_fallback(first, fallbacks)
        run_options.ignore_interrupts()  # until the files are written
        result, log = build_result(finished, used, wanted)
        path = _free(output, before) or default_path(used, result, only, apps.short is not None)
        try:
            if not as_json:  # JSON is printed once the files exist
                _print_sources(finished)
                results = [*others, (paths.shown(path), result)]
                options.show(_screen(results, catalogue, wanted, every))
        finally:  # also if the reader stops: `tockmark run | head`
            kept = options.log_path(path)
            write_whole(({} if kept is None else {kept: log}) | {path: file.text(result)})
    options.print_first(result.incomplete)
    interrupted = finished.interrupted and finished.lost is None
    code = INTERRUPTED if interrupted else options.incomplete_code(result)
    if as_json:
        options.show(_as_json(finished, result, catalogue, path, kept, code))
    else:
        committed = _committed_text(result, used.board.machine) if only is None else ""
        options.show(_ending([name for name, _ in others], path, kept, committed))
    raise Exit(code)


def _check_output(output: Path | None, resume: Path | None) -> int | None:
    """Raise TockmarkError if the result or its log cannot be written, or would replace the log of
    --resume. Return the state of the file that the result will replace."""
    if output is None:
        return None
    log = options.log_path(output)
    for path in filter(Path.is_file, (output, log or output)):
        if any(os.path.samestat(os.fstat(stream), path.stat()) for stream in (1, 2)):
            raise TockmarkError(
                f"{paths.shown(path)}: this command's output goes there, and -o also writes it",
                "give -o another name",
            )
    if log is not None and resume is not None and log.resolve() == resume.resolve():
        raise TockmarkError(
            f"{paths.shown(log)}: --resume reads this log, and -o would replace it",
            "give -o another name",
        )
    return _state(output)


def _state(path: Path) -> int | None:
    """Return a number that changes when a file is written; None if there is no file."""
    return path.stat().st_mtime_ns if path.is_file() else None


def _free(output: Path | None, before: int | None) -> Path | None:
    """Return the path for -o, or a new one if another run wrote the file during this run."""
    if output is None or _state(output) == before:
        return output
    path = unused_path(output.with_suffix(""))
    print_message(f"another run wrote {paths.shown(output)}; this result is {paths.shown(path)}")
    return path


def _ending(others: list[str], path: Path, kept: Path | None, committed: str) -> str:
    """Return which files the columns came from and which were written, and the comparison with the
    committed run."""
    files = f"earlier {', '.join(others)}: read from files, not measured now\n" if others else ""
    log = paths.shown(kept) if kept else "none for a pipe or device"
    return f"{files}result  {paths.shown(path)}\nlog     {log}\n{committed}"


def _committed_text(result: Result, machine: str) -> str:
    """Return how a run of the baseline compares with the committed one, if there is one."""
    kernel, version = result.provenance.kernel, "-v1" if result.provenance.abi == 1 else ""
    path = paths.RESULTS / f"baseline{version}-{machine}.json"
    if not kernel.is_baseline or not path.is_file():
        return ""
    committed = file.load(path)
    if committed.table.keys() != result.table.keys():
        return ""
    differing = sum(
        row.samples != committed.table[key].samples for key, row in result.table.items()
    )
    count, name = len(result.table), paths.shown(path)
    if not differing:
        return f"same    as the committed run, {name}: every sample of {count} rows\n"
    same = kernel.sha256 == committed.provenance.kernel.sha256
    why = "" if same else ", of another kernel"
    return f"differs from the committed run, {name}{why}: {differing} of {count} rows\n"


def _print_sources(finished: run.FinishedRun) -> None:
    """Print how many boots came from the cache or from a log."""
    for source, count in finished.boots_by_source.items():
        if count:
            note = "; nothing was simulated" * (count == finished.started)
            print(f"{source:7} {count} of {finished.started} boots {SOURCES[source]}{note}")


def _screen(
    results: list[tuple[str, Result]], catalogue: Catalogue, wanted: Selection, every: bool
) -> str:
    """Return the output of a run; its result is the last of `results`."""
    *others, (_, own) = results
    if every:
        return table.every_row(own, catalogue)
    named_rows = bool(wanted) or catalogue.name is not None
    blocks = table.selected_blocks(wanted, [own]) if named_rows else None
    langs = own.langs if named_rows and not others else None
    return table.first_screen(results, catalogue, blocks=blocks, langs=langs)


def _as_json(
    finished: run.FinishedRun,
    result: Result,
    catalogue: Catalogue,
    path: Path,
    kept: Path | None,
    code: int,
) -> dict[str, object]:
    return {
        "result": paths.shown(path),
        "log": None if kept is None else paths.shown(kept),
        "exit_code": code,
        "incomplete": result.incomplete,
        "boots": {"all": finished.started} | dict(finished.boots_by_source),
        "rows": table.as_json([result], catalogue),
    }
