# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `run --images` takes from a folder of laid images, and what it then cannot be told."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tockmark import BASELINE, paths
from tockmark.cli import options
from tockmark.cli.options import (
    Abi,
    AsJson,
    BoardName,
    Cluster,
    Fresh,
    KernelFile,
    KernelManifest,
    KernelName,
    OneLanguage,
    Only,
    OptLevel,
    Switch,
    at_a_time,
    end_no_more,
    ended_once,
    judge,
    languages,
    log_beside,
    one_language,
    print_json,
)
from tockmark.cli.verb import verb
from tockmark.errors import INCOMPLETE, INTERRUPTED, TockmarkError
from tockmark.files import write_whole
from tockmark.paths import shown
from tockmark.plain import file_name
from tockmark.profile import file as profile_file
from tockmark.profile.calls import costs, costs_json, costs_text
from tockmark.profile.diff import Diff, Growth, diff_json, diff_text, growth, profile_diff
from tockmark.profile.run import ProfileOptions, default_out, profile
from tockmark.result import file
from tockmark.result.build import result_of
from tockmark.result.model import Result
from tockmark.result.parse import whole_boots
from tockmark.rig import board as boards
from tockmark.rig import image_folder as laid_images
from tockmark.rig import run
from tockmark.rig.board import BoardProfile, boot_unsuited
from tockmark.rig.elf import read_elf
from tockmark.rig.image import MOST, AppBuild
from tockmark.rig.image_folder import Laid
from tockmark.rig.kernel import KernelElf, named, read_kernel, run_layouts
from tockmark.rig.kinds.file import FileTarget as Captured
from tockmark.rig.protocol import Ability
from tockmark.show import summary, table
from tockmark.suite import catalogue as catalogues
from tockmark.suite import selection
from tockmark.suite.catalogue import Boot, Catalogue, Lang
from tockmark.suite.selection import Selection, only_one, select


def folder_of(
    path: Path,
    known: Catalogue,
    given: Mapping[str, object],
    kernels: Sequence[Path],
    langs: Sequence[Lang],
) -> Laid:
    """The folder. TockmarkError where an option contradicts it; `given` has them by their names
    without dashes, None: not given."""
    laid = laid_images.read_folder(path)
    laid.suits(known)
    told = laid.manifest
    own = {"board": told.board, "abi": told.abi, "samples": told.samples}
    own["all-samples"] = told.samples is None
    for option, value in given.items():
        if value is not None and value != own.get(option):
            raise TockmarkError(
                f"--{option} does not go with {shown(path)}: it was laid for {told.board},"
                f" --abi {told.abi}, {told.samples or 'all'} samples, and knows its kernel",
                f"leave out --{option}",
            )
    for lang in langs:
        if all(boot.lang != lang for boot in told.boots):
            raise TockmarkError(f"{shown(path)} has no apps in --lang {lang}", "leave it out")
    for kernel in kernels:
        laid.holds(read_kernel(kernel))
    return laid


def langs_of(laid: Laid) -> str:
    """The languages of its apps, as --lang takes them."""
    return ",".join(dict.fromkeys(boot.lang for boot in laid.manifest.boots))


def boots_there(
    laid: Laid,
    boots: Sequence[Boot],
    lang: Lang,
    board: BoardProfile,
    known: Catalogue,
    only: str | None,
) -> list[Boot]:
    """Of the boots that are meant, those that were laid, and those whose rows this board cannot
    give. TockmarkError if --only needs another."""
    there = {boot.name for boot in laid.manifest.boots if boot.lang == lang}
    found = [
        boot
        for boot in boots
        if boot.name in there or boot_unsuited(boot, known, board.target) is not None
    ]
    if only is not None and (gone := [boot.name for boot in boots if boot not in found]):
        raise TockmarkError(
            f"'{only}' needs the boot {gone[0]}{f' in {lang}' if lang != 'c' else ''}, which is not"
            f" in {shown(laid.folder)}",
            "lay the folder anew with `tockmark image`",
        )
    return found


def needs_folder(board: BoardProfile) -> None:
    """TockmarkError for a board: what runs one boot at a time is loaded boot by boot."""
    if Ability.PARALLEL not in board.target.can:
        raise TockmarkError(
            f"{board.name} is loaded boot by boot, from images that must be there",
            f"lay them with `tockmark image --board {board.name} -o DIR`, then give --images DIR",
        )


def of_log(board: BoardProfile, log: Path, laid: Laid | None) -> BoardProfile:
    """The board, with a log captured of it in the place of its port."""
    if laid is None:
        raise TockmarkError("--log alone tells no boots", "give their --images, or use `parse`")
    return msgspec.structs.replace(board, kind="file", target=Captured(log, board.target.icache))


# The verb that runs the suite on a target: run.


SOURCES = {  # from which a boot may be taken in place of a run
    "log": "are in --resume's log",
    "cache": "were simulated before (--fresh ignores that)",
}


@verb(
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
            autocompletion=options.one(boards.names),
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
            autocompletion=options.one(options.machines),
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
            autocompletion=options.several(lambda: catalogues.LANGS),
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

    options = run.RunOptions(
        layouts=run_layouts(kernels, layouts),
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


def _settings(icache: Switch | None, board: BoardProfile) -> list[bool]:
    """Of the instruction cache, in which to run. Where it cannot be switched, what is given is a
    statement, which stands in the log."""
    if icache is not None:
        return [icache is Switch.ON]
    return [True, False] if Ability.ICACHE in board.target.can else [board.target.icache]


def _apps(folder: Path | None, abi: int, langs: list[Lang]) -> list[AppBuild]:
    """The apps of each language; of one alone a folder may be given."""
    if folder is None:
        return [AppBuild.built(abi, lang) for lang in langs]
    if len(langs) > 1:
        raise TockmarkError(
            f"--apps gives apps of one language, but --lang names {len(langs)}",
            "name the one that they are written in",
        )
    return [AppBuild(folder, abi, langs[0])]


def _within(short: str | None, langs: list[Lang], known: Catalogue) -> dict[Lang, Selection]:
    """What --short leaves of a language."""
    if short is None:
        return {}
    if short not in langs:
        raise TockmarkError(
            f"--short {short} names no language of this run", f"--lang names {', '.join(langs)}"
        )
    return {catalogues.language(short): selection.short(known)}


def default_path(
    options: run.RunOptions, result: Result, only: str | None, short: bool = False
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


# The verb that takes a benchmark apart: profile.


@verb(
    (
        "tockmark profile syscall.command",
        "tockmark profile call.args:n=3 -o out",
        "tockmark profile syscall.sbrk --functions grant '*::setup_mpu'",
        "tockmark profile syscall.sbrk --diff before.elf after.elf",
        "tockmark profile --diff before/profile.json after/profile.json",
    )
)
def profile_verb(
    benchmark: Annotated[
        str | None,
        typer.Argument(
            help="A benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=options.one(options.benchmarks),
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="With --functions: patterns of names, or parts: grant '*::enter'."),
    ] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Show what a call of each function costs.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="With --functions: in all of the run.")
    ] = False,
    kernel: KernelFile = None,
    kernel_name: KernelName = None,
    kernel_manifest: KernelManifest = None,
    board: BoardName = boards.DEFAULT,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: as on the board.")
    ] = None,
    abi: Abi = 2,
    lang: OneLanguage = "c",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; default: in build/profile/.")
    ] = None,
    compared: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--diff",
            metavar="A B",
            help="Show what is other in B: two kernels, or two profile.json of the same row.",
        ),
    ] = None,
    max_cycles: Annotated[
        int | None, typer.Option(min=1, help="Give the app up after so many cycles.")
    ] = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Show where each cycle of one steady sample goes: by phase, function and cause.

    Writes the tables, folded stacks, a flame graph (SVG) and a listing of the sample.
    Needs what `make profile` builds."""
    if not functions and (names or whole):
        given = f"the name {names[0]}" if names else "--whole"
        raise TockmarkError(f"{given} means nothing here", "it goes with --functions")
    if functions and compared is not None:
        raise TockmarkError("--functions and --diff exclude each other", "give one of them")
    stored = [path.suffix == ".json" for path in compared or ()]
    if compared is not None and any(stored):
        if not all(stored):
            raise TockmarkError("--diff has a profile and a kernel", "give two of one kind")
        if benchmark is not None:
            raise TockmarkError("profiles say what they are of", f"leave out {benchmark}")
        _show_diff(profile_diff(*map(profile_file.load, compared)), None, as_json)
        return
    if benchmark is None:
        raise TockmarkError("no benchmark is named", "`tockmark list` shows all")
    profiled = boards.load(board).configured({"max-cycles": max_cycles})
    known = catalogues.load()
    id_, params = only_one(known, benchmark)
    cached = profiled.target.icache if icache is None else icache is Switch.ON
    apps = AppBuild.built(abi, one_language(lang))

    def options_of(measured: KernelElf, folder: Path | None) -> ProfileOptions:
        out = folder or default_out(id_, params, measured, profiled, cached, apps.lang)
        return ProfileOptions(measured, profiled, apps, cached, id_, params, out, fresh)

    if compared is None:
        elf = read_kernel(kernel if kernel is not None else profiled.kernels[abi])
        options = options_of(named(elf, kernel_name, manifest=kernel_manifest), output)
        if functions:
            found = costs(options, known, names or (), whole)
            print(json.dumps(costs_json(found), indent=1) if as_json else costs_text(found))
            return
        kept, text = profile(options, known)
        print(profile_file.text(kept).rstrip() if as_json else text)
        return
    if any(given is not None for given in (kernel, kernel_name, kernel_manifest)):
        raise TockmarkError("--diff names both kernels", "leave out --kernel and what says of it")
    elves = [read_kernel(path) for path in compared]
    root = output or default_out(id_, params, elves[0], profiled, cached, apps.lang)
    base, new = (
        profile(options_of(elf, root / side), known)[0]
        for elf, side in zip(elves, ("base", "new"), strict=True)
    )
    _show_diff(profile_diff(base, new), growth(*map(read_elf, compared)), as_json)


def _show_diff(found: Diff, sizes: Sequence[Growth] | None, as_json: bool) -> None:
    print(json.dumps(diff_json(found, sizes), indent=1) if as_json else diff_text(found, sizes))
