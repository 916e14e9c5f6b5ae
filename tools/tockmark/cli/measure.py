# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that runs the suite, or a part of it: run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
from typer import Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, INTERRUPTED, TockmarkError
from tockmark.base.files import write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import table, text
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
from tockmark.target.results import build_result, default_path

SOURCES: dict[run.BootSource, str] = {  # from which a boot may be taken in place of a run
    "log": "are in --resume's log",
    "cache": "were simulated before (--fresh ignores that)",
}


def machines() -> list[str]:
    """Return the machines that are simulated, for the shell to complete."""
    return sorted({one.machine for one in map(boards.load, boards.names()) if one.kind == "sim"})


@dataclass(frozen=True)
class RunPlace:
    """Where `run` runs boots, and from which images."""

    board: Annotated[
        str | None,
        options.name_option(boards.names, f"Board profile in boards/; default: {boards.DEFAULT}."),
    ] = None
    images: Annotated[
        Path | None, Option(help="Folder that `tockmark board image` made, with all that it says.")
    ] = None
    port: Annotated[str | None, Option(help="Serial port of the board: /dev/ttyACM1.")] = None
    baud: Annotated[
        int | None, Option(min=1, help="Its rate; default: as in the board's profile.")
    ] = None
    captured: Annotated[
        Path | None,
        Option("--log", help="With --images, in the board's place: a log captured of it."),
    ] = None
    resume: Annotated[
        Path | None, Option(help="Log of a run: do not run again what it has whole.")
    ] = None
    machine: Annotated[
        str | None,
        options.name_option(machines, "Simulated machine instead of --board: cw310 or nexysvideo."),
    ] = None

    core: Annotated[
        str | None,
        Option(
            metavar="NAME|DIR",
            help="Core in the place of the machine's own, as `make sim CORE=` built it: a"
            " configuration of Ibex, such as maxperf-pmp, or the folder of a core of yours.",
        ),
    ] = None

    def loaded(self, laid: ImageFolder | None, limits: Mapping[str, object]) -> BoardProfile:
        """Return the board, or what stands in its place. TockmarkError if its images are not there
        and nothing makes them on the way."""
        own = laid.manifest.board if laid else self.board or boards.DEFAULT
        board = boards.load(boards.simulated_board(self.machine) if self.machine else own)
        board = board.configured(
            {**limits, "port": self.port, "baud": self.baud, "core": self.core}
        )
        if self.captured is not None:
            if laid is None:
                raise TockmarkError(
                    "--log alone tells no boots", "give their --images, or use `parse`"
                )
            target = CapturedLog(self.captured, board.target.icache)
            return msgspec.structs.replace(board, kind="log", target=target)
        if laid is None and Ability.PARALLEL not in board.target.can:
            raise TockmarkError(
                f"{board.name} is loaded boot by boot, from images that must be there",
                f"lay them with `tockmark board image --board {board.name} -o DIR`, then give"
                " --images DIR",
            )
        return board


@dataclass(frozen=True)
class AppChoice:
    """Which builds of the apps `run` runs, and how much of each."""

    abi: Annotated[
        int | None, Option(min=1, max=2, help="Version of the system-call interface; default: 2.")
    ] = None
    lang: Annotated[
        str | None,
        options.names_option(
            lambda: catalogues.LANGS,
            "Languages of the apps, separated by commas: c, rust; default: c.",
        ),
    ] = None
    short: Annotated[
        str | None,
        Option(
            help="Of this language only the rows of the first screen, and those whose body its"
            " compiler makes."
        ),
    ] = None
    apps: Annotated[
        Path | None,
        Option(help="Folder with other builds of the apps; default: build/apps/<LANG>-abi<N>."),
    ] = None
    catalogue: options.CatalogueFile = None
    counter: Annotated[
        str | None,
        options.name_option(
            lambda: catalogues.COUNTERS,
            "What the apps read: perf, cyclecount (cycles alone), or csr, which faults where user"
            " mode may not; default: perf, or cyclecount if the kernel has no Perf.",
        ),
    ] = None

    def counters(self, isa: str = RISC_V.name) -> list[CounterName]:
        """Return what the apps of an architecture may read, the first that the kernel has."""
        given = options.counters(self.counter)
        if given and self.apps is not None:
            raise TockmarkError("the folder of --apps has apps of one kind", "leave out --counter")
        if ISAS[isa].counts_cycles_only:
            return given or [catalogues.CYCLECOUNT]
        only = bool(self.apps or self.catalogue) or self.abi == 1 or self.langs != ["c"]
        return given or ([catalogues.PERF] if only else [catalogues.PERF, catalogues.CYCLECOUNT])

    @property
    def langs(self) -> list[Lang]:
        """The languages of the apps."""
        return options.languages(self.lang or "c")

    def builds(self, known: Catalogue, counter: CounterName, isa: str) -> list[AppBuild]:
        """Return the apps of each language; of one alone a folder may be given."""
        langs, abi = self.langs, self.abi or 2
        if self.apps is None:
            return [AppBuild.built(abi, lang, counter, known.name, isa) for lang in langs]
        if len(langs) > 1:
            raise TockmarkError(
                f"--apps gives apps of one language, but --lang names {len(langs)}",
                "name the one that they are written in",
            )
        return [AppBuild(self.apps, abi, langs[0], isa=ISAS[isa])]

    def shortened(self, known: Catalogue) -> dict[Lang, Selection]:
        """Return what --short leaves of a language."""
        langs = self.langs
        if self.short is None:
            return {}
        if self.short not in langs:
            raise TockmarkError(
                f"--short {self.short} names no language of this run",
                f"--lang names {', '.join(langs)}",
            )
        return {catalogues.language(self.short): selection.short(known)}


@dataclass(frozen=True)
class RunExtent:
    """How many layouts and samples `run` measures."""

    layouts: Annotated[
        int, Option(min=1, max=MAX_LAYOUTS, help="In how many layouts of the apps.")
    ] = 1
    all_samples: Annotated[
        bool, Option("--all-samples", help="Take all samples of the catalogue.")
    ] = False
    samples: Annotated[
        int | None,
        Option(
            min=9, help="Take at most so many samples of a row; default: as many as are enough."
        ),
    ] = None


@dataclass(frozen=True)
class RunEffort:
    """How `run` simulates: how many boots at a time, where, and how long."""

    fresh: run_options.Fresh = False
    jobs: run_options.Jobs = None
    dask: run_options.Dask = None
    max_cycles: Annotated[
        int | None, Option(min=1, help="Give an app up after so many cycles.")
    ] = None
    uart_cycles: Annotated[
        int | None, Option(min=1, help="Simulated cycles of a byte on the UART; 2083: 115200 baud.")
    ] = None

    @property
    def limits(self) -> dict[str, object]:
        """What a board's target is configured with."""
        cycles = {"max-cycles": self.max_cycles, "uart-cycles": self.uart_cycles}
        return {**cycles, "dask": self.dask}


@dataclass(frozen=True)
class RunAsked:
    """What `run` measures, and how: the options together."""

    kernels: list[Path]
    claims: run_options.KernelClaims
    only: str | None
    place: RunPlace
    apps: AppChoice
    extent: RunExtent
    effort: RunEffort
    icache: options.Switch | None

    def with_images(self, known: Catalogue) -> tuple["RunAsked", ImageFolder | None]:
        """Return the same with all that the folder of --images says, and the folder. TockmarkError
        if an option contradicts it."""
        place, apps, extent = self.place, self.apps, self.extent
        if place.images is None:
            return self, None
        given = {"board": place.board, "machine": place.machine, "abi": apps.abi, "apps": apps.apps}
        given |= {"samples": extent.samples, "all_samples": extent.all_samples or None}
        given |= {"layouts": extent.layouts if extent.layouts > 1 else None, **vars(self.claims)}
        langs = options.languages(apps.lang) if apps.lang else []
        laid = read_folder_to_run(place.images, known, given, self.kernels, langs)
        samples, lang = laid.manifest.samples, apps.lang or ",".join(laid.langs)
        apps = replace(apps, abi=laid.manifest.abi, lang=lang)
        extent = replace(extent, all_samples=samples is None, samples=samples)
        return replace(self, apps=apps, extent=extent), laid

    def meant(self, known: Catalogue) -> Selection:
        """Return the rows that are measured."""
        return replace(select(known, self.only), within=self.apps.shortened(known))

    def board(self, known: Catalogue, laid: ImageFolder | None) -> BoardProfile:
        """Return the board, or what stands in its place."""
        board = self.place.loaded(laid, self.effort.limits)
        if known.silence is not None and board.kind == "sim":
            board = board.configured({"silence": self.effort.max_cycles or known.silence})
        return board

    def settings(self, board: BoardProfile) -> list[bool]:
        """Return the settings of the instruction cache in which to run. Where it cannot be
        switched, what is given is a statement, which stands in the log."""
        if self.icache is not None:
            return [self.icache is options.Switch.ON]
        return [True, False] if Ability.ICACHE in board.target.can else [board.target.icache]

    def runs(
        self, known: Catalogue, laid: ImageFolder | None, wanted: Selection
    ) -> list[run.RunOptions]:
        """Return the run that is asked for, and the one to try where the kernel lacks what its apps
        read, if there is one."""
        board = self.board(known, laid)
        varied = wanted.for_further_layouts()
        paths_ = self.kernels or [board.kernels[self.apps.abi or 2]]
        kernels = [self.claims.read(path) for path in paths_] if laid is None else [laid.kernel()]

        def meant(selection: Selection, lang: Lang) -> list[Boot]:
            boots = selection.boots(lang)
            return laid.boots(boots, lang, board, known, self.only) if laid else boots

        found = run.RunOptions(
            layouts=run_layouts(kernels, self.extent.layouts),
            board=board,
            suites=(),
            catalogue=known,
            icaches=self.settings(board),
            all_samples=self.extent.all_samples,
            samples=self.extent.samples,
            jobs=run_options.parallel_jobs(self.effort.jobs, board),
            fresh=self.effort.fresh,
            images=laid,
            earlier=complete_boots(self.place.resume, known, board) if self.place.resume else {},
        )
        return [
            replace(
                found,
                suites=tuple(
                    run.Suite(built, meant(wanted, built.lang), meant(varied, built.lang))
                    for built in self.apps.builds(known, counter, board.isa)
                ),
            )
            for counter in self.apps.counters(board.isa)[: 1 if laid else None]
        ]


@verb(
    "tockmark run",
    "tockmark run --only kernel,call.args:n=3",
    "tockmark run --kernel ~/tock/earlgrey-cw310.elf --opt-level z --icache off",
    "make sim-nexysvideo kernel-nexysvideo && tockmark run --machine nexysvideo",
    "tockmark run --lang c,rust",
    "tockmark run --only kernel --json > run.json",
    exits={
        INCOMPLETE: "rows failed or are missing; what was good is kept",
        INTERRUPTED: "Ctrl-C; what was measured is kept",
    },
)
def run_verb(
    *,
    kernel: Annotated[
        list[Path] | None,
        Option(
            help="ELF of the kernel to measure; default: the baseline's. May be given again for "
            "links of one source that differ in layout only."
        ),
    ] = None,
    claims: run_options.KernelClaims,
    only: options.Only = None,
    place: RunPlace,
    apps: AppChoice,
    icache: run_options.ICaches = None,
    extent: RunExtent,
    output: Annotated[
        Path | None, options.output_option("Result file; the log goes beside it.")
    ] = None,
    beside: Annotated[
        list[Path] | None, Option(help="Show the new run beside this result; may be given again.")
    ] = None,
    every: options.EveryRow = False,
    effort: RunEffort,
    as_json: options.AsJson = False,
) -> None:
    """Run the suite and print what it costs.

    Writes build/results/<time>-<kernel>-<board>.json, and the UART log beside it as .log.
    A run that is partial or incomplete says so in the name of its files."""
    _check_output(output, place.resume)
    known = catalogues.load(apps.catalogue or paths.CATALOGUE)
    others = [(paths.shown(path), file.load(path)) for path in beside or ()]
    given = RunAsked(kernel or [], claims, only, place, apps, extent, effort, icache)
    asked, laid = given.with_images(known)
    wanted = asked.meant(known)
    first, *instead = asked.runs(known, laid, wanted)
    run.check_selection(first, only)
    with run_options.interruptible_once():
        used, ran = run.run_with_fallback(first, instead)
        run_options.ignore_interrupts()  # before all is written
        result, log = build_result(ran, used, wanted)
        path = output or default_path(used, result, only, apps.short is not None)
        try:
            if not as_json:  # JSON comes when the files are there
                _print_sources(ran)
                results = [(paths.shown(path), result), *others]
                print(_screen(results, known, wanted, every), flush=True)
        finally:  # also if nobody reads on: `tockmark run | head`
            kept = options.log_path(path)
            write_whole(({} if kept is None else {kept: log}) | {path: file.text(result)})
    options.print_first(result.incomplete)
    interrupted = ran.interrupted and ran.lost is None
    code = INTERRUPTED if interrupted else options.incomplete_code(result)
    if as_json:
        options.show(_as_json(ran, result, known, path, kept, code))
    else:
        print(f"result  {paths.shown(path)}")
        print(f"log     {paths.shown(kept) if kept else 'none: the result goes to no file'}")
    raise Exit(code)


def _check_output(output: Path | None, resume: Path | None) -> None:
    """TockmarkError, before anything runs, if the result cannot be written or its log would replace
    that of --resume."""
    log = None if output is None else options.log_path(output)
    if log is not None and resume is not None and log.resolve() == resume.resolve():
        raise TockmarkError(
            f"{paths.shown(log)} would be replaced while --resume goes on from it",
            "name another result with -o",
        )


def _print_sources(ran: run.FinishedRun) -> None:
    """Say how many boots came from the cache or from a log."""
    for source, count in ran.boots_by_source.items():
        if count:
            none = ", and nothing was simulated now" * (count == ran.started)
            print(f"{source:7} {count} of {ran.started} boots {SOURCES[source]}{none}")


def _screen(
    results: list[tuple[str, Result]], known: Catalogue, wanted: Selection, every: bool
) -> str:
    """Return what is printed of a run, whose result is the first one."""
    if every:
        return table.every_row(results[0][1], known)
    named_rows = bool(wanted) or known.name is not None
    blocks = table.selected_blocks(wanted, [results[0][1]]) if named_rows else None
    return table.first_screen(results, known, text.width_of_terminal(), blocks)


def _as_json(
    ran: run.FinishedRun, result: Result, known: Catalogue, path: Path, kept: Path | None, code: int
) -> dict[str, object]:
    return {
        "result": paths.shown(path),
        "log": None if kept is None else paths.shown(kept),
        "exit_code": code,
        "incomplete": result.incomplete,
        "boots": {"all": ran.started} | dict(ran.boots_by_source),
        "rows": table.as_json([result], known),
    }
