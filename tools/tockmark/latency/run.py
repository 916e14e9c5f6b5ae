# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This runs the app sleeper (apps/latency) beside each load, and finds what its alarms went
through.

Of each load there is one boot whose alarms all count, by marks; then, on the simulator with the
retirement port, the start of the same boot again, for the longest stretches. The worst alarm of all
is traced, too, from when it is due to its upcall.
"""

import bisect
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark import paths
from tockmark.documents import Part
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.latency import points
from tockmark.latency.chain import IRQ, Alarm, alarms, spread, spreads
from tockmark.latency.points import KernelFamily
from tockmark.latency.report import LoadFound, StoredLatency, WorstAlarm, stored
from tockmark.latency.stretches import KINDS, LongestStretch, StackPart, longest, stacks, traced
from tockmark.log.marks import ARM
from tockmark.profile.run import Codes, kernel_of, simulators
from tockmark.profile.sample import MODE, PC
from tockmark.profile.symbols import Program
from tockmark.rig import cache
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import AppBuild, Image, build_image
from tockmark.rig.kernel import RESTARTS_WORD, KernelElf, with_words
from tockmark.rig.protocol import Start
from tockmark.rig.run import SYMBOL
from tockmark.suite.catalogue import Boot

LOADS = Path(__file__).with_name("loads.toml")
APPS = paths.APPS / "latency-abi2"
SLEEPER, DISTURBER = "sleeper", "disturber"
ALARMS = 150  # beside each load: with all loads some 20 million cycles on the baseline
MOST_ALARMS = 1024  # apps/latency/sleeper.c
MOST_CYCLES = 200_000_000  # of a boot
TRACED_ALARMS = 8  # of a boot: as long as these take, it is traced for its stretches
NO_END = 0xFFFF_FFFF  # of starting again after a fault


class RunLoad(Part, frozen=True):
    """What runs beside: see loads.toml."""

    name: str
    what: str
    apps: int = 3
    number: int = 0
    baseline: str | None = None


@dataclass(frozen=True)
class LatencyOptions:
    """What the user asked for."""

    kernel: KernelElf
    board: BoardProfile
    icache: bool
    alarms: int
    loads: tuple[RunLoad, ...]
    fresh: bool = False


@dataclass(frozen=True)
class RanLoad:
    """A boot, and what its alarms went through."""

    load: RunLoad
    image: Image
    alarms: list[Alarm]
    cycles: int


def known_loads() -> list[RunLoad]:
    """Read the list of loads."""
    data = tomllib.loads(LOADS.read_text(encoding="utf-8"))
    return msgspec.convert(data["load"], list[RunLoad])


def loads_for(kernel: KernelElf, names: Iterable[str] | None) -> tuple[RunLoad, ...]:
    """Return the loads of these names, or all that a kernel can bear. TockmarkError if there is no
    such load, or the kernel cannot bear it."""
    known = {load.name: load for load in known_loads()}
    if names is None:
        return tuple(one for one in known.values() if kernel.is_baseline or one.baseline is None)
    found = []
    for name in names:
        if (load := known.get(name)) is None:
            raise TockmarkError(f"there is no load '{name}'", f"choose from: {', '.join(known)}")
        if load.baseline is not None and not kernel.is_baseline:
            raise TockmarkError(f"no load '{name}' here: {load.baseline}", "leave it out")
        found.append(load)
    return tuple(found)


def measure(options: LatencyOptions, say: Callable[[str], None]) -> StoredLatency:
    """Run all; `say` is told what is done. TockmarkError if an alarm did not come, or a point of
    the kernel is gone."""
    simulators(options.board)  # both are there, or it ends here
    kernel = kernel_of(options.kernel)
    family = points.family_of(kernel)
    ran, found = [], dict[str, LongestStretch]()
    for load in options.loads:
        one = _run(options, family, kernel, load)
        whole = spread(alarm.whole for alarm in one.alarms)
        say(f"{load.name}: {len(one.alarms)} alarms, the worst {whole.worst:,} cycles")
        ran.append(one)
        for stretch in _stretches(options, family, kernel, one):
            if stretch.kind not in found or stretch.cycles > found[stretch.kind].cycles:
                found[stretch.kind] = stretch
    worst = max(ran, key=lambda one: max(alarm.whole for alarm in one.alarms))
    alarm = max(worst.alarms, key=lambda one: one.whole)
    lines = _trace(options, worst.image, alarm.due, alarm.ends[-1])
    codes = _Codes(kernel, worst.image)
    told = WorstAlarm(
        worst.load.name,
        alarm.whole,
        dict(zip([stage.name for stage in family.stage], alarm.stages, strict=True)),
        codes.stacks(lines),
    )
    loads = [
        LoadFound(
            one.load.name,
            one.load.what,
            spread(alarm.whole for alarm in one.alarms),
            dict(spreads(family, one.alarms)),
        )
        for one in ran
    ]
    cycles = sum(one.cycles for one in ran)
    ordered = [found[kind] for kind in KINDS if kind in found]
    whats = {stage.name: stage.what for stage in family.stage}
    about = options.kernel, options.board, options.icache
    return stored(*about, family.name, whats, cycles, loads, told, ordered)


def _image(options: LatencyOptions, load: RunLoad) -> Image:
    if not APPS.is_dir():
        raise TockmarkError(f"{paths.shown(APPS)} is not there", paths.by_make("apps"))
    name = f"latency-{load.name}"
    slots = (SLEEPER, *(DISTURBER,) * load.apps)
    boot = Boot(name, SLEEPER, slots, (), load.number, 0)
    kernel = with_words(options.kernel, {RESTARTS_WORD: NO_END})
    out = paths.WRITTEN / "latency" / options.kernel.sha256[:8]
    words = {"cf_calls": options.alarms, "cf_step": 0, "cf_milliseconds": 0}
    return build_image(boot, AppBuild(APPS, 2), kernel, options.board, out, words)


def _run(options: LatencyOptions, family: KernelFamily, kernel: Program, load: RunLoad) -> RanLoad:
    """Run the boot of a load, and find its alarms."""
    image = _image(options, load)
    app = image.slots[0].symbols
    marks = points.mark_options(family, kernel, app, (IRQ, f"{ARM}={app[SYMBOL + ARM]:#x}"))
    limits = {"max-cycles": MOST_CYCLES, "silence": MOST_CYCLES}
    target = options.board.target.configured(limits)
    start = Start(load.name, image.flash, options.icache, marks, panics=options.kernel.panics)
    session = cache.default(options.fresh, own=True).begin(target, start)
    lines = list(session.lines())
    if ending := session.ending():
        raise TockmarkError(f"{load.name}: {ending}", "ask for fewer --loads", INCOMPLETE)
    found = alarms(family, lines, load.name)
    return RanLoad(load, image, found, session.cycles)


def _trace(options: LatencyOptions, image: Image, start: int, end: int) -> list[str]:
    """Return the instructions of a boot between two cycles."""
    _, target = simulators(options.board)
    target = target.configured({"max-cycles": end, "silence": end})
    begin = Start(image.flash.stem, image.flash, options.icache, panics=options.kernel.panics)
    with tempfile.NamedTemporaryFile() as uart:
        tracing = target.start_here(
            begin, "--uart", uart.name, "--itrace", "-", "--from", str(start), "--to", str(end)
        )
        try:
            return list(traced(tracing.lines()))
        finally:
            tracing.stop()
            tracing.ending()


def _stretches(
    options: LatencyOptions, family: KernelFamily, kernel: Program, ran: RanLoad
) -> Iterable[LongestStretch]:
    """Yield the longest stretches while the first alarms of a boot come."""
    first = ran.alarms[0].due
    last = ran.alarms[min(TRACED_ALARMS, len(ran.alarms)) - 1].ends[-1]
    lines = _trace(options, ran.image, first, last)
    codes = _Codes(kernel, ran.image)
    for kind, span in longest(family, kernel, codes.owner, lines).items():
        if span.cycles:
            parts = codes.stacks(lines[span.start : span.end])
            yield LongestStretch(kind, span.cycles, ran.load.name, parts)


class _Codes:
    """The code of a boot: the kernel's, and each app's."""

    def __init__(self, kernel: Program, image: Image) -> None:
        self._codes = Codes(kernel, image)
        self._starts = [slot.flash_start for slot in image.slots]

    def owner(self, address: int) -> int:
        """Return the number of the app that an address in user mode is of."""
        return max(bisect.bisect_right(self._starts, address) - 1, 0)

    def stacks(self, lines: list[str]) -> tuple[StackPart, ...]:
        """Return where the cycles of these lines went."""
        codes = self._codes
        codes.study((line[MODE] == "U", int(line[PC], 16)) for line in lines)
        return stacks(
            lines,
            lambda step: codes.code_of(step)[1].frames(step.pc),
            lambda step: codes.code_of(step)[0],
        )
