# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `verify`: does a stored result contain what its kernel, apps and simulator give?

First it searches the result for contradictions. Then it simulates boots of the result again (all,
or some that a seed draws), never from the cache. Their rows, samples, cycles and addresses of apps
must equal the stored ones, and so must every fact of the provenance that the kernel's ELF, the
apps, the catalogue or the simulator shows. The output lists the facts that nothing shows, and the
boots of the catalogue that the result does not name. This does not prove the boots that were not
drawn; the output shows the chance of missing an altered one. If the kernel or the apps differ, or
the simulator is neither the result's own nor proved equivalent (`same-simulator`), verify stops and
names the difference.
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
from tockmark.show import text
from tockmark.suite.catalogue import HARNESS_ROWS, ICACHE, LANGS, Boot, Catalogue, Lang, lang_suffix
from tockmark.suite.selection import Selection
from tockmark.target import run
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild
from tockmark.target.kernel import KernelElf, RunLayout, run_layouts
from tockmark.target.results import (
    board_provenance,
    boot_run,
    kernel_provenance,
    results_by_layout,
)
from tockmark.target.run import Job, RunOptions, Suite, default_samples
from tockmark_lab.contradictions import contradiction

BOOTS = 4  # boots to simulate again, by default
# Facts that the same measurement may have otherwise, and that another, equivalent simulator has.
OWN_FACTS = ("date", "tool", "cached", "hosts", "kernel.file")
OF_SIMULATOR = ("simulator_sha256", "engine", "verilator", "ibex", "opentitan")
# The facts about a row that its boot reports.
BOOT_FACTS = [name for name in FACTS if name not in ("stated", "published")]


class BootKey(NamedTuple):
    """One simulation of a boot of a result."""

    boot: str
    icache: bool
    lang: Lang
    layout: int

    def __str__(self) -> str:
        layout = f", layout {self.layout}" * bool(self.layout)
        return f"{self.boot}, i-cache {ICACHE[self.icache]}{lang_suffix(self.lang)}{layout}"


@dataclass(frozen=True)
class Verified:
    """The outcome of a verification."""

    seed: str
    drawn: tuple[BootKey, ...]
    boots: int  # in the result
    rows: int  # compared
    differences: tuple[str, ...]
    unchecked: tuple[str, ...] = ()  # facts that nothing shows, and boots that may be missing

    @property
    def missed(self) -> float:
        """The probability that the drawn boots miss one altered boot."""
        return 1 - len(self.drawn) / self.boots


def boot_keys(result: Result) -> list[BootKey]:
    """Return every boot of a result, in every layout. TockmarkError if the result lists none."""
    provenance = result.provenance
    if not (result.simulated and provenance.layouts and provenance.boots):
        raise TockmarkError(
            "the result does not list the boots of a simulator", "give a result of `tockmark run`"
        )
    keys = {
        BootKey(booted.boot, setting == "on", booted.lang, 0)
        for booted in provenance.boots
        for setting in booted.cycles
    }
    for row in result.rows:
        if row.icache is not None:
            keys |= {BootKey(row.boot, row.icache, row.lang, layout) for layout in row.layouts}
    return sorted(keys)


def draw(keys: Sequence[BootKey], count: int | None, seed: str) -> tuple[BootKey, ...]:
    """Return `count` boots that the seed draws; None: all."""

    def order(key: BootKey) -> bytes:
        text = f"{seed} {key.boot} {key.lang} {ICACHE[key.icache]} {key.layout}"
        return hashlib.sha256(text.encode()).digest()

    return tuple(keys if count is None else sorted(keys, key=order)[:count])


def verify(
    result: Result,
    kernels: Sequence[KernelElf],
    board: BoardProfile,
    catalogue: Catalogue,
    count: int | None,
    seed: str,
    jobs: int,
) -> Verified:
    """Simulate boots of a result again and compare them. TockmarkError if the result contradicts
    itself, its kernel, apps or simulator differ from these, or a boot cannot be run."""
    keys_of_result = boot_keys(result)
    if wrong := contradiction(result, catalogue.with_others(result.provenance.benchmarks)):
        raise TockmarkError(f"the result contradicts itself: {wrong}", "measure it again")
    drawn = draw(keys_of_result, count, seed)
    layouts = _layouts(result, kernels)
    board = _board(result, board)
    options = RunOptions(
        layouts=layouts,
        board=board,
        suites=(),
        catalogue=catalogue,
        icaches=sorted({boot_key.icache for boot_key in keys_of_result}, reverse=True),
        all_samples=_all_samples(result, catalogue),
        samples=None,
        jobs=jobs,
        fresh=True,
    )
    differences, unchecked = _facts(result, layouts, board, catalogue)
    differences += missing_boots(keys_of_result)
    rows = 0
    for samples, keys in _by_samples(result, catalogue, drawn).items():
        suites = _suites(result, catalogue, keys)
        which = {
            ((boot_key.boot, boot_key.icache, boot_key.lang), boot_key.layout) for boot_key in keys
        }
        ran = run.run(replace(options, suites=suites, samples=samples, selected=which))
        if ran.interrupted:
            raise TockmarkError("interrupted: nothing was verified", code=INTERRUPTED)
        results_of_layouts, _ = results_by_layout(
            ran, replace(options, suites=suites), Selection(catalogue)
        )
        for job in (job for layout_jobs in ran.jobs for job in layout_jobs):
            key = BootKey(*job.key, job.layout)
            _check_apps(result, job)
            compared, problems = _compare(result, results_of_layouts[job.layout], key, job)
            rows += compared
            differences += [f"{key}: {problem}" for problem in problems]
    return Verified(seed, drawn, len(keys_of_result), rows, tuple(differences), tuple(unchecked))


def _facts(
    result: Result, layouts: Sequence[RunLayout], board: BoardProfile, catalogue: Catalogue
) -> tuple[list[str], list[str]]:
    """Compare the facts of the provenance with the kernel's ELF, the simulator and the catalogue.
    Return the differences, and what cannot be checked."""
    then = result.provenance
    kernel, machine = kernel_provenance(layouts[0].kernel, board), board_provenance(board)
    same = then.board.simulator_sha256 == machine.simulator_sha256
    pairs = [
        (f"{part}.{name}", getattr(stored, name), getattr(now, name))
        for part, stored, now in (("kernel", then.kernel, kernel), ("board", then.board, machine))
        for name in stored.__struct_fields__
        if same or name not in OF_SIMULATOR
    ]
    links = {layout.kernel.sha256: layout.link for layout in run_layouts(_once(layouts), 1)}
    for number, layout in enumerate(then.layouts):
        pairs.append((f"layout {number}: link", layout.link, links[layout.sha256 or ""]))
    known = catalogue.with_others(then.benchmarks).benchmarks
    for id_, entry in then.entries.items():
        pairs.append((f"entry of {id_}", entry, known[id_].measured_as if id_ in known else None))
    differences = [
        f"{name}: {stored} in the result, {now} here"
        for name, stored, now in pairs
        if None not in (stored, now) and stored != now and name not in OWN_FACTS
    ]
    if then.entries:
        ids = sorted({row.id for row in result.rows} - then.entries.keys())
        differences += [f"entry of {id_}: not in the result" for id_ in ids]
    unchecked = [name for name, stored, now in pairs if (stored is None) is not (now is None)]
    if then.catalogue_sha256 != catalogue.sha256:
        unchecked.append("catalogue_sha256")
    boots = {booted.boot for booted in then.boots}
    if left := [boot.name for boot in catalogue.boots() if boot.name not in boots]:
        unchecked.append(f"whether these boots were asked for: {', '.join(left)}")
    return differences, [*OWN_FACTS, *unchecked]


def _once(layouts: Sequence[RunLayout]) -> list[KernelElf]:
    """Return the kernel of each link."""
    return list({layout.kernel.sha256: layout.kernel for layout in layouts}.values())


def missing_boots(keys: Sequence[BootKey]) -> list[str]:
    """Return the boots that a result has with one cache setting only, though other boots have
    both."""
    settings = {key.icache for key in keys}
    boots = dict.fromkeys((key.boot, key.lang) for key in keys)
    expected = [BootKey(name, icache, lang, 0) for name, lang in boots for icache in settings]
    return [f"{key}: the result lacks this boot" for key in expected if key not in set(keys)]


def _layouts(result: Result, kernels: Sequence[KernelElf]) -> tuple[RunLayout, ...]:
    """Return the layouts of a result with their kernels."""
    by_hash = {kernel.sha256: kernel for kernel in kernels}
    wanted = [layout.sha256 for layout in result.provenance.layouts]
    for sha256, kernel in by_hash.items():
        if sha256 not in wanted:
            raise TockmarkError(
                f"{shown(kernel.path)} (sha256 {sha256[:12]}) is not a kernel of the result",
                f"give {', '.join(sorted({hash_[:12] for hash_ in wanted if hash_}))}",
            )
    layouts = []
    for number, layout in enumerate(result.provenance.layouts):
        if layout.sha256 not in by_hash:
            raise TockmarkError(
                f"layout {number} has another kernel: {layout.file},"
                f" sha256 {(layout.sha256 or 'unknown')[:12]}",
                "give its ELF with --kernel",
            )
        layouts.append(RunLayout(by_hash[layout.sha256], layout.link, layout.seed))
    return tuple(layouts)


def _board(result: Result, board: BoardProfile) -> BoardProfile:
    """Return the board with the configuration of the result. TockmarkError if its simulator, or
    another property, differs."""
    then = result.provenance.board
    if then.uart_cycles_per_byte:
        core = then.core.name if then.core else None
        board = board.configured(
            {
                "uart-cycles": then.uart_cycles_per_byte,
                "sram-seed": then.sram_seed or None,
                "core": core,
                "engine": then.engine,
            }
        )
    now = board_provenance(board)
    for name in ("simulator_sha256", "machine", "clock_hz", "uart_cycles_per_byte"):
        stored, current = getattr(then, name), getattr(now, name)
        equivalent = name == "simulator_sha256" and same_simulator(
            stored, current, {row.id for row in result.rows}
        )
        if stored != current and not equivalent:
            raise TockmarkError(
                f"the result's {name} is {stored}, here it is {current}",
                "verify it with the simulator that measured it",
            )
    return board


def _rows(result: Result, key: BootKey) -> list[Row]:
    identity = (key.boot, key.icache, key.lang)
    return [
        row
        for row in result.rows
        if (row.boot, row.icache, row.lang) == identity and key.layout in row.layouts
    ]


def _all_samples(result: Result, catalogue: Catalogue) -> bool:
    """Return whether a result has all samples of the catalogue, so that no series ended early."""
    requested = [
        (row, catalogue.benchmarks[row.id].samples)
        for row in result.rows
        if row.id in catalogue.benchmarks
    ]
    if any(row.asked < samples for row, samples in requested):
        return False
    return not any(
        len(taken) < row.asked for row in result.rows for taken in row.samples[0].values()
    )


def _by_samples(
    result: Result, catalogue: Catalogue, drawn: Sequence[BootKey]
) -> dict[int | None, list[BootKey]]:
    """Group the boots by their samples: the most that were requested for a row; None: the default.
    A boot without rows gets the most samples of the result."""
    asked: dict[tuple[str, Lang], int] = defaultdict(int)
    for row in result.rows:
        asked[row.boot, row.lang] = max(asked[row.boot, row.lang], row.asked)
    boots = {boot.name: boot for boot in catalogue.boots()}
    usual = all(
        most == default_samples(boots[name], catalogue)
        for (name, _), most in asked.items()
        if name in boots
    )
    by_samples: dict[int | None, list[BootKey]] = defaultdict(list)
    for key in drawn:
        most = asked.get((key.boot, key.lang)) or max(asked.values(), default=0)
        by_samples[None if usual else most].append(key)
    return by_samples


def _suites(result: Result, catalogue: Catalogue, drawn: Sequence[BootKey]) -> tuple[Suite, ...]:
    """Return the boots of each language with the benchmarks that the result's apps recorded."""
    boots = {boot.name: boot for boot in catalogue.boots()}
    suites = []
    for lang in LANGS:
        names = list(dict.fromkeys(key.boot for key in drawn if key.lang == lang))
        own, further = [], []
        for name in names:
            if name not in boots:
                raise TockmarkError(
                    f"the catalogue has no boot {name}",
                    "verify it with the checkout that measured it",
                )
            boot = catalogue.with_only(boots[name], _only(result, name, lang))
            own.append(boot)
            further.append(_further(boot, catalogue))
        if names:
            abi = result.provenance.abi or 2
            suites.append(Suite(AppBuild.built(abi, lang, result.provenance.counter), own, further))
    return tuple(suites)


def _only(result: Result, boot: str, lang: Lang) -> int:
    """Return the benchmarks that a boot ran, as bits in the order of its group; 0: all."""
    selections = {
        apps.record.get("only", "0")
        for apps in result.provenance.apps
        if boot in apps.boots and apps.lang == lang
    } or {"0"}
    if len(selections) > 1 or not (only := selections.pop()).isdecimal():
        raise TockmarkError(f"the boot {boot} was run in parts", "verify the result of each part")
    return int(only)


def _further(boot: Boot, catalogue: Catalogue) -> Boot:
    """Return a boot for further layouts: without rows that touch only the app."""
    ids = {id_ for id_ in boot.measures if catalogue.benchmarks[id_].touches != "app"}
    return catalogue.narrowed(boot, ids) if ids - HARNESS_ROWS else boot


def _check_apps(result: Result, job: Job) -> None:
    """Raise TockmarkError if a boot was not simulated, or its apps differ from the result's."""
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
        booted
        for booted in result.provenance.boots
        if (booted.boot, booted.lang) == (job.boot.name, job.apps.lang)
    )
    return next(named, None)


def _compare(result: Result, again: Result, key: BootKey, job: Job) -> tuple[int, list[str]]:
    """Compare the rows of a boot. Return how many were compared, and the differences."""
    rows = _rows(result, key)
    new_rows = {row.identity: row for row in _rows(again, key._replace(layout=0))}
    differences = [
        f"{row.name}: {difference}"
        for row in rows
        if (difference := _difference(row, new_rows.get(row.identity), key.layout))
    ]
    absent_rows = {
        absent.identity: (list_name, absent)
        for list_name in ABSENT_LISTS
        for absent in getattr(result, list_name)
        if (absent.boot, absent.icache, absent.lang) == key[:3]
    }
    for identity, (list_name, absent) in absent_rows.items() if key.layout == 0 else ():
        new_absent = {entry.identity: entry for entry in getattr(again, list_name)}
        if new_absent.get(identity) != absent:
            differences.append(f"{absent.name}: {list_name} in the result, not here")
    lacking = new_rows.keys() - {row.identity for row in rows}
    differences += [
        f"{row.name}: not in the result" for row in new_rows.values() if row.identity in lacking
    ]
    for list_name in ("failed", "skipped") if key.layout == 0 else ():
        for absent in getattr(again, list_name):
            if (absent.boot, absent.icache, absent.lang) == key[
                :3
            ] and absent.identity not in absent_rows:
                differences.append(f"{absent.name}: {list_name} here, not in the result")
    if key.layout == 0 and _records(result, key) != _records(again, key):
        differences.append("its apps reported other values")
    then = _run_of(result, job)
    if key.layout == 0 and then is not None and job.image is not None:
        cycles = then.cycles["on" if key.icache else "off"]
        if cycles not in (0, job.cycles):  # 0: the log has no cycles
            differences.append(f"it took {cycles} cycles in the result, {job.cycles} here")
        now = boot_run(job.boot.name, job.image.slots, job.apps.lang)
        if now.slots != then.slots and not _is_old(then):
            differences.append("its apps are at other addresses")
    return len(rows), differences


def _records(result: Result, key: BootKey) -> list[dict[str, str]]:
    """Return the `begin` records of a boot's apps."""
    return [
        apps.record
        for apps in result.provenance.apps
        if key.boot in apps.boots and apps.lang == key.lang
    ]


def _is_old(boot: BootRun) -> bool:
    """Return whether a boot is from an old result, which has no length of its apps."""
    return any(slot.flash_length is None for slot in boot.slots)


def _difference(row: Row, again: Row | None, layout: int) -> str | None:
    """Return the first field in which a row differs from the new simulation; None if none does."""
    if again is None:
        return "the new boot lacks this row"
    stored_values, new_values = dict(row.samples[layout]), dict(again.samples[0])
    if not layout:
        for side, values in ((row, stored_values), (again, new_values)):
            values |= {name: getattr(side, name) for name in (*BOOT_FACTS, "event_samples")}
    different = [
        name
        for name in {**stored_values, **new_values}
        if stored_values.get(name) != new_values.get(name)
    ]
    return f"{different[0].replace('_samples', 's')} differ" if different else None


def verified_text(name: str, verified: Verified) -> str:
    """Format the outcome for a terminal."""
    many = f"{len(verified.drawn)} of {verified.boots} boots"
    lines = [f"verify  {name}: {many}, {verified.rows} rows; seed {verified.seed}"]
    lines += [f"differs {difference}" for difference in verified.differences]
    if not verified.differences:
        lines.append("same    every sample of these boots")
        lines.append(f"chance  {100 * verified.missed:.1f} % that {many} miss one altered boot")
    lines += text.wrap(f"not checked: {', '.join(verified.unchecked)}")
    return "\n".join(lines) + "\n"


def verified_json(name: str, verified: Verified) -> dict[str, object]:
    """Return the outcome as JSON."""
    return {
        "result": name,
        "seed": verified.seed,
        "boots": verified.boots,
        "drawn": [boot_key._asdict() for boot_key in verified.drawn],
        "rows": verified.rows,
        "missed": verified.missed,
        "differences": verified.differences,
        "unchecked": verified.unchecked,
    }
