# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `verify`: does a stored result hold what its kernel, apps and simulator give?

First the result is searched for contradictions. Then boots of the result, drawn by a seed or all
of them, are simulated again, never taken from the cache, and what they give is compared with what
the result holds, byte for byte. With another kernel, other apps or another simulator nothing is
compared: that is refused, and named.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tockmark.base.errors import INTERRUPTED, TockmarkError
from tockmark.base.paths import shown
from tockmark.result.file import FACTS
from tockmark.result.model import ABSENT_LISTS, Result, Row
from tockmark.result.provenance import BootRun, same_simulator
from tockmark.suite.catalogue import HARNESS_ROWS, ICACHE, LANGS, Boot, Catalogue, Lang, lang_suffix
from tockmark.suite.selection import Selection
from tockmark.target import run
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild
from tockmark.target.kernel import KernelElf, RunLayout
from tockmark.target.results import board_provenance, boot_run, results_by_layout
from tockmark.target.run import Job, RunOptions, Suite, default_samples
from tockmark_lab.contradictions import contradiction

BOOTS = 4  # that are simulated again, unless told otherwise
SAID = [name for name in FACTS if name not in ("stated", "published")]  # by a boot of its rows


class BootPlace(NamedTuple):
    """One boot of a result: simulated once."""

    boot: str
    icache: bool
    lang: Lang
    layout: int

    def __str__(self) -> str:
        layout = f", layout {self.layout}" * bool(self.layout)
        return f"{self.boot}, i-cache {ICACHE[self.icache]}{lang_suffix(self.lang)}{layout}"


@dataclass(frozen=True)
class Verified:
    """What came of it."""

    seed: str
    drawn: tuple[BootPlace, ...]
    boots: int  # that the result has
    rows: int  # that were compared
    differences: tuple[str, ...]

    @property
    def missed(self) -> float:
        """The chance that so many boots miss one that was altered."""
        return 1 - len(self.drawn) / self.boots


def places(result: Result) -> list[BootPlace]:
    """Return every boot of a result, in every layout. TockmarkError if it does not say them."""
    provenance = result.provenance
    if not (result.simulated and provenance.layouts and provenance.boots):
        raise TockmarkError(
            "the result does not say which boots a simulator ran", "give one that `run` wrote"
        )
    found = {
        BootPlace(one.boot, setting == "on", one.lang, 0)
        for one in provenance.boots
        for setting in one.cycles
    }
    for row in result.rows:
        if row.icache is not None:
            found |= {BootPlace(row.boot, row.icache, row.lang, layout) for layout in row.layouts}
    return sorted(found)


def draw(every: Sequence[BootPlace], count: int | None, seed: str) -> tuple[BootPlace, ...]:
    """Return so many boots, those that the seed puts first; None: all."""

    def order(place: BootPlace) -> bytes:
        which = f"{seed} {place.boot} {place.lang} {ICACHE[place.icache]} {place.layout}"
        return hashlib.sha256(which.encode()).digest()

    return tuple(every if count is None else sorted(every, key=order)[:count])


def verify(
    result: Result,
    kernels: Sequence[KernelElf],
    board: BoardProfile,
    catalogue: Catalogue,
    count: int | None,
    seed: str,
    jobs: int,
) -> Verified:
    """Simulate boots of a result again. TockmarkError if the result contradicts itself, kernel,
    apps or simulator are not its own, or a boot cannot be run."""
    every = places(result)
    if wrong := contradiction(result, catalogue.with_others(result.provenance.benchmarks)):
        raise TockmarkError(f"the result contradicts itself: {wrong}", "measure it again")
    drawn = draw(every, count, seed)
    layouts = _layouts(result, kernels)
    options = RunOptions(
        layouts=layouts,
        board=_board(result, board),
        suites=(),
        catalogue=catalogue,
        icaches=sorted({one.icache for one in every}, reverse=True),
        all_samples=_all_samples(result, catalogue),
        samples=None,
        jobs=jobs,
        fresh=True,
    )
    differences: list[str] = []
    rows = 0
    for samples, some in _by_samples(result, catalogue, drawn).items():
        suites = _suites(result, catalogue, some)
        which = {((one.boot, one.icache, one.lang), one.layout) for one in some}
        ran = run.run(replace(options, suites=suites, samples=samples, selected=which))
        if ran.interrupted:
            raise TockmarkError("interrupted: nothing is verified", code=INTERRUPTED)
        made, _ = results_by_layout(ran, replace(options, suites=suites), Selection(catalogue))
        for job in (job for of_layout in ran.jobs for job in of_layout):
            place = BootPlace(*job.key, job.layout)
            _check_apps(result, job)
            compared, found = _compared(result, made[job.layout], place, job)
            rows += compared
            differences += [f"{place}: {one}" for one in found]
    return Verified(seed, drawn, len(every), rows, tuple(differences))


def _layouts(result: Result, kernels: Sequence[KernelElf]) -> tuple[RunLayout, ...]:
    """Return the layouts of a result with the kernels that they had."""
    by_hash = {kernel.sha256: kernel for kernel in kernels}
    wanted = [layout.sha256 for layout in result.provenance.layouts]
    for sha256, kernel in by_hash.items():
        if sha256 not in wanted:
            raise TockmarkError(
                f"{shown(kernel.path)} (sha256 {sha256[:12]}) is none of the result's kernels",
                f"it has {', '.join(sorted({one[:12] for one in wanted if one}))}",
            )
    found = []
    for number, layout in enumerate(result.provenance.layouts):
        if layout.sha256 not in by_hash:
            raise TockmarkError(
                f"layout {number} is of another kernel: {layout.file},"
                f" sha256 {(layout.sha256 or 'unknown')[:12]}",
                "give the ELF of each by --kernel",
            )
        found.append(RunLayout(by_hash[layout.sha256], layout.link, layout.seed))
    return tuple(found)


def _board(result: Result, board: BoardProfile) -> BoardProfile:
    """Return the board as it was configured for the result. TockmarkError if its simulator, or
    anything else of it, is another."""
    then = result.provenance.board
    if then.uart_cycles_per_byte:
        core = then.core.name if then.core else None
        board = board.configured({"uart-cycles": then.uart_cycles_per_byte, "core": core})
    now = board_provenance(board)
    for name in ("simulator_sha256", "machine", "clock_hz", "uart_cycles_per_byte"):
        was, is_ = getattr(then, name), getattr(now, name)
        proved = name == "simulator_sha256" and same_simulator(was, is_)
        if was != is_ and not proved:
            raise TockmarkError(
                f"the result's {name} is {was}, here it is {is_}",
                "verify it with what measured it",
            )
    return board


def _rows(result: Result, place: BootPlace) -> list[Row]:
    of_place = (place.boot, place.icache, place.lang)
    return [
        row
        for row in result.rows
        if (row.boot, row.icache, row.lang) == of_place and place.layout in row.layouts
    ]


def _all_samples(result: Result, catalogue: Catalogue) -> bool:
    """Return whether a result has all samples of the catalogue: then no series ends early."""
    known = [
        (row, catalogue.benchmarks[row.id].samples)
        for row in result.rows
        if row.id in catalogue.benchmarks
    ]
    if any(row.asked < samples for row, samples in known):
        return False
    return not any(
        len(taken) < row.asked for row in result.rows for taken in row.samples[0].values()
    )


def _by_samples(
    result: Result, catalogue: Catalogue, drawn: Sequence[BootPlace]
) -> dict[int | None, list[BootPlace]]:
    """Return the boots by how many samples of a row were asked for at most; None: as many as are
    enough. A boot without rows has no say, and was asked for what the result's others were."""
    asked: dict[tuple[str, Lang], int] = defaultdict(int)
    for row in result.rows:
        asked[row.boot, row.lang] = max(asked[row.boot, row.lang], row.asked)
    boots = {boot.name: boot for boot in catalogue.boots()}
    usual = all(
        most == default_samples(boots[name], catalogue)
        for (name, _), most in asked.items()
        if name in boots
    )
    found: dict[int | None, list[BootPlace]] = defaultdict(list)
    for place in drawn:
        most = asked.get((place.boot, place.lang)) or max(asked.values(), default=0)
        found[None if usual else most].append(place)
    return found


def _suites(result: Result, catalogue: Catalogue, drawn: Sequence[BootPlace]) -> tuple[Suite, ...]:
    """Return the boots of each language, as they were run: of which benchmarks, their apps say."""
    boots = {boot.name: boot for boot in catalogue.boots()}
    suites = []
    for lang in LANGS:
        names = list(dict.fromkeys(place.boot for place in drawn if place.lang == lang))
        own, further = [], []
        for name in names:
            if name not in boots:
                raise TockmarkError(f"the catalogue has no boot {name}", "it is of another suite")
            boot = catalogue.with_only(boots[name], _only(result, name, lang))
            own.append(boot)
            further.append(_further(boot, catalogue))
        if names:
            abi = result.provenance.abi or 2
            suites.append(Suite(AppBuild.built(abi, lang, result.provenance.counter), own, further))
    return tuple(suites)


def _only(result: Result, boot: str, lang: Lang) -> int:
    """Return which benchmarks of its group an app was told to run, a bit each; 0: all."""
    said = {
        apps.record.get("only", "0")
        for apps in result.provenance.apps
        if boot in apps.boots and apps.lang == lang
    } or {"0"}
    if len(said) > 1 or not (only := said.pop()).isdecimal():
        raise TockmarkError(f"the boot {boot} was run in parts", "verify the results of each")
    return int(only)


def _further(boot: Boot, catalogue: Catalogue) -> Boot:
    """Return a boot as layouts beyond the first run it: without rows of the apps alone."""
    ids = {id_ for id_ in boot.measures if catalogue.benchmarks[id_].touches != "app"}
    return catalogue.narrowed(boot, ids) if ids - HARNESS_ROWS else boot


def _check_apps(result: Result, job: Job) -> None:
    """TockmarkError if the apps of a boot are not those of the result."""
    if job.problem is not None:
        raise TockmarkError(f"{job.name} cannot be simulated: {job.problem}")
    then = _run_of(result, job)
    if job.layout or then is None or job.image is None:
        return
    now = boot_run(job.boot.name, job.image.slots, job.apps.lang)
    for was, is_ in zip(then.slots, now.slots, strict=False):
        if (was.name, was.elf_sha256) != (is_.name, is_.elf_sha256):
            raise TockmarkError(
                f"the app {was.name} of the boot {job.name} has the sha256 {was.elf_sha256[:12]}"
                f" in the result, here {is_.elf_sha256[:12]}",
                "build the apps of the result's commit",
            )


def _run_of(result: Result, job: Job) -> BootRun | None:
    named = (
        one
        for one in result.provenance.boots
        if (one.boot, one.lang) == (job.boot.name, job.apps.lang)
    )
    return next(named, None)


def _compared(result: Result, again: Result, place: BootPlace, job: Job) -> tuple[int, list[str]]:
    """Return how many rows of a boot were compared, and in what they differ."""
    held = _rows(result, place)
    given = {row.identity: row for row in _rows(again, place._replace(layout=0))}
    found = [
        f"{row.name}: {difference}"
        for row in held
        if (difference := _difference(row, given.get(row.identity), place.layout))
    ]
    gone = {
        one.identity: (kind, one)
        for kind in ABSENT_LISTS
        for one in getattr(result, kind)
        if (one.boot, one.icache, one.lang) == place[:3]
    }
    for identity, (kind, one) in gone.items() if place.layout == 0 else ():
        there = {absent.identity: absent for absent in getattr(again, kind)}
        if there.get(identity) != one:
            found.append(f"{one.name}: {kind} in the result, not here")
    then = _run_of(result, job)
    if place.layout == 0 and then is not None and job.image is not None:
        took = then.cycles["on" if place.icache else "off"]
        if took not in (0, job.cycles):  # 0: a log does not say it
            found.append(f"it took {took} cycles in the result, {job.cycles} here")
        now = boot_run(job.boot.name, job.image.slots, job.apps.lang)
        if now.slots != then.slots and not _older(then):
            found.append("its apps lie elsewhere")
    return len(held), found


def _older(boot: BootRun) -> bool:
    """Return whether a boot's apps do not say their length, as once they did not."""
    return any(slot.flash_length is None for slot in boot.slots)


def _difference(row: Row, again: Row | None, layout: int) -> str | None:
    """Return the first field in which a row differs from what was simulated now, if in any."""
    if again is None:
        return "no such row came"
    one, two = dict(row.samples[layout]), dict(again.samples[0])
    if not layout:
        for side, held in ((row, one), (again, two)):
            held |= {name: getattr(side, name) for name in (*SAID, "event_samples")}
    different = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return f"{different[0].replace('_samples', 's')} differ" if different else None


def verified_text(name: str, found: Verified) -> str:
    """Say what came of it, for a terminal."""
    many = f"{len(found.drawn)} of {found.boots} boots"
    lines = [f"verify  {name}: {many}, {found.rows} rows; seed {found.seed}"]
    lines += [f"differs {one}" for one in found.differences]
    if not found.differences:
        lines.append("same    every byte that they gave")
        lines.append(f"chance  {100 * found.missed:.1f} % that {many} miss one altered boot")
    return "\n".join(lines) + "\n"


def verified_json(name: str, found: Verified) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "result": name,
        "seed": found.seed,
        "boots": found.boots,
        "drawn": [one._asdict() for one in found.drawn],
        "rows": found.rows,
        "missed": found.missed,
        "differences": found.differences,
    }
