# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Proves that two builds of a simulator behave the same, so that results of one stay valid with the
other. Every boot of the catalogue is simulated on both, and all output is compared."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.files import write_whole
from tockmark.result.provenance import SIMULATORS, SameSimulator, proofs
from tockmark.suite.catalogue import HARNESS_ROWS, LANGS, Boot, Catalogue, row_name
from tockmark.target import run
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild
from tockmark.target.kernel import KernelElf, RunLayout
from tockmark.target.protocol import Ability
from tockmark.target.sim import SimTarget
from tockmark.wire.boots import read_boots
from tockmark.wire.rows import StoredRow


def prove(
    sides: tuple[Path, Path],
    board: BoardProfile,
    catalogue: Catalogue,
    kernels: Mapping[int, Sequence[KernelElf]],
    jobs: int,
    unlike: Collection[str] = (),
) -> SameSimulator:
    """Simulate all boots with these kernels (by version of the interface) on both binaries, in both
    languages, with the cache off and on. TockmarkError if a line, an end or its cycle differs.
    Boots that measure benchmarks in `unlike` are omitted, and may measure no others; of other
    boots only rows are compared."""
    old, new = (hashlib.sha256(path.read_bytes()).hexdigest() for path in sides)
    if old == new:
        raise TockmarkError("both are the same file", "give two builds of a simulator")
    compared = [boot for boot in catalogue.boots() if not set(boot.measures) & set(unlike)]
    others = [boot.measures for boot in catalogue.boots() if boot not in compared]
    if extra := sorted({id_ for ids in others for id_ in ids} - HARNESS_ROWS - set(unlike)):
        raise TockmarkError(
            f"their boots also measure {', '.join(extra)}", "name these in --unlike, too"
        )
    boots = cycles = 0
    for abi, kernel in ((abi, kernel) for abi, elfs in kernels.items() for kernel in elfs):
        old_jobs, new_jobs = (
            _run_boots(path, board, catalogue, compared, abi, kernel, jobs) for path in sides
        )
        for old_job, new_job in zip(old_jobs, new_jobs, strict=True):
            if _outcome(old_job, not unlike) != _outcome(new_job, not unlike):
                raise TockmarkError(
                    f"{old_job.name}, version {abi}, {paths.shown(kernel.path)}:"
                    f" {_difference(old_job, new_job, not unlike)}",
                    "the simulators differ, so nothing is written",
                )
            boots += old_job.session is not None
            cycles += old_job.cycles
    return SameSimulator(
        machine=board.machine,
        old=old,
        new=new,
        boots=boots,
        cycles=cycles,
        kernels=tuple(kernel.sha256 for some in kernels.values() for kernel in some),
        date=datetime.now(UTC).date().isoformat(),
        unlike=tuple(sorted(unlike)),
    )


def _lines(job: run.Job) -> Sequence[str]:
    return job.captured.lines if job.captured else ()


def _outcome(job: run.Job, whole: bool) -> tuple[object, ...]:
    """Return all that a simulator reports of a boot; if not `whole`, only its rows."""
    if whole:
        return _lines(job), job.problem, job.ending, job.skipped
    return _rows(job), job.problem, job.skipped


def _rows(job: run.Job) -> list[StoredRow]:
    measured = read_boots([job.captured] if job.captured else [])
    return [row for _, app in measured.each() for row in app.rows]


def _run_boots(
    binary: Path,
    board: BoardProfile,
    catalogue: Catalogue,
    boots: list[Boot],
    abi: int,
    kernel: KernelElf,
    jobs: int,
) -> list[run.Job]:
    """Run boots on this binary, never from the cache."""
    if not isinstance(board.target, SimTarget) or Ability.PARALLEL not in board.target.can:
        raise TockmarkError(f"{board.name} is not simulated", "choose another machine")
    target = msgspec.structs.replace(board.target, binary=binary)
    suites = (run.Suite(AppBuild.built(abi, lang), boots, []) for lang in LANGS)
    ran = run.run(
        run.RunOptions(
            layouts=(RunLayout(kernel, None),),
            board=msgspec.structs.replace(board, target=target),
            suites=tuple(suites),
            catalogue=catalogue,
            icaches=[False, True],
            all_samples=False,
            samples=None,
            jobs=jobs,
            fresh=True,
        )
    )
    if ran.interrupted:
        raise KeyboardInterrupt
    return ran.jobs[0]


def _difference(old: run.Job, new: run.Job, whole: bool) -> str:
    """Describe the first difference between two runs of a boot; if not `whole`, between their
    rows."""
    if not whole:
        for old_row, new_row in zip_longest(_rows(old), _rows(new)):
            if old_row != new_row and (row := old_row or new_row):
                return f"{row_name(row.id, row.params, row.icache, row.lang)} differs"
    for number, (old_line, new_line) in enumerate(zip(_lines(old), _lines(new), strict=False), 1):
        if old_line != new_line:
            return f"line {number} of its log is {old_line!r} on the old, {new_line!r} on the new"
    counts = len(_lines(old)), len(_lines(new))
    if counts[0] != counts[1]:
        return f"{counts[0]} lines on the old, {counts[1]} on the new"
    ends = (f"in cycle {job.cycles} ({job.problem or 'well'})" for job in (old, new))
    return "it ends {} on the old, {} on the new".format(*ends)


def keep(entry: SameSimulator, path: Path = SIMULATORS) -> None:
    """Write a proof to the table. It replaces an older proof for the same two simulators."""
    others = [proof for proof in proofs(path) if (proof.old, proof.new) != (entry.old, entry.new)]
    head = path.read_text(encoding="utf-8").partition("\n[[same]]")[0].rstrip()
    write_whole({path: "\n\n".join([head, *map(_text, [*others, entry])]) + "\n"})


def _text(entry: SameSimulator) -> str:
    kernels = "".join(f'    "{sha256}",\n' for sha256 in entry.kernels)
    return (
        f'[[same]]\nmachine = "{entry.machine}"\nold = "{entry.old}"\nnew = "{entry.new}"\n'
        f'date = "{entry.date}"\nboots = {entry.boots}\ncycles = {entry.cycles}\n'
        f"kernels = [\n{kernels}]"
        + (f"\nunlike = {json.dumps(entry.unlike)}" if entry.unlike else "")
    )
