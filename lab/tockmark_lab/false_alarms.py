# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `false-alarms`: how often the rule finds a change between kernels of the same code.

Fresh links of one kernel's source are compared with each other: their code is the same, so each
finding is false. The spread that the rule uses is of other links, and a link that the spread has is
refused. The outcome replaces the kernel's older one in lab/data/false-alarms.json.
"""

import os
import random
import secrets
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tockmark.base import documents, paths
from tockmark.base.documents import Count, Part, Sha256
from tockmark.base.errors import TockmarkError, file_name, print_message
from tockmark.base.files import write_whole
from tockmark.cli.program import verb
from tockmark.cli.run_options import Jobs, KernelClaims
from tockmark.compare.limits import Limit
from tockmark.compare.spread import OWN, TOCK, committed_spread
from tockmark.compare.verdict import Judgement
from tockmark.judge import engine
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import OptLevel
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import select
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target.image import AppBuild
from tockmark.target.kernel import KernelElf, run_layouts
from tockmark.target.results import build_result
from tockmark.target.run import RunOptions, Suite
from tockmark.tests.links import SIDE, at, judged
from tockmark_lab.folders import DATA

STORED = DATA / "false-alarms.json"
FORM, VERSION = "tockmark-false-alarms", 1
LINKS = 21  # 420 ordered pairs
SETS = 420  # random pairs of sets of SIDE links
ALLOWED = 0.01  # share of a kernel's judgements that may have a hard finding
LEVELS = "3, 2, s, z"


class Alarms(Part, frozen=True):
    """The judgements of one kind, and how many have a finding."""

    pairs: Count
    soft: Count  # soft or hard
    hard: Count
    rows: dict[str, Count]  # beyond a hard limit: the judgements that have each


class KernelAlarms(Part, frozen=True):
    """The outcome for one kernel at one opt-level."""

    kernel: str
    opt_level: OptLevel | None
    date: str
    tool: str | None  # the commit of the checkout
    simulator: Sha256 | None
    spread: str
    seed: int  # that draws the sets of links
    links: tuple[tuple[str, Sha256], ...]  # file name, which has the linker's seed, and ELF
    single: Alarms  # all ordered pairs of single links
    sets: Alarms

    @property
    def key(self) -> tuple[str, str | None]:
        return self.kernel, self.opt_level


class StoredAlarms(Part, frozen=True):
    """The file."""

    format: str
    version: int
    kernels: tuple[KernelAlarms, ...] = ()


def load(path: Path = STORED) -> tuple[KernelAlarms, ...]:
    """Return the stored outcomes. TockmarkError if the file is not one of this verb."""
    if not path.exists():
        return ()
    return documents.read(path, StoredAlarms, FORM, VERSION, "restore it from git").kernels


def keep(outcome: KernelAlarms, path: Path = STORED) -> None:
    """Store an outcome instead of the kernel's older one."""
    others = [kernel for kernel in load(path) if kernel.key != outcome.key]
    every = sorted([*others, outcome], key=lambda kernel: (kernel.kernel, kernel.opt_level or ""))
    text = documents.text_of(StoredAlarms(FORM, VERSION, tuple(every)), ("kernels",))
    write_whole({path: text})


def linked(level: str, count: int) -> list[Path]:
    """Link the baseline kernel `count` times, with seeds drawn now. TockmarkError if that fails."""
    folder = f"build/false-alarms-{level}"
    seeds = " ".join(str(secrets.randbelow(2**31 - 100) + 100) for _ in range(count))
    opt = [] if level == "3" else [f"OPT={level}"]
    command = ["make", "kernel-layouts", f"SEEDS={seeds}", f"LAYOUTS={folder}", *opt]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TockmarkError(f"the links were not built: {done.stderr.strip()[-300:]}")
    return sorted((paths.ROOT / folder).glob("*.elf"))


def measured(kernels: Sequence[KernelElf], jobs: int) -> Result:
    """Measure the rows of `judge` in each link. TockmarkError if the spread has a link."""
    catalogue = catalogues.load()
    wanted = select(catalogue, engine.DEFAULT)
    boots = wanted.boots("c"), wanted.for_further_layouts().boots("c")
    layouts = run_layouts(kernels, 1)
    known = {
        layout.link
        for path in (*TOCK, *OWN.glob("*.json"))
        for layout in file.load(path).provenance.layouts
    }
    if stale := [layout.kernel.path.name for layout in layouts if layout.link in known]:
        raise TockmarkError(f"the spread is from these links: {', '.join(stale)}", "link others")
    options = RunOptions(
        layouts=layouts,
        board=boards.load(boards.DEFAULT),
        suites=(Suite(AppBuild.built(2), *boots),),
        catalogue=catalogue,
        icaches=[True, False],
        all_samples=False,
        samples=engine.SAMPLES,
        jobs=jobs,
    )
    ran = run.run(options)
    if ran.lost or ran.interrupted:
        raise TockmarkError("interrupted: nothing was stored")
    return build_result(ran, options, wanted)[0]


def alarms(judgements: Iterable[Judgement]) -> Alarms:
    """Count the judgements with a finding. Rows that fail on the kernel do not count: it may lack
    a driver."""
    limits: Counter[Limit] = Counter()
    rows: Counter[str] = Counter()
    for judgement in judgements:
        worst = Limit.NONE
        for row in judgement.rows:
            limit = max(part.limit for part in (row, row.instructions) if part)
            worst = max(worst, limit)
            rows[row.row.name] += limit is Limit.HARD
        limits[worst] += 1
    beyond = limits[Limit.SOFT] + limits[Limit.HARD]
    return Alarms(limits.total(), beyond, limits[Limit.HARD], dict((+rows).most_common()))


def between_links(result: Result, seed: int, sets: int = SETS) -> tuple[Alarms, Alarms]:
    """Judge all ordered pairs of the links of a result, and random pairs of disjoint sets."""
    spread, draw = committed_spread(result), random.Random(seed)
    numbers = range(len(result.provenance.layouts))
    links = [at(result, [number]) for number in numbers]
    single = alarms(judged(base, new, spread) for base, new in permutations(links, 2))
    count = sets if len(numbers) >= 2 * SIDE else 0
    drawn = (draw.sample(numbers, 2 * SIDE) for _ in range(count))
    both = ((at(result, order[:SIDE]), at(result, order[SIDE:])) for order in drawn)
    return single, alarms(judged(base, new, spread) for base, new in both)


def outcome_of(result: Result, title: str) -> KernelAlarms:
    """Return the outcome for the links of a result."""
    seed = secrets.randbelow(2**31)
    single, sets = between_links(result, seed)
    provenance = result.provenance
    return KernelAlarms(
        title,
        provenance.kernel.opt_level,
        datetime.now(UTC).date().isoformat(),
        paths.commit_of_checkout(),
        provenance.board.simulator_sha256,
        committed_spread(result).title,
        seed,
        tuple((layout.file or "", layout.sha256 or "") for layout in provenance.layouts),
        single,
        sets,
    )


def text_of(outcome: KernelAlarms) -> str:
    """Format an outcome for a terminal."""
    lines = [f"{outcome.kernel}, opt-level {outcome.opt_level}: {len(outcome.links)} links"]
    for name, kind in (("single links", outcome.single), (f"sets of {SIDE}", outcome.sets)):
        rows = "".join(f"; {row}: {count}" for row, count in kind.rows.items())
        lines.append(f"  {kind.pairs} pairs of {name}: {kind.soft} soft, {kind.hard} hard{rows}")
    return "\n".join(lines)


@verb(
    "tockmark-lab false-alarms",
    "tockmark-lab false-alarms --level s,z",
    "tockmark-lab false-alarms 17.elf 4711.elf --kernel-name 'Tock 2.2' --opt-level z",
)
def false_alarms_verb(
    *,
    kernels: Annotated[
        list[Path] | None,
        Argument(metavar="ELF", help="Links of another kernel's source, named by their seeds."),
    ] = None,
    claims: KernelClaims,
    level: Annotated[
        str, Option(help="Opt-levels of the baseline kernel, separated by commas.")
    ] = LEVELS,
    links: Annotated[int, Option(min=2 * SIDE, help="Link the baseline N times.")] = LINKS,
    jobs: Jobs = None,
) -> None:
    """Compare fresh links of one kernel with each other: each finding is a false alarm.

    Draws the seeds of the baseline's links, and stores them with the outcome in
    lab/data/false-alarms.json."""
    groups = [kernels] if kernels else (linked(name.strip(), links) for name in level.split(","))
    for elves in groups:
        result = measured([claims.read(path) for path in elves], jobs or os.cpu_count() or 1)
        kernel = result.provenance.kernel
        outcome = outcome_of(result, kernel.title.split(" (")[0])
        name = file_name(f"{outcome.kernel}-{outcome.opt_level}.json".lower())
        write_whole({paths.WRITTEN / "false-alarms" / name: file.text(result)})
        keep(outcome)
        print_message(text_of(outcome))
