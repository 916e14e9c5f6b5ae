# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that runs the suite on a target: run."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from tockmark import BASELINE, paths
from tockmark.commands import completing
from tockmark.commands.choosing import (
    Cluster,
    Fresh,
    KernelManifest,
    KernelName,
    OptLevel,
    Switch,
    at_a_time,
    languages,
)
from tockmark.commands.common import AsJson, Debug, Only, judge, log_beside, print_json
from tockmark.commands.ending import end_no_more, ended_once
from tockmark.commands.folder import boots_there, folder_of, langs_of, needs_folder, of_log
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, INTERRUPTED, TockmarkError
from tockmark.files import write_whole
from tockmark.plain import file_name
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.of_run import result_of
from tockmark.result.resume import whole_boots
from tockmark.show import summary, table
from tockmark.suite import catalogue as catalogues
from tockmark.suite import screen
from tockmark.suite.catalogue import Boot, Catalogue, Lang
from tockmark.suite.select import Selection, select
from tockmark.target import board as boards
from tockmark.target import links, run
from tockmark.target.board import Board
from tockmark.target.image import Apps, named, read_kernel
from tockmark.target.protocol import Ability
from tockmark.target.shuffle import MOST

SOURCES = {  # from which a boot may be taken in place of a run
    "log": "are in --resume's log",
    "cache": "were simulated before (--fresh ignores that)",
}


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "run",
        run_verb,
        Group.MEASURE,
        (
            "tockmark run",
            "tockmark run --only kernel,call.args:n=3",
            "tockmark run --kernel ~/tock/earlgrey-cw310.elf --opt-level z --icache off",
            "make sim-nexysvideo kernel-nexysvideo && tockmark run --machine nexysvideo",
            "tockmark run --lang c,rust",
            "tockmark run --only kernel --json > run.json",
        ),
        {
            INCOMPLETE: "rows failed or are missing; what was good is kept",
            INTERRUPTED: "Ctrl-C; what was measured is kept",
        },
    )


def run_verb(
    kernel: Annotated[
        list[Path] | None,
        typer.Option(
            help="ELF of the kernel to measure; default: the baseline's. May be given again for "
            "links of one source that differ in layout only."
        ),
    ] = None,
    layouts: Annotated[
        int,
        typer.Option(min=1, max=MOST, help="In how many layouts of the apps."),
    ] = 1,
    fresh: Fresh = False,
    kernel_name: KernelName = None,
    opt_level: OptLevel = None,
    kernel_manifest: KernelManifest = None,
    only: Only = None,
    board: Annotated[
        str | None,
        typer.Option(
            help=f"Board profile in boards/; default: {boards.DEFAULT}.",
            autocompletion=completing.one(boards.names),
        ),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder that `tockmark image` made, with all that it says.")
    ] = None,
    port: Annotated[
        str | None, typer.Option(help="Serial port of the board: /dev/ttyACM1.")
    ] = None,
    baud: Annotated[
        int | None, typer.Option(min=1, help="Its rate; default: as in the board's profile.")
    ] = None,
    captured: Annotated[
        Path | None,
        typer.Option("--log", help="With --images, in the board's place: a log captured of it."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Log of a run: do not run again what it has whole.")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Simulated machine, in place of --board: cw310 or nexysvideo.",
            autocompletion=completing.one(completing.machines),
        ),
    ] = None,
    abi: Annotated[
        int | None,
        typer.Option(min=1, max=2, help="Version of the system-call interface; default: 2."),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            help="Languages of the apps, separated by commas: c, rust; default: c.",
            autocompletion=completing.several(lambda: catalogues.LANGS),
        ),
    ] = None,
    short: Annotated[
        str | None,
        typer.Option(
            help="Of this language only the rows of the first screen, and those whose body its"
            " compiler makes."
        ),
    ] = None,
    apps: Annotated[
        Path | None,
        typer.Option(
            help="Folder with other builds of the apps; default: build/apps/<LANG>-abi<N>."
        ),
    ] = None,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: on, and again off.")
    ] = None,
    all_samples: Annotated[
        bool, typer.Option("--all-samples", help="Take all samples of the catalogue.")
    ] = False,
    samples: Annotated[
        int | None,
        typer.Option(
            min=9, help="Take at most so many samples of a row; default: as many as are enough."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Result file; the log goes beside it.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(help="Show the new run beside this result; may be given again."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show every row, not one screen of them.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    cluster: Cluster = None,
    max_cycles: Annotated[
        int | None, typer.Option(min=1, help="Give an app up after so many cycles.")
    ] = None,
    uart_cycles: Annotated[
        int | None,
        typer.Option(min=1, help="Simulated cycles of a byte on the UART; 2083: 115200 baud."),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Run the suite and print what it costs.

    Writes results/<time>-<kernel>-<board>.json, and the UART log beside it as .log.
    A run that is partial or incomplete says so in the name of its files."""
    if output is not None:
        replaced = log_beside(output)  # what cannot be written is told before anything runs
        if replaced and resume and replaced.resolve() == resume.resolve():
            raise TockmarkError(
                f"{paths.shown(replaced)} would be replaced while --resume goes on from it",
                "name another result with -o",
            )
    known = catalogues.load()
    laid = None
    if images is not None:
        told = {"board": board, "machine": machine, "abi": abi, "apps": apps, "samples": samples}
        told |= {"kernel-name": kernel_name, "opt-level": opt_level}
        told |= {"kernel-manifest": kernel_manifest, "all-samples": all_samples or None}
        told |= {"layouts": layouts if layouts > 1 else None}
        laid = folder_of(images, known, told, kernel or [], languages(lang) if lang else [])
        board, abi, lang = laid.manifest.board, laid.manifest.abi, lang or langs_of(laid)
        samples, all_samples = laid.manifest.samples, laid.manifest.samples is None
    given = {"max-cycles": max_cycles, "uart-cycles": uart_cycles, "port": port, "baud": baud}
    given |= {"cluster": cluster}
    profiled = boards.load(boards.simulated(machine) if machine else board or boards.DEFAULT)
    profiled = profiled.configured(given)
    if captured is not None:
        profiled = of_log(profiled, captured, laid)
    langs, abi = languages(lang or "c"), abi or 2
    wanted = replace(select(known, only), within=_within(short, langs, known))
    others = [(paths.shown(path), file.load(path)) for path in beside or ()]
    varied = wanted.of_further_layouts()
    if laid is None:
        needs_folder(profiled)
        elves = [read_kernel(path) for path in kernel or [profiled.kernels[abi]]]
        kernels = [named(elf, kernel_name, opt_level, kernel_manifest) for elf in elves]
    else:
        kernels = [laid.kernel()]

    def meant(selection: Selection, lang: Lang) -> list[Boot]:
        boots = selection.boots(lang)
        return boots_there(laid, boots, lang, profiled, known, only) if laid else boots

    options = run.Options(
        layouts=links.layouts(kernels, layouts),
        board=profiled,
        suites=tuple(
            run.Suite(built, meant(wanted, built.lang), meant(varied, built.lang))
            for built in _apps(apps, abi, langs)
        ),
        catalogue=known,
        icaches=_settings(icache, profiled),
        all_samples=all_samples,
        samples=samples,
        jobs=at_a_time(jobs, profiled, cluster),
        fresh=fresh,
        laid=laid,
        earlier=whole_boots(resume, known, profiled) if resume is not None else {},
    )
    if not any(suite.boots for suite in options.suites):
        said = ", ".join(langs)
        raise TockmarkError(f"no row of '{only}' is in --lang {said}", "nothing is left to run")
    if len(options.layouts) > 1 and not any(suite.further for suite in options.suites):
        raise TockmarkError(
            f"no row of '{only}' touches the kernel",
            "run it in one layout: further ones leave it out",
        )
    with ended_once():
        ran = run.run(options)
        end_no_more()  # before all is written
        every_job = [job for jobs in ran.jobs for job in jobs if job.started]
        taken_from = {name: sum(job.taken == name for job in every_job) for name in SOURCES}
        for source, where in SOURCES.items():
            if (taken := taken_from[source]) and not as_json:
                none = ", and nothing was simulated now" * (taken == len(every_job))
                print(f"{source:7} {taken} of {len(every_job)} boots {where}{none}")
        result, log = result_of(ran, options, wanted)
        path = output or default_path(options, result, only, short is not None)
        shown = [(paths.shown(path), result), *others]
        try:
            if as_json:
                pass  # all of it at once, when the files are there
            elif every:
                print(table.render(result, known), flush=True)
            else:
                blocks = summary.chosen(wanted, [result]) if wanted else None
                print(summary.render(shown, known, summary.width_of_terminal(), blocks), flush=True)
        finally:  # also if nobody reads on: `tockmark run | head`
            kept = log_beside(path)
            write_whole(({} if kept is None else {kept: log}) | {path: file.text(result)})
    kept_at = None if kept is None else paths.shown(kept)
    code = judge(result)
    code = INTERRUPTED if ran.interrupted else code
    if as_json:
        print_json(
            {
                "result": paths.shown(path),
                "log": kept_at,
                "exit_code": code,
                "incomplete": result.incomplete,
                "boots": {"all": len(every_job), **taken_from},
                "rows": table.as_json([result], known),
            }
        )
    else:
        print(f"result  {paths.shown(path)}")
        print(f"log     {kept_at or 'none: the result goes to no file'}")
    raise typer.Exit(code)


def _settings(icache: Switch | None, board: Board) -> list[bool]:
    """Of the instruction cache, in which to run. Where it cannot be switched, what is given is a
    statement, which stands in the log."""
    if icache is not None:
        return [icache is Switch.ON]
    return [True, False] if Ability.ICACHE in board.target.can else [board.target.icache]


def _apps(folder: Path | None, abi: int, langs: list[Lang]) -> list[Apps]:
    """The apps of each language; of one alone a folder may be given."""
    if folder is None:
        return [Apps.built(abi, lang) for lang in langs]
    if len(langs) > 1:
        raise TockmarkError(
            f"--apps gives apps of one language, but --lang names {len(langs)}",
            "name the one that they are written in",
        )
    return [Apps(folder, abi, langs[0])]


def _within(short: str | None, langs: list[Lang], known: Catalogue) -> dict[Lang, Selection]:
    """What --short leaves of a language."""
    if short is None:
        return {}
    if short not in langs:
        raise TockmarkError(
            f"--short {short} names no language of this run", f"--lang names {', '.join(langs)}"
        )
    return {catalogues.language(short): screen.short(known)}


def default_path(
    options: run.Options, result: Result, only: str | None, short: bool = False
) -> Path:
    """Where a result goes: no run replaces another, and a partial or incomplete one says so."""
    said = options.kernel.name or options.kernel.path.stem
    name = BASELINE if said.startswith(BASELINE) else said.lower()
    parts = [f"{datetime.now():%Y-%m-%d-%H%M%S}", name, f"abi{options.abi}"]
    parts += ["-".join(options.langs)] if options.langs != ["c"] else []
    parts += [options.board.name]
    if len(options.icaches) == 1:
        parts += [f"icache-{catalogues.ICACHE[options.icaches[0]]}"]
    parts += ["short"] if short else []
    if only is not None:
        parts += ["only", *dict.fromkeys(row.id.partition(".")[0] for row in result.rows)]
    parts += ["incomplete"] if result.incomplete else []
    stem, count = "-".join(map(file_name, parts)), 1
    path = paths.RESULTS / f"{stem}.json"
    while path.exists() or path.with_suffix(".log").exists():
        count += 1
        path = paths.RESULTS / f"{stem}-{count}.json"
    return path
