# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that runs the suite, or a part of it: run."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from typer import Exit, Option

from tockmark import BASELINE, paths
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.errors import INCOMPLETE, INTERRUPTED, TockmarkError, file_name, say
from tockmark.files import write_whole
from tockmark.result import file
from tockmark.result.build import result_of
from tockmark.result.model import Result
from tockmark.result.parse import whole_boots
from tockmark.rig import board as boards
from tockmark.rig import run
from tockmark.rig.board import BoardProfile
from tockmark.rig.core import core_of
from tockmark.rig.image import MOST, AppBuild
from tockmark.rig.image_folder import Laid, folder_to_run
from tockmark.rig.isa import ISAS, RISC_V
from tockmark.rig.kernel import require_slots, run_layouts
from tockmark.rig.kinds.file import FileTarget as CapturedLog
from tockmark.rig.protocol import Ability
from tockmark.show import table, text
from tockmark.suite import catalogue as catalogues
from tockmark.suite import selection
from tockmark.suite.catalogue import Boot, Catalogue, CounterName, Lang
from tockmark.suite.selection import Selection, select

SOURCES: dict[Literal["log", "cache"], str] = {  # from which a boot may be taken in place of a run
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
        options.one_of(boards.names, f"Board profile in boards/; default: {boards.DEFAULT}."),
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
        options.one_of(machines, "Simulated machine, in place of --board: cw310 or nexysvideo."),
    ] = None

    core: Annotated[
        str | None,
        Option(
            metavar="NAME|DIR",
            help="Core in the place of the machine's own, as `make sim CORE=` built it: a"
            " configuration of Ibex, such as maxperf-pmp, or the folder of a core of yours.",
        ),
    ] = None

    def loaded(self, laid: Laid | None, limits: Mapping[str, object]) -> BoardProfile:
        """Return the board, or what stands in its place. TockmarkError if its images are not there
        and nothing makes them on the way."""
        own = laid.manifest.board if laid else self.board or boards.DEFAULT
        board = boards.load(boards.simulated(self.machine) if self.machine else own)
        board = board.configured(
            {**limits, "port": self.port, "baud": self.baud, "core": self.core}
        )
        if self.captured is not None:
            if laid is None:
                raise TockmarkError(
                    "--log alone tells no boots", "give their --images, or use `parse`"
                )
            target = CapturedLog(self.captured, board.target.icache)
            return msgspec.structs.replace(board, kind="file", target=target)
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
        options.several_of(
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
        options.one_of(
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
        if ISAS[isa].only_cycles:
            return given or [catalogues.CYCLES_ALONE]
        only = bool(self.apps or self.catalogue) or self.abi == 1 or self.langs != ["c"]
        return given or ([catalogues.PERF] if only else [catalogues.PERF, catalogues.CYCLES_ALONE])

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
    layouts: Annotated[int, Option(min=1, max=MOST, help="In how many layouts of the apps.")] = 1,
    fresh: run_options.Fresh = False,
    claims: run_options.KernelClaims,
    only: options.Only = None,
    place: RunPlace,
    apps: AppChoice,
    icache: run_options.ICaches = None,
    all_samples: Annotated[
        bool, Option("--all-samples", help="Take all samples of the catalogue.")
    ] = False,
    samples: Annotated[
        int | None,
        Option(
            min=9, help="Take at most so many samples of a row; default: as many as are enough."
        ),
    ] = None,
    output: Annotated[
        Path | None, options.output_to("Result file; the log goes beside it.")
    ] = None,
    beside: Annotated[
        list[Path] | None, Option(help="Show the new run beside this result; may be given again.")
    ] = None,
    every: options.EveryRow = False,
    jobs: run_options.Jobs = None,
    dask: run_options.Dask = None,
    max_cycles: Annotated[
        int | None, Option(min=1, help="Give an app up after so many cycles.")
    ] = None,
    uart_cycles: Annotated[
        int | None, Option(min=1, help="Simulated cycles of a byte on the UART; 2083: 115200 baud.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Run the suite and print what it costs.

    Writes build/results/<time>-<kernel>-<board>.json, and the UART log beside it as .log.
    A run that is partial or incomplete says so in the name of its files."""
    if output is not None:
        replaced = options.log_beside(output)  # what cannot be written is told before anything runs
        if replaced and place.resume and replaced.resolve() == place.resume.resolve():
            raise TockmarkError(
                f"{paths.shown(replaced)} would be replaced while --resume goes on from it",
                "name another result with -o",
            )
    known = catalogues.load(apps.catalogue or paths.CATALOGUE)
    laid = None
    if place.images is not None:
        given = {"board": place.board, "machine": place.machine, "abi": apps.abi, "apps": apps.apps}
        given |= {"samples": samples, **vars(claims), "all_samples": all_samples or None}
        given |= {"layouts": layouts if layouts > 1 else None}
        langs = options.languages(apps.lang) if apps.lang else []
        laid = folder_to_run(place.images, known, given, kernel or [], langs)
        lang = apps.lang or ",".join(laid.langs)
        apps = dataclasses.replace(apps, abi=laid.manifest.abi, lang=lang)
        samples, all_samples = laid.manifest.samples, laid.manifest.samples is None
    limits = {"max-cycles": max_cycles, "uart-cycles": uart_cycles, "dask": dask}
    board = place.loaded(laid, limits)
    if known.silence is not None and board.kind == "sim":
        board = board.configured({"silence": max_cycles or known.silence})
    wanted = dataclasses.replace(select(known, only), within=apps.shortened(known))
    others = [(paths.shown(path), file.load(path)) for path in beside or ()]
    varied = wanted.of_further_layouts()
    if laid is None:
        kernels = [claims.read(path) for path in kernel or [board.kernels[apps.abi or 2]]]
    else:
        kernels = [laid.kernel()]

    def meant(selection: Selection, lang: Lang) -> list[Boot]:
        boots = selection.boots(lang)
        return laid.boots(boots, lang, board, known, only) if laid else boots

    def suites(counter: CounterName) -> tuple[run.Suite, ...]:
        return tuple(
            run.Suite(built, meant(wanted, built.lang), meant(varied, built.lang))
            for built in apps.builds(known, counter, board.isa)
        )

    first, *behind = apps.counters(board.isa)[: 1 if laid else None]
    asked = run.RunOptions(
        layouts=run_layouts(kernels, layouts),
        board=board,
        suites=suites(first),
        catalogue=known,
        icaches=_settings(icache, board),
        all_samples=all_samples,
        samples=samples,
        jobs=run_options.at_a_time(jobs, board),
        fresh=fresh,
        laid=laid,
        earlier=whole_boots(place.resume, known, board) if place.resume is not None else {},
    )
    if not any(suite.boots for suite in asked.suites):
        said = ", ".join(asked.langs)
        raise TockmarkError(f"no row of '{only}' is in --lang {said}", "nothing is left to run")
    if len(asked.layouts) > 1 and not any(suite.further for suite in asked.suites):
        raise TockmarkError(
            f"no row of '{only}' touches the kernel",
            "run it in one layout: further ones leave it out",
        )
    if known.name is not None:
        slots = max(len(boot.slots) for suite in asked.suites for boot in suite.boots)
        for layout in asked.layouts:
            require_slots(layout.kernel, slots)
    with run_options.ended_once():
        asked, ran = _run(asked, suites(behind[0]) if behind else ())
        run_options.end_no_more()  # before all is written
        sources = [job.taken for jobs in ran.jobs for job in jobs if job.captured]
        taken = {source: sources.count(source) for source in SOURCES}
        for source, count in taken.items():
            if count and not as_json:
                none = ", and nothing was simulated now" * (count == len(sources))
                print(f"{source:7} {count} of {len(sources)} boots {SOURCES[source]}{none}")
        result, log = result_of(ran, asked, wanted)
        path = output or default_path(asked, result, only, apps.short is not None)
        try:
            if every and not as_json:
                print(table.every_row(result, known), flush=True)
            elif not as_json:  # JSON comes when the files are there
                shown = [(paths.shown(path), result), *others]
                named_rows = bool(wanted) or known.name is not None
                blocks = table.selected_blocks(wanted, [result]) if named_rows else None
                print(
                    table.first_screen(shown, known, text.width_of_terminal(), blocks), flush=True
                )
        finally:  # also if nobody reads on: `tockmark run | head`
            kept = options.log_beside(path)
            write_whole(({} if kept is None else {kept: log}) | {path: file.text(result)})
    kept_at = None if kept is None else paths.shown(kept)
    options.say_first(result.incomplete)
    code = options.incomplete_code(result)
    code = INTERRUPTED if ran.interrupted and ran.lost is None else code
    if as_json:
        options.show(
            {
                "result": paths.shown(path),
                "log": kept_at,
                "exit_code": code,
                "incomplete": result.incomplete,
                "boots": {"all": len(sources), **taken},
                "rows": table.as_json([result], known),
            }
        )
    else:
        print(f"result  {paths.shown(path)}")
        print(f"log     {kept_at or 'none: the result goes to no file'}")
    raise Exit(code)


def _run(asked: run.RunOptions, instead: tuple[run.Suite, ...]) -> tuple[run.RunOptions, run.Ran]:
    """Run the suite; where the kernel lacks what its apps read, those that read something else."""
    try:
        return asked, run.run(asked)
    except run.WithoutCounterError as error:
        if not all(suite.apps.folder.is_dir() for suite in instead) or not instead:
            raise
        named = asked.kernel.name or paths.shown(asked.kernel.path)
        asked = dataclasses.replace(asked, suites=instead)
        try:
            ran = run.run(asked)
        except run.WithoutCounterError:
            raise error from None
        say(f"{named} has no Perf capsule: the apps read CycleCount, which counts cycles alone")
        return asked, ran


def _settings(icache: options.Switch | None, board: BoardProfile) -> list[bool]:
    """Return the settings of the instruction cache in which to run. Where it cannot be switched,
    what is given is a statement, which stands in the log."""
    if icache is not None:
        return [icache is options.Switch.ON]
    return [True, False] if Ability.ICACHE in board.target.can else [board.target.icache]


def default_path(
    asked: run.RunOptions, result: Result, only: str | None, short: bool = False
) -> Path:
    """Return where a result goes: no run replaces another, and a partial or incomplete one says so
    in its name."""
    said = asked.kernel.name or asked.kernel.path.stem
    parts = [
        f"{datetime.now():%Y-%m-%d-%H%M%S}",
        BASELINE if said.startswith(BASELINE) else said.lower(),
        f"abi{asked.abi}",
        "-".join(asked.langs) if asked.langs != ["c"] else "",
        asked.board.name,
        core.name if (core := core_of(asked.board.target)) else "",
        f"icache-{catalogues.ICACHE[asked.icaches[0]]}" if len(asked.icaches) == 1 else "",
        "short" if short else "",
        result.provenance.counter if result.provenance.counter != catalogues.PERF else "",
    ]
    if only is not None:
        parts += ["only", *dict.fromkeys(row.id.partition(".")[0] for row in result.rows)]
    parts += ["incomplete"] if result.incomplete else []
    stem, count = "-".join(file_name(part) for part in parts if part), 1
    path = paths.NEW_RESULTS / f"{stem}.json"
    while path.exists() or path.with_suffix(".log").exists():
        count += 1
        path = paths.NEW_RESULTS / f"{stem}-{count}.json"
    return path
