# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cycles that each feature of the core saves, from lab/studies/cores: kernel rows over links,
and bare programs, on pairs of cores that differ in one feature."""

from collections.abc import Sequence
from functools import cache

from committed import CommittedResult, committed, number, path_of, percents, share
from tables import markdown
from tockmark.result.model import layout_nets
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE
from tockmark_lab.studies import cores
from tockmark_lab.studies.cores import BareCount

ALL = "maxperf-pmp-bmfull-icache"  # each feature but the predictor
TWO_STAGES = f"{ALL}-no-WritebackStage"
NO_TARGET = f"{TWO_STAGES}-no-BranchTargetALU"
ROWS = ("syscall.command", "upcall.yield_wait", "ctx.ring processes=2 kib=0", "ipc.round_trip")
HEADS = ("command", "upcall", "hop", "IPC")
PROGRAMS = ("lms", "Dhrystone")
Condition = tuple[str, bool]  # a core ("": the machine's own), and the setting of its cache
# Each feature, with a core without it and the same core with it. Cores without a cache: off.
FEATURES: tuple[tuple[str, Condition, Condition], ...] = (
    ("i-cache, against none", ("maxperf-pmp-bmfull", False), (ALL, True)),
    ("i-cache, against off", (ALL, False), (ALL, True)),
    ("write-back stage", (TWO_STAGES, True), (ALL, True)),
    ("write-back stage", (TWO_STAGES, False), (ALL, False)),
    ("branch-target ALU, two stages", (NO_TARGET, True), (TWO_STAGES, True)),
    ("branch-target ALU, two stages", (NO_TARGET, False), (TWO_STAGES, False)),
    ("multiplier of one cycle", (f"{ALL}-RV32MFast", True), (ALL, True)),
    ("multiplier of one cycle", (f"{ALL}-RV32MFast", False), (ALL, False)),
    ("branch predictor", ("maxperf", False), ("experimental-branch-predictor", False)),
    ("bit manipulation, unused", ("maxperf-pmp", False), ("maxperf-pmp-bmfull", False)),
    ("PMP", ("maxperf", False), ("maxperf-pmp", False)),
)
# Tock kernels by result name, each with a core that it runs on: upstream's build, which uses bit
# manipulation, and one rebuilt without it.
REBUILT = "tock-2.2-rv32imc"
WITH_AND_WITHOUT = (
    (REBUILT, "maxperf-pmp"),
    (REBUILT, "maxperf-pmp-bmbalanced"),
    ("tock-2.2", "maxperf-pmp-bmbalanced"),
)
CONFIGURATIONS = (
    *("small", "maxperf", "experimental-branch-predictor", "maxperf-pmp"),
    *("maxperf-pmp-bmbalanced", "maxperf-pmp-bmfull", ALL, "opentitan"),
)


@cache
def kernel(core: str, name: str = "baseline") -> CommittedResult | None:
    """Return the committed run of a kernel on a core, or None."""
    stem = f"cores/{name}{'-on-' if core else ''}{core}"
    return committed(stem) if path_of(stem).exists() else None


@cache
def counts() -> dict[tuple[str, str, bool], BareCount]:
    """Return the runs of bare programs by program, core and setting of the cache."""
    return {(count.program, count.name, count.icache): count for count in cores.load()}


def nets(row: str, condition: Condition, name: str = "baseline") -> tuple[float, ...]:
    """Return net cycles of one operation per layout; empty if the kernel did not run there."""
    result = kernel(condition[0], name)
    return tuple(layout_nets(result.row(row, condition[1]))) if result else ()


def cycles(program: str, condition: Condition) -> float | None:
    """Return the cycles of one iteration of a bare program; None if it did not run there."""
    count = counts().get((program, *condition))
    return count.cycles / count.iterations if count else None


def shares(row: str, without: Condition, with_: Condition, name: str = "baseline") -> list[float]:
    """Return the share of cycles that a feature saves, one per layout (a bare program has one
    layout). Negative: it costs. Empty: not measured."""
    if row in PROGRAMS:
        before, after = cycles(row, without), cycles(row, with_)
        return [1 - after / before] if before and after else []
    both = nets(row, without, name), nets(row, with_, name)
    pairs = zip(*both, strict=True) if all(both) else ()
    return [1 - after / before for before, after in pairs]


def saved(row: str, without: Condition, with_: Condition, name: str = "baseline") -> str:
    """Format the range of `shares` in percent."""
    return percents(shares(row, without, with_, name))


def features(name: str = "baseline", programs: Sequence[str] = PROGRAMS) -> str:
    """Return a table of the share that each feature saves a kernel and these programs. Features
    without data are skipped."""
    lines = []
    for feature, without, with_ in FEATURES:
        cells = [saved(row, without, with_, name) for row in ROWS]
        cells += [saved(program, without, with_) for program in programs]
        if set(cells) != {text.NONE}:
            lines.append([feature, ICACHE[with_[1]], *cells])
    return markdown(["feature", "i-cache", *HEADS, *programs], lines, (0, 1))


def configurations() -> str:
    """Return a table of Ibex's configurations: cycles of one operation or iteration."""
    lines = []
    for core in CONFIGURATIONS:
        for icache in (True, False):
            if (PROGRAMS[0], core, icache) in counts():
                condition = core, icache
                cells = [span(row, icache=icache, core=core) for row in ROWS]
                cells += [number(cycles(program, condition)) for program in PROGRAMS]
                lines.append([core, _cache_state(core, icache), *cells])
    return markdown(["configuration", "i-cache", *HEADS, *PROGRAMS], lines, (0, 1))


def _cache_state(core: str, icache: bool) -> str:
    core_settings = counts()[PROGRAMS[0], core, icache].core
    return ICACHE[icache] if core_settings is None or core_settings.icache else "none"


def rebuilt() -> str:
    """Return a table of Tock with and without bit manipulation: cycles of one operation (range
    over layouts), and flash."""
    lines = []
    for name, core in WITH_AND_WITHOUT:
        result = kernel(core, name)
        assert result is not None
        built = result.result.provenance.kernel
        cells = [span(row, name, False, core) for row in ROWS]
        lines.append([built.title, core, *cells, number(built.flash_bytes)])
    return markdown(["kernel", "core", *HEADS, "flash, bytes"], lines, (0, 1))


def saved_by_bits(counted: bool = False) -> str:
    """Format the share of Tock's cycles (or instructions) that bit manipulation saves: range over
    rows, on the core that runs both builds."""
    core = WITH_AND_WITHOUT[-1][1]
    savings = []
    for label in ROWS:
        before, after = (_cost(name, core, label, counted) for name in (REBUILT, "tock-2.2"))
        savings.append(1 - after / before)
    return percents(savings)


def _cost(name: str, core: str, label: str, counted: bool) -> float:
    result = kernel(core, name)
    row = result.row(label, False) if result else None
    cost = row and (row.instructions if counted else row.net)
    assert cost, (name, core, label)
    return cost


def programs_by_bits() -> str:
    """Format the share that lms saves if compiled with bit manipulation: range over cores."""
    savings = []
    for (program, name, icache), count in counts().items():
        plain = counts()["lms", name, icache]
        if program == "lms, Zba Zbb Zbs":
            savings.append(
                1 - (count.cycles / count.iterations) / (plain.cycles / plain.iterations)
            )
    return percents(savings)


def span(row: str, name: str = "baseline", icache: bool = True, core: str = "") -> str:
    """Format net cycles of one operation on a core (range over layouts)."""
    result = kernel(core, name)
    return result.span(row, icache) if result else text.NONE


def saved_by(feature: str, row: str, icache: bool, name: str = "baseline") -> str:
    """Format the share that a feature saves of a kernel's row or of a program."""
    without, with_ = next(
        pair for title, *pair in FEATURES if title == feature and pair[1][1] == icache
    )
    return saved(row, without, with_, name)


def largest_other_saving() -> str:
    """Format the largest share that any feature saves, except cache and write-back stage."""
    saves = []
    for feature, without, with_ in FEATURES:
        if not feature.startswith(("i-cache", "write-back")):
            saves += [
                saving for row in (*ROWS, *PROGRAMS) for saving in shares(row, without, with_)
            ]
    return percents([max(saves)])


def saved_from_flash(core: str, other: str) -> str:
    """Format the share of the cycles of lms that `other` saves over `core`, without a cache."""
    before, after = (cycles("lms", (name, False)) for name in (core, other))
    assert before is not None
    assert after is not None
    return share(before - after, before)


def opentitan_agreement() -> str:
    """Format the number of rows with the same counts on Ibex's configuration `opentitan` as on the
    machine's own core, which lacks only the second core in lockstep."""
    own, other = kernel(""), kernel("opentitan")
    assert own is not None
    assert other is not None
    rows = [
        nets(label, ("", bool(icache))) == nets(label, ("opentitan", bool(icache)))
        for icache, label in own.rows
    ]
    return f"all {len(rows)} rows" if all(rows) else f"{sum(rows)} of {len(rows)} rows"
