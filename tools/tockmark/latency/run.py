# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run an app that waits (apps/latency) under each load, and find the stages of its alarms or of its
sent lines.

Each load has boots in which marks time all alarms. Then the start of the first boot runs again,
with a trace of every instruction, to find the longest stretches in which something waits:
interrupts are off, the kernel does not check for pending interrupts, a deferred call waits, or one
process keeps the core. A sleep (`wfi`) ends a stretch, since any interrupt ends the sleep, even
with interrupts off. The worst alarm is also traced, from its due time to its upcall. The cycles of
a stretch are shown by stack.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.latency import FORM
from tockmark.latency.chain import (
    ALARM,
    IRQ,
    UART,
    Alarm,
    KernelFamily,
    alarms_in_log,
    find_family,
    lines_in_log,
    lost_alarm,
    mark_options,
    spread,
    stage_addresses,
    stage_spreads,
)
from tockmark.latency.report import (
    CALL,
    CORE,
    KINDS,
    LOOK,
    NOUN,
    OFF,
    OTHER_STACKS,
    VERSION,
    LoadWaits,
    LongestStretch,
    NeverCame,
    StackPart,
    StoredLatency,
    WorstAlarm,
)
from tockmark.profile.run import (
    Codes,
    instructions,
    load_kernel_program,
    simulators,
    traced_boot,
)
from tockmark.profile.sample import (
    HEADING,
    INSN,
    MODE,
    PC,
    charge_cycles,
    find_contexts,
    parse,
)
from tockmark.profile.symbols import Frame, Program
from tockmark.suite.catalogue import Boot
from tockmark.target import cache
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild, Image, build_image
from tockmark.target.kernel import RESTARTS_WORD, KernelElf, with_words
from tockmark.target.protocol import Start
from tockmark.target.results import kernel_provenance as stored_kernel
from tockmark.target.results import simulator_provenance
from tockmark.target.run import MARK_SYMBOL
from tockmark.target.rv32 import SYSTEM, WFI, Kind, decode
from tockmark.wire.records import ARM

LOADS = Path(__file__).with_name("loads.toml")
APPS = paths.APPS / "latency-abi2"
DISTURBER, HASTY = "disturber", "hasty"
WAITS = {ALARM: "sleeper", UART: "writer"}  # the app of each chain
LINE = 8  # bytes: apps/latency/writer.c
# Cycles per byte at 460,800 baud. With fewer, the driver might be late with the next byte.
PACE = 521
SILENCE = 5_000_000  # cycles without a byte, after which no line is expected
ALARMS = 1000  # per load: with all loads some 250 million cycles on the baseline
MOST_ALARMS = 10_000
NAME = 10  # letters of a load's name in a boot's name
A_BOOT = 200  # alarms per boot; the simulator could not print the marks of more
MOST_CYCLES = 200_000_000  # per boot
TRACED_ALARMS = 8  # per boot, to find its stretches
NO_END = 0xFFFF_FFFF  # restarts after a fault: unlimited
MSTATUS, MIE = 0x300, 1 << 3
WRITES, CLEARS = 1, 3  # funct3 of CSR instructions, without the bit for an immediate
EFFECTS = HEADING.index("effects") - 1  # the space before them
MOST_STACKS = 6
SHOWN_FRAMES = 6
_ENTRY = re.compile(r"^(exception|interrupt|fault|_start_trap|_earlgrey_start_trap_vectored)$")
_WRAPS = re.compile(
    r"^(\{|map(_or)?$|find$|(try_)?fold$|process_map_or$|with_driver|access_grant|kernel_loop)"
)
_WRITTEN = re.compile(r" x(\d+)=([0-9a-f]{8})")


class RunLoad(Part, frozen=True):
    """A load; see loads.toml."""

    name: str
    what: str
    apps: int = 3
    number: int = 0
    needs: str | None = None
    without: str = ""
    behind: bool = False
    soon: bool = False
    most: int = MOST_CYCLES
    uart: bool = False


@dataclass(frozen=True)
class LatencyOptions:
    """The options of the user."""

    kernel: KernelElf
    board: BoardProfile
    icache: bool
    alarms: int
    loads: tuple[RunLoad, ...]
    fresh: bool = False
    chain: str = ALARM


@dataclass(frozen=True)
class RanBoot:
    """A boot and its alarms, or the one that never came."""

    load: RunLoad
    image: Image
    alarms: list[Alarm]
    never: NeverCame | None = None


def read_loads() -> list[RunLoad]:
    """Read the list of loads."""
    return msgspec.toml.decode(LOADS.read_bytes(), type=dict[str, list[RunLoad]])["load"]


def loads_for(
    kernel: KernelElf, names: Iterable[str] | None, chain: str = ALARM
) -> tuple[RunLoad, ...]:
    """Return the loads of these names, or all loads of a chain that a kernel supports. Raise
    TockmarkError if a name is unknown or the kernel does not support the load."""
    loads = {load.name: load for load in read_loads()}
    functions = load_kernel_program(kernel).code_names().values()

    def is_supported(load: RunLoad) -> bool:
        return load.needs is None or any(re.fullmatch(load.needs, name) for name in functions)

    if names is None:
        own = (load for load in loads.values() if load.uart or chain != UART)
        return tuple(filter(is_supported, own))
    chosen = []
    for name in names:
        if (load := loads.get(name)) is None:
            raise TockmarkError(f"no load is called '{name}'", f"choose from: {', '.join(loads)}")
        if not is_supported(load):
            raise TockmarkError(f"the load '{name}' cannot run: {load.without}", "omit it")
        chosen.append(load)
    return tuple(chosen)


def measure(options: LatencyOptions, say: Callable[[str], None]) -> StoredLatency:
    """Measure all loads; `say` receives a line per load. Raise TockmarkError if no alarm comes, or
    a point of the kernel is missing."""
    measurement = Measurement(options)
    ran, never, longest_ = list[RanBoot](), list[NeverCame](), dict[str, LongestStretch]()
    loads = []
    for load in options.loads:
        boots = measurement.boots(load)
        if (lost := boots[-1].never) is not None:
            never.append(lost)
            say(f"{load.name}: an upcall did not come within {lost.cycles:,} cycles")
            continue
        load_alarms = [alarm for boot in boots for alarm in boot.alarms]
        whole = spread(alarm.whole for alarm in load_alarms)
        stages = dict(stage_spreads(measurement.family, load_alarms))
        loads.append(LoadWaits(load.name, load.what, whole, stages))
        say(f"{load.name}: {len(load_alarms)} {NOUN[options.chain]}s, worst {whole.worst:,} cycles")
        ran += boots
        if options.chain != ALARM:  # the stretches do not depend on the chain
            continue
        for stretch in measurement.stretches(boots[0]):
            best = longest_.get(stretch.kind)
            if best is None or stretch.cycles > best.cycles:
                longest_[stretch.kind] = stretch
    if not ran:
        raise TockmarkError("no alarm came under any load", "give more --loads", INCOMPLETE)
    worst = measurement.worst(ran)
    return StoredLatency(
        FORM,
        VERSION,
        datetime.now(UTC).date().isoformat(),
        stored_kernel(options.kernel, None),
        options.board.name,
        options.board.clock_hz,
        options.icache,
        simulator_provenance(options.board),
        measurement.family.name,
        measurement.cycles,
        {stage.name: stage.what for stage in measurement.family.stage},
        tuple(loads),
        worst,
        tuple(longest_[kind] for kind in KINDS if kind in longest_),
        paths.commit_of_checkout(),
        tuple(never),
        options.chain,
    )


class Measurement:
    """The boots of a kernel and the number of simulated cycles, including cached boots."""

    def __init__(self, options: LatencyOptions) -> None:
        """Raise TockmarkError if a simulator is not built or the kernel's stages are unknown."""
        self.options = options
        _, self._tracing = simulators(options.board)
        self.kernel = load_kernel_program(options.kernel)
        self.family = find_family(self.kernel, options.chain)
        self.cycles = 0

    def boots(self, load: RunLoad) -> list[RanBoot]:
        """Run the boots of a load and find their alarms; stop at an alarm that never comes."""
        boots: list[RanBoot] = []
        for first in range(0, self.options.alarms, A_BOOT):
            boots.append(self._run(load, first, min(A_BOOT, self.options.alarms - first)))
            if boots[-1].never is not None:
                break
        return boots

    def worst(self, ran: Iterable[RanBoot]) -> WorstAlarm:
        """Trace the worst alarm of all boots."""
        boot = max(ran, key=lambda ran_boot: max(alarm.whole for alarm in ran_boot.alarms))
        alarm = max(boot.alarms, key=lambda boot_alarm: boot_alarm.whole)
        lines = self._trace(boot.image, alarm.due, alarm.ends[-1])
        names = [stage.name for stage in self.family.stage]
        cycles = dict(zip(names, alarm.stages, strict=True))
        parts = hottest_stacks(lines, Codes(self.kernel, boot.image))
        return WorstAlarm(boot.load.name, alarm.whole, cycles, parts)

    def stretches(self, ran: RanBoot) -> Iterable[LongestStretch]:
        """Yield the longest stretches during the first alarms of a boot."""
        first = ran.alarms[0].due
        last = ran.alarms[min(TRACED_ALARMS, len(ran.alarms)) - 1].ends[-1]
        lines = self._trace(ran.image, first, last)
        codes = Codes(self.kernel, ran.image)
        owner = partial(codes.owner, True)
        for kind, span in longest_spans(self.family, self.kernel, owner, lines).items():
            if span.cycles:
                parts = hottest_stacks(lines[span.start : span.end], codes)
                yield LongestStretch(kind, span.cycles, ran.load.name, parts)

    def _image(self, load: RunLoad, first: int, count: int) -> Image:
        options = self.options
        if not APPS.is_dir():
            raise TockmarkError(f"{paths.shown(APPS)} is not there", paths.make_command("apps"))
        app = HASTY if load.soon else WAITS[options.chain]
        name = f"latency-{load.name[:NAME]}-{first}".replace(" ", "-")
        others = (DISTURBER,) * load.apps
        slots = (*others, app) if load.behind else (app, *others)
        boot = Boot(name, app, slots, (), load.number, 0)
        kernel = with_words(options.kernel, {RESTARTS_WORD: NO_END})
        folder = paths.WRITTEN / "latency" / options.kernel.sha256[:8] / options.chain
        words = {"cf_calls": count, "cf_step": first, "cf_milliseconds": 0}
        return build_image(boot, AppBuild(APPS, 2), kernel, options.board, folder, words)

    def _run(self, load: RunLoad, first: int, count: int) -> RanBoot:
        """Run a boot of a load with `count` alarms, from number `first` on."""
        options, image = self.options, self._image(load, first, count)
        app = image.slots[load.apps if load.behind else 0].symbols
        own = IRQ, f"{ARM}={app[MARK_SYMBOL + ARM]:#x}"
        marks = mark_options(self.family, self.kernel, app, own)
        target = options.board.target.configured(self._limits(load.most))
        start = Start(load.name, image.flash, options.icache, marks, panics=options.kernel.panics)
        session = cache.default_cache(options.fresh).begin(target, start)
        lines = list(session.lines())
        ending = session.ending()
        self.cycles += ending.cycles
        if ending.idle and (load.most != MOST_CYCLES or options.chain == UART):
            lost = lost_alarm(self.family, lines, ending.cycles, load.name)
            return RanBoot(load, image, [], NeverCame(load.name, load.what, *lost))
        if ending.why:
            raise TockmarkError(f"{load.name}: {ending.why}", "give fewer --loads", INCOMPLETE)
        if options.chain == UART:
            takes = range(LINE * PACE, (LINE + 1) * PACE)
            return RanBoot(load, image, lines_in_log(self.family, lines, load.name, count, takes))
        return RanBoot(load, image, alarms_in_log(self.family, lines, load.name))

    def _limits(self, limit: int) -> dict[str, int]:
        sends = self.options.chain == UART
        silence = SILENCE if sends and limit == MOST_CYCLES else limit
        return {"max-cycles": limit, "silence": silence} | ({"uart-cycles": PACE} if sends else {})

    def _trace(self, image: Image, start: int, end: int) -> list[str]:
        """Return the instructions of a boot between two cycles."""
        options, target = self.options, self._tracing.configured(self._limits(end))
        begin = Start(image.flash.stem, image.flash, options.icache, panics=options.kernel.panics)
        self.cycles += end
        with traced_boot(target, begin, "--from", str(start), "--to", str(end)) as (simulation, _):
            return list(instructions(simulation.lines()))


@dataclass(frozen=True)
class Span:
    """A range of trace lines, the end excluded, and its cycles."""

    start: int
    end: int
    cycles: int


@dataclass
class LongestSoFar:
    """The longest span so far, and the open one."""

    best: Span = Span(0, 0, 0)
    since: tuple[int, int] | None = None  # line, cycle

    def open(self, line: int, cycle: int) -> None:
        if self.since is None:
            self.since = line, cycle

    def close(self, line: int, cycle: int) -> None:
        """End the open span before this line."""
        if self.since is not None:
            start, since = self.since
            if cycle - since > self.best.cycles:
                self.best = Span(start, line, cycle - since)
            self.since = None


@dataclass
class Follower:
    """Finds the longest spans of each kind in the lines of a trace."""

    looks: Set[int]  # addresses that read the pending interrupts
    requests: Set[int]  # addresses that request a deferred call
    serves: Set[int]  # addresses that serve one
    owner: Callable[[int], int]  # of an address in user mode
    longest: dict[str, LongestSoFar] = field(
        default_factory=lambda: {kind: LongestSoFar() for kind in KINDS}
    )
    _registers: list[int] = field(default_factory=lambda: [0] * 32)

    def follow(self, lines: Sequence[str]) -> dict[str, Span]:
        """Return the longest span of each kind. A span that is open at the end does not count."""
        interrupts_off, look, call, core = (self.longest[kind] for kind in (OFF, LOOK, CALL, CORE))
        user, running, asleep = False, None, False
        last = int(lines[0][:10]) if lines else 0
        for number, line in enumerate(lines):
            was_user, user = user, line[MODE] == "U"
            cycle = int(line[:10])
            if asleep:
                last = cycle - 1
                look.open(number, last)
            pc = int(line[PC], 16)
            if user:
                asleep = False
                if not was_user:
                    interrupts_off.close(number, last)
                    look.close(number, last)
                    if running != (running := self.owner(pc)):
                        core.close(number, last)
                core.open(number, last)
            else:
                if was_user:
                    look.open(number, last)
                if line.endswith("handler"):
                    interrupts_off.open(number, last)
                if pc in self.looks:
                    look.close(number, last)
                    look.open(number, last)
                if pc in self.requests:
                    call.open(number, last)
                if pc in self.serves:
                    call.close(number, last)
                insn = int(line[INSN], 16)
                asleep = insn == WFI
                self._system(insn, number + 1, cycle)
                for register, value in _WRITTEN.findall(line, EFFECTS):
                    self._registers[int(register)] = int(value, 16)
            last = cycle
        return {kind: span.best for kind, span in self.longest.items()}

    def _system(self, insn: int, line: int, cycle: int) -> None:
        """Follow the effect of a kernel instruction on interrupts."""
        instruction = decode(insn)
        if instruction.kind not in SYSTEM:
            return
        interrupts_off, look, core = (self.longest[kind] for kind in (OFF, LOOK, CORE))
        if instruction.kind == Kind.WAIT:
            for span in (interrupts_off, look, core):
                span.close(line, cycle)
        elif instruction.kind == Kind.RETURN:
            interrupts_off.close(line, cycle)
        elif instruction.kind == Kind.CSR and instruction.imm == MSTATUS:
            source = instruction.rs1
            value = source if instruction.function & 4 else self._registers[source]
            operation = instruction.function & 3
            if (operation == CLEARS and value & MIE) or (operation == WRITES and not value & MIE):
                interrupts_off.open(line, cycle)
            elif operation != CLEARS and value & MIE:
                interrupts_off.close(line, cycle)


def longest_spans(
    family: KernelFamily, kernel: Program, owner: Callable[[int], int], lines: Sequence[str]
) -> dict[str, Span]:
    """Return the longest span of each kind in a trace without its heading. `owner` returns the app
    at an address in user mode."""
    look_stage = next(stage for stage in family.stage if stage.name == family.looks)
    looks = {*stage_addresses(kernel, look_stage)}
    requests, serves = set[int](), set[int]()
    if (deferred := family.deferred) is not None:
        ran = {int(line[PC], 16) for line in lines if line[MODE] != "U"}
        kernel.look_up(ran)
        for at in ran:
            paths = [scope.path for scope in kernel.scopes(at)]
            if deferred.set in paths:
                requests.add(at)
            if deferred.served in paths:
                serves.add(at)
    return Follower(looks, requests, serves, owner).follow(lines)


def _shorten(stack: Sequence[Frame]) -> tuple[str, ...]:
    """Return the outer functions since the last trap, without mere wrappers. Apps and assembly have
    no file."""
    bare = [at for at, frame in enumerate(stack) if not frame.file]
    own = stack
    if bare:
        own = stack[bare[-1] + (not _ENTRY.search(stack[bare[-1]].name)) :] or stack[-1:]
    return tuple(frame.name for frame in own if not _WRAPS.search(frame.name))[:SHOWN_FRAMES]


def hottest_stacks(lines: Sequence[str], codes: Codes) -> tuple[StackPart, ...]:
    """Return the cycles of trace lines by stack, largest first; the last part has the cycles of all
    other stacks. The parts add up to the cycles of the lines."""
    steps = [parse(line) for line in lines]
    codes.look_up((step.user, step.pc) for step in steps)
    cycles_by_stack: Counter[tuple[str, ...]] = Counter()
    contexts = find_contexts(steps, codes.frames, codes.owner_of)
    for (_, charges), context in zip(charge_cycles(steps), contexts, strict=True):
        cycles_by_stack[_shorten(context.stack)] += sum(cycles for _, cycles in charges)
    most = cycles_by_stack.most_common(MOST_STACKS)
    rest = cycles_by_stack.total() - sum(cycles for _, cycles in most)
    parts = [StackPart(stack, cycles) for stack, cycles in most]
    return (*parts, *([StackPart(OTHER_STACKS, rest)] if rest else []))
