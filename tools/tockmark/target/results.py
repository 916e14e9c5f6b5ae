# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build the result of a run: decode the output of its boots, and add the provenance."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec

from tockmark import BASELINE
from tockmark.base import paths
from tockmark.base.errors import file_name, printable_text
from tockmark.result.build import Context, Expected, build, merge_layouts
from tockmark.result.model import Result
from tockmark.result.provenance import Board, BootHost, BootRun, Kernel, Layout, Slot
from tockmark.suite.catalogue import ICACHE, PERF, Lang
from tockmark.suite.selection import Selection
from tockmark.target import board as boards
from tockmark.target.image import AppSlot
from tockmark.target.kernel import KernelElf
from tockmark.target.protocol import target_core
from tockmark.target.run import FinishedRun, Job, RunOptions
from tockmark.wire.boots import read_boots
from tockmark.wire.captured import log_lines

CUT_SHORT = "interrupted: the missing rows were not measured"


def build_result(ran: FinishedRun, options: RunOptions, wanted: Selection) -> tuple[Result, str]:
    """Return the result, and the log of the first layout.

    The other layouts get no log, to keep results/ small; a second run prints theirs again."""
    results, log = results_by_layout(ran, options, wanted)
    return merge_layouts(results), log


def results_by_layout(
    ran: FinishedRun, options: RunOptions, wanted: Selection
) -> tuple[list[Result], str]:
    """Return the result of each layout, and the log of the first."""
    context = Context(
        kernel=kernel_provenance(options.kernel, options.board),
        board=board_provenance(options.board),
        abi=options.abi,
        boots=_boots(ran.jobs[0]),
        cached=sum(job.source == "cache" for jobs in ran.jobs for job in jobs),
    )
    results: list[Result] = []
    log = ""
    for number, (run, jobs) in enumerate(zip(ran.layouts, ran.jobs, strict=True)):
        boots = [job.captured for job in jobs if job.captured and job.skipped is None]
        file, kernel = printable_text(run.kernel.path.name), run.kernel
        layout = Layout(file, kernel.sha256, run.link, run.seed)
        own = replace(context, layouts=(layout,), hosts=_hosts(jobs))
        expected = [Expected(job.boot, job.icache, job.skipped, job.apps.lang) for job in jobs]
        problems = [CUT_SHORT] if ran.interrupted and not number else []
        problems += [f"{job.name}: {job.problem}" for job in jobs if job.problem]
        selected = wanted.for_further_layouts() if number else wanted
        measured = read_boots(boots)
        results.append(build(measured, wanted.catalogue, own, expected, selected, problems))
        log = log if number else "".join(f"{line}\n" for line in log_lines(boots))
    return results, log


def _boots(jobs: list[Job]) -> tuple[BootRun, ...]:
    """Return the boots whose images were built, with their cycles."""
    runs: dict[tuple[str, Lang], BootRun] = {}
    for job in jobs:
        if job.image is not None:
            name, lang = job.boot.name, job.apps.lang
            run = runs.setdefault((name, lang), boot_run(name, job.image.slots, lang))
            run.cycles[ICACHE[job.icache]] = job.cycles  # type: ignore[index]
    return tuple(runs.values())


def _hosts(jobs: list[Job]) -> tuple[BootHost, ...]:
    """Return the other machines that simulated boots of a layout."""
    return tuple(
        BootHost(printable_text(job.ending.host), job.boot.name, ICACHE[job.icache], job.apps.lang)  # type: ignore[arg-type]
        for job in jobs
        if job.ending is not None and job.ending.host is not None
    )


def boot_run(name: str, slots: Sequence[AppSlot], lang: Lang) -> BootRun:
    """Return what a result records about the image of a boot, without its cycles."""
    return BootRun(name, {}, msgspec.convert(slots, tuple[Slot, ...], from_attributes=True), lang)


def kernel_provenance(kernel: KernelElf, board: boards.BoardProfile | None) -> Kernel:
    """Return what a result records about a kernel. Its RAM is known only with a board."""
    return Kernel(
        name=printable_text(kernel.name) if kernel.name else None,
        file=printable_text(kernel.path.name),
        sha256=kernel.sha256,
        commit=kernel.commit,
        opt_level=kernel.opt_level,
        flags=kernel.flags,
        rustc=kernel.rustc,
        flash_bytes=kernel.flash_bytes,
        ram_bytes=kernel.room.ram_start - board.memory.ram.base if kernel.room and board else None,
    )


def simulator_provenance(board: boards.BoardProfile) -> dict[str, str]:
    """Return the engine and versions of a simulator, for files of instruction counts."""
    machine = board.target.provenance(board.clock_hz)
    names = ("simulator_sha256", "engine", "ibex", "verilator")
    return {name: str(value) for name in names if (value := machine.get(name)) is not None}


def board_provenance(board: boards.BoardProfile) -> Board:
    """Return what a result records about a board, from its profile and its target."""
    return msgspec.convert(  # also checks `timing`
        {
            "name": board.name,
            "machine": board.machine,
            "clock_hz": board.clock_hz,
            "timing": board.timing,
            **board.target.provenance(board.clock_hz),
        },
        Board,
    )


def default_path(asked: RunOptions, result: Result, only: str | None, short: bool = False) -> Path:
    """Return a new path for a result. Its name shows what was run and if it is incomplete."""
    name = asked.kernel.name or asked.kernel.path.stem
    parts = [
        f"{datetime.now():%Y-%m-%d-%H%M%S}",
        BASELINE if name.startswith(BASELINE) else name.lower(),
        f"abi{asked.abi}",
        "-".join(asked.langs) if asked.langs != ["c"] else "",
        asked.board.name,
        core.name if (core := target_core(asked.board.target)) else "",
        f"icache-{ICACHE[asked.icaches[0]]}" if len(asked.icaches) == 1 else "",
        "short" if short else "",
        result.provenance.counter if result.provenance.counter != PERF else "",
    ]
    if only is not None:
        parts += ["only", *dict.fromkeys(row.id.partition(".")[0] for row in result.rows)]
    parts += ["incomplete"] if result.incomplete else []
    return unused_path(paths.NEW_RESULTS / "-".join(file_name(part) for part in parts if part))


def unused_path(stem: Path) -> Path:
    """Return a new path for a result, with a number if necessary."""
    path, count = stem.with_name(f"{stem.name}.json"), 1
    while path.exists() or path.with_suffix(".log").exists():
        count += 1
        path = stem.with_name(f"{stem.name}-{count}.json")
    return path
