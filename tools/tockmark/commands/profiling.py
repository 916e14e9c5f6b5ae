# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that takes a benchmark apart: profile."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tockmark import profile
from tockmark.commands import completing
from tockmark.commands.choosing import (
    Abi,
    BoardName,
    Fresh,
    KernelFile,
    KernelManifest,
    KernelName,
    OneLanguage,
    Switch,
    one_language,
)
from tockmark.commands.common import AsJson, Debug
from tockmark.commands.verb import Group, add
from tockmark.errors import TockmarkError
from tockmark.profile import costs, diff_text, file
from tockmark.profile.diff import Diff, diff
from tockmark.profile.growth import Growth, growth
from tockmark.profile.traced import Options, default_out
from tockmark.suite import catalogue as catalogues
from tockmark.suite.select import only_one
from tockmark.target import board as boards
from tockmark.target.elf import read_elf
from tockmark.target.image import Apps, Kernel, named, read_kernel


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "profile",
        profile_verb,
        Group.MEASURE,
        (
            "tockmark profile syscall.command",
            "tockmark profile call.args:n=3 -o out",
            "tockmark profile syscall.sbrk --functions grant '*::setup_mpu'",
            "tockmark profile syscall.sbrk --diff before.elf after.elf",
            "tockmark profile --diff before/profile.json after/profile.json",
        ),
    )


def profile_verb(
    benchmark: Annotated[
        str | None,
        typer.Argument(
            help="A benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=completing.one(completing.benchmarks),
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
    debug: Debug = False,
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
        _show_diff(diff(*map(file.load, compared)), None, as_json)
        return
    if benchmark is None:
        raise TockmarkError("no benchmark is named", "`tockmark list` shows all")
    profiled = boards.load(board).configured({"max-cycles": max_cycles})
    known = catalogues.load()
    id_, params = only_one(known, benchmark)
    cached = profiled.target.icache if icache is None else icache is Switch.ON
    apps = Apps.built(abi, one_language(lang))

    def options_of(measured: Kernel, folder: Path | None) -> Options:
        out = folder or default_out(id_, params, measured, profiled, cached, apps.lang)
        return Options(measured, profiled, apps, cached, id_, params, out, fresh)

    if compared is None:
        elf = read_kernel(kernel if kernel is not None else profiled.kernels[abi])
        options = options_of(named(elf, kernel_name, manifest=kernel_manifest), output)
        if functions:
            found = costs.costs(options, known, names or (), whole)
            told = costs.as_json(found) if as_json else None
            print(costs.render(found) if told is None else json.dumps(told, indent=1))
            return
        taken = profile.profile(options, known)
        print(file.text(taken.stored).rstrip() if as_json else taken.text)
        return
    if any(given is not None for given in (kernel, kernel_name, kernel_manifest)):
        raise TockmarkError("--diff names both kernels", "leave out --kernel and what says of it")
    elves = [read_kernel(path) for path in compared]
    root = output or default_out(id_, params, elves[0], profiled, cached, apps.lang)
    base, new = (
        profile.profile(options_of(elf, root / side), known).stored
        for elf, side in zip(elves, ("base", "new"), strict=True)
    )
    _show_diff(diff(base, new), growth(*map(read_elf, compared)), as_json)


def _show_diff(found: Diff, sizes: Sequence[Growth] | None, as_json: bool) -> None:
    if as_json:
        print(json.dumps(diff_text.as_json(found, sizes), indent=1))
    else:
        print(diff_text.render(found, sizes))
