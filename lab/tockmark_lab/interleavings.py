# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Delivers upcalls to a process in pairs, at every distance in a window: does it get both?

The app waiter (lab/conformance/apps/waiter.c) waits for two events. One is steady: an alarm, or an
event that follows one. The other moves by some cycles from round to round, from well before the
steady event to well after it. The app checks that each event comes once, with its own words. A lost
wake-up leaves the core asleep; then the simulator's marks show the round, and the next boot
continues with the round after it. The marks also give the distance between the events.

The boots have priorities instead of time slices, so the first app can keep the core until both
events are pending (`held`). The cache is off, because then a delay is exact.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.processes import thread_pool
from tockmark.suite.catalogue import Boot
from tockmark.target.image import AppBuild, Image, build_image
from tockmark.target.protocol import Start
from tockmark.target.run import OWN_MARKS
from tockmark.wire.records import Mark, Record, decode, decode_mark
from tockmark_lab.conformance import Plan, log_folder

ALARM, CONSOLE, FIRST, SECOND, ANY = range(5)  # as in lab/conformance/apps/pairs.h
NAMES = ("alarm", "console", "first sender", "second sender")
STEP = (
    15  # cycles from one distance to the next; the sweeps of one pair are shifted by a part of it
)
BYTES = 8  # of a write
LEAST = 25  # cycles of the shortest delay
LEARNT = 200  # largest correction of a write's duration, in cycles
SERVED = 30  # most cycles from an interrupt to its trap
MOST = 400  # boots of a sweep; each wrong round takes one
TRIAL_ROUNDS = 3
_FIRST_WORD = "pair_first"


@dataclass(frozen=True)
class EventPair:
    """Two events of a process, the one it waits for, and whether the core is held."""

    steady: int
    moving: int
    awaited: int = ANY
    held: bool = False

    def __str__(self) -> str:
        waits = "yield-wait" if self.awaited == ANY else f"yield-wait-for {NAMES[self.awaited]}"
        held = ", both before the waiter runs" if self.held else ""
        return f"{NAMES[self.steady]} and {NAMES[self.moving]}, {waits}{held}"

    @property
    def senders(self) -> int:
        """The number of apps next to the waiter."""
        events = {self.steady, self.moving}
        return 2 if SECOND in events else 1 if FIRST in events or self.held else 0

    @property
    def boot(self) -> Boot:
        """Its boot, without time slices."""
        scene = self.steady | self.moving << 4 | self.awaited << 8 | self.held << 12
        name = f"pair-{self.steady}{self.moving}-{self.awaited}{'-held' * self.held}"
        return Boot(name, "waiter", ("sender",) * self.senders + ("waiter",), (), scene, 0)

    def order(self, distance: int) -> str:
        """Return the names of the events in the order of a distance."""
        both = (self.steady, self.moving) if distance >= 0 else (self.moving, self.steady)
        return f"{NAMES[both[0]]}, then {NAMES[both[1]]}"


@dataclass(frozen=True)
class Pace:
    """The timing of a kernel, in cycles: the largest distances between events, and when they come
    in a round. A tick is one of its alarm."""

    tick: int
    window: int
    window_held: int
    wake: int  # least time from a sender's alarm to its event
    ready: int  # from the start of a round until the waiter waits and a write has started
    rest: int  # from the later event to the end of the round
    rest_held: int
    written: int  # duration of a write, without its bytes
    spare: int  # how much longer the core is held

    def half(self, pair: EventPair) -> int:
        """Return the largest distance between a pair's events."""
        return self.window_held if pair.held else self.window

    def uart_cycles(self, pair: EventPair) -> int:
        """Return the UART cycles per byte, such that a write takes longer than a sender needs to
        take the core."""
        room = self.half(pair) if pair.moving == CONSOLE else 0
        return (self.lead(pair) + room + self.ready // 2 - self.written) // BYTES

    def lead(self, pair: EventPair) -> int:
        """Return the time from the first sender's wake-up to the steady event."""
        return self.ticks(self.half(pair) + self.wake) * self.tick if pair.senders else 0

    def event(self, pair: EventPair) -> int:
        """Return the time of the steady event in a round."""
        written = self.written + BYTES * self.uart_cycles(pair) + self.half(pair)
        least = written if CONSOLE in (pair.steady, pair.moving) else self.lead(pair)
        return self.ticks(self.ready + least) * self.tick

    def round(self, pair: EventPair) -> int:
        """Return the length of a round."""
        rest = self.rest_held if pair.held or pair.senders == 2 else self.rest
        return self.ticks(self.event(pair) + self.half(pair) + rest) * self.tick

    def ticks(self, cycles: int) -> int:
        """Return cycles in ticks, rounded up."""
        return -(-cycles // self.tick)

    def words(
        self, pair: EventPair, rounds: int, delay: int, write: int, step: int
    ) -> dict[str, int]:
        """Return the words to patch into the apps."""
        return {
            "cf_rounds": rounds,
            "cf_spin": delay,
            "cf_write": write,
            "cf_step": step,
            "cf_hold": self.lead(pair) + self.half(pair) + self.spare - self.wake,
            "cf_round_ticks": self.round(pair) // self.tick,
            "cf_event_ticks": self.event(pair) // self.tick,
            "cf_lead_ticks": self.lead(pair) // self.tick,
        }


OWN = Pace(24, 1800, 700, wake=2300, ready=2900, rest=5500, rest_held=8000, written=430, spare=400)
OTHER = Pace(
    9600,
    8000,
    8000,
    wake=16_000,
    ready=19_000,
    rest=38_000,
    rest_held=58_000,
    written=7800,
    spare=4000,
)


@dataclass(frozen=True)
class TimedRound:
    """One round on the simulator's clock. A time is 0 where a mark is missing."""

    number: int
    start: int
    begun: int  # when the waiter was awake
    called: tuple[int, ...]  # when each app made its call


@dataclass
class PairSweep:
    """The outcome of a pair: the distance of each round, and the distances of the wrong ones."""

    pair: EventPair
    distances: list[int] = field(default_factory=list)
    together: int = 0  # rounds in which both events were pending before the waiter ran
    wrong: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    cycles: int = 0
    skipped: str = ""
    lost: list[str] = field(default_factory=list)  # why the sweep could not finish

    @property
    def gap(self) -> int:
        """The largest step between tested distances, ignoring the window that the steady interrupt
        blocks."""
        distances = sorted(self.distances[1:])  # round 0 is a little early or late
        is_blocked = self.pair.moving == FIRST
        steps = (b - a for a, b in pairwise(distances) if not (is_blocked and a <= SERVED < b))
        return max(steps, default=0)

    def lines(self) -> Iterator[str]:
        """Yield a line for each fault, with the pair, the order and the distances."""
        for fault, distances in self.wrong.items():
            rounds = f"{len(distances)} of {len(self.distances)} rounds"
            yield f"{self.pair}: {fault}, {span(distances)}, {rounds}"
        yield from (f"{self.pair}: {message}" for message in self.lost)


def span(distances: Sequence[int]) -> str:
    """Format the distance between events, or the range of several distances."""
    least, most = min(map(abs, distances)), max(map(abs, distances))
    return f"{least} cycles apart" if least == most else f"{least} to {most} cycles apart"


def pairs(abi: int, own: bool) -> Iterator[EventPair]:
    """Yield the pairs to try. On Tock a yield-wait-for ignores IPC, and the core is not held: a
    sweep that continues after a hang would miss its distances there."""
    for steady, moving in ((ALARM, CONSOLE), (ALARM, FIRST), (CONSOLE, FIRST), (SECOND, FIRST)):
        for held in (False, True) if own and steady != SECOND else (False,):
            for awaited in (ANY, steady, moving) if abi == 2 else (ANY,):
                if own or awaited not in (FIRST, SECOND):
                    yield EventPair(steady, moving, awaited, held)


def run(plan: Plan, step: int = STEP, chosen: Iterable[EventPair] | None = None) -> list[PairSweep]:
    """Sweep the pairs of a plan's kernel, at most `plan.jobs` at a time."""
    pace = OWN if plan.is_baseline else OTHER
    all_pairs = list(pairs(plan.abi, plan.is_baseline) if chosen is None else chosen)
    with thread_pool(plan.jobs) as pool:
        return list(pool.map(partial(sweep, plan, pace, step), all_pairs))


def sweep(plan: Plan, pace: Pace, step: int, pair: EventPair) -> PairSweep:
    """Sweep the distances of a pair."""
    outcome = PairSweep(pair)
    try:
        Sweeper(plan, pace, step, outcome).run()
    except TockmarkError as error:
        outcome.lost.append(str(error))
    return outcome


@dataclass
class SweepBoot:
    """The outcome of one boot."""

    rounds: list[TimedRound]
    records: list[Record]
    ending: str | None
    idle: bool  # the core sleeps and nothing can wake it
    interrupts: list[int]
    wakes: list[int]  # the interrupts that woke the core

    def values_of(self, kind: str) -> dict[str, str] | None:
        """Return the values of the first record of a kind, or None."""
        for record in self.records:
            if record.kind == kind:
                return {"word": record.words[0], **dict(record.pairs)}
        return None


class Sweeper:
    """One sweep in progress."""

    def __init__(self, plan: Plan, pace: Pace, step: int, outcome: PairSweep) -> None:
        self.plan, self.pace, self.step, self.outcome = plan, pace, step, outcome
        self.pair = outcome.pair
        half = pace.half(self.pair)
        self.rounds = 2 * half // step + 2
        # The trial boots of pairs that differ only in `awaited` have the same name.
        self.folder = log_folder(plan) / self.pair.boot.name
        events = {self.pair.moving, self.pair.steady}
        slots = {CONSOLE: self.pair.senders, FIRST: 0, SECOND: 1}
        self.callers = [slot for event, slot in slots.items() if event in events]
        self.start = 0  # of the first round of each boot
        self.written = pace.written

    def run(self) -> None:
        """Find the delays by trial boots, then sweep the distances."""
        pair, pace = self.pair, self.pace
        shift = self.step // 3 * [ANY, pair.steady, pair.moving].index(pair.awaited)
        trial = self.trial(LEAST)
        if skipped := trial.values_of("skipped"):
            self.outcome.skipped = skipped["word"]
            return
        self.set_clock(trial)
        write = LEAST
        if pair.steady == CONSOLE:
            last = trial.rounds[-1]
            write += max(0, last.start + pace.event(pair) - self.console(last))
            trial = self.trial(write)
            self.set_clock(trial)
        delay = LEAST - pace.half(pair) - self.distance(trial.rounds[-1]) - shift
        if delay < LEAST:
            raise TockmarkError(f"it starts {LEAST - delay} cycles too late", "lengthen its Pace")
        image = self.image(self.pair, self.rounds, delay, write, self.step)
        first = boots = 0
        while first < self.rounds:
            if boots == MOST:
                raise TockmarkError(
                    f"stopped after {boots} boots, in round {first} of {self.rounds}"
                )
            first, boots = self.sweep_from(image, first), boots + 1
        reach, gap = pace.half(pair) - 2 * self.step, self.outcome.gap
        if min(self.outcome.distances) > -reach or max(self.outcome.distances) < reach:
            raise TockmarkError(f"it tried only distances of {span(self.outcome.distances)}")
        if gap > 2 * self.step:
            raise TockmarkError(f"it left a gap of {gap} cycles between distances")

    def trial(self, write: int) -> SweepBoot:
        """Run some rounds with the shortest delay. The waiter waits for any event, as it can on all
        kernels."""
        any_of = replace(self.pair, awaited=ANY)
        return self.boot(self.image(any_of, TRIAL_ROUNDS, LEAST, write, 0), 0)

    def sweep_from(self, image: Image, first: int) -> int:
        """Boot from round `first` on, and return the round to continue with."""
        boot = self.boot(image, first)
        pair, outcome = self.pair, self.outcome
        done, wrong = boot.values_of("pairs"), boot.values_of("wrong")
        distances = [self.distance(timed_round) for timed_round in boot.rounds]
        if late_rounds := [
            timed_round.number
            for timed_round in boot.rounds
            if not all(map(timed_round.called.__getitem__, self.callers))
        ]:
            message = f"an event did not come in round {late_rounds[0]}"
            raise TockmarkError(message, "increase the rest of its Pace")
        outcome.distances += distances
        if done and not boot.ending:
            outcome.together += int(done["together"])
            return self.rounds
        if not boot.rounds:
            raise TockmarkError(boot.ending or "no round started", "read its log")
        if wrong:
            event = int(wrong["event"])
            name = NAMES[event] if event < len(NAMES) else "an unknown event"
            fault = f"{name}: {wrong['word']}"
        elif boot.idle:
            fault = "sleeps for good"
        else:
            raise TockmarkError(boot.ending or "the waiter printed nothing", "read its log")
        outcome.wrong[f"{pair.order(distances[-1])}: {fault}"].append(distances[-1])
        return boot.rounds[-1].number + 1

    def console(self, timed_round: TimedRound) -> int:
        """Return the time at which a round's write ends."""
        start = timed_round.called[self.pair.senders]
        return start + self.written + BYTES * self.pace.uart_cycles(self.pair)

    def distance(self, timed_round: TimedRound) -> int:
        """Return the cycles from the steady event to the moving one."""
        steady = timed_round.start + self.pace.event(self.pair)
        if self.pair.steady == CONSOLE:
            steady = self.console(timed_round)
        return (
            self.console(timed_round) if self.pair.moving == CONSOLE else timed_round.called[0]
        ) - steady

    def set_clock(self, trial: SweepBoot) -> None:
        """Determine when the first round starts, from the wake-up of the core before a later
        round."""
        if trial.values_of("pairs") is None:
            wrong = trial.values_of("wrong")
            raise TockmarkError(
                wrong["word"] if wrong else trial.ending or "it printed nothing", "read its log"
            )
        length = self.pace.round(self.pair)
        last = trial.rounds[-1]
        woken = max((cycle for cycle in trial.wakes if cycle < last.begun), default=0)
        self.start = woken - length * last.number
        if not 0 < trial.rounds[0].begun - self.start < length:
            raise TockmarkError("rounds do not start in time", "increase the rest of its Pace")
        trial.rounds[-1] = last = replace(last, start=woken)
        if CONSOLE in (self.pair.steady, self.pair.moving):
            error = min((cycle - self.console(last) for cycle in trial.interrupts), key=abs)
            self.written += error if abs(error) < LEARNT else 0

    def image(self, pair: EventPair, rounds: int, delay: int, write: int, step: int) -> Image:
        """Build the image of a pair."""
        plan = self.plan
        apps = AppBuild(paths.APPS / f"conformance-abi{plan.abi}", plan.abi, target="apps-lab")
        words = self.pace.words(pair, rounds, delay, write, step)
        return build_image(pair.boot, apps, plan.kernel, plan.board, self.folder, words)

    def boot(self, image: Image, first: int) -> SweepBoot:
        """Run an image from round `first` on."""
        plan, pair = self.plan, self.pair
        length = self.pace.round(pair)
        set_first_round(image, first, plan.board.flash.base)
        limits = {
            "max-cycles": 2_000_000 + (self.rounds - first + TRIAL_ROUNDS) * length,
            "uart-cycles": self.pace.uart_cycles(pair),
        }
        start = Start(
            pair.boot.name, image.flash, False, sweep_marks(image), panics=plan.kernel.panics
        )
        session = plan.board.target.configured(limits).start(start)
        lines = list(session.lines())
        ending = session.ending()
        self.outcome.cycles += ending.cycles
        text = "".join(f"{line}\n" for line in lines)
        (self.folder / f"{pair.boot.name}.log").write_text(text, encoding="latin-1")
        items = decode(lines)
        records = [item for item in items if isinstance(item, Record)]
        marks = [mark for n, line in enumerate(lines) if (mark := decode_mark(line, n))]
        rounds = list(self.timed(marks, first))
        interrupts = [mark.cycle for mark in marks if mark.name == "irq"]
        wakes = [
            mark.cycle
            for mark, after in pairwise(marks)
            if (mark.name, after.name) == ("irq", "wake")
        ]
        return SweepBoot(rounds, records, ending.why, ending.idle, interrupts, wakes)

    def timed(self, marks: Sequence[Mark], first: int) -> Iterator[TimedRound]:
        """Yield the rounds that the marks show."""
        apps = self.pair.senders + 1
        begun = [n for n, mark in enumerate(marks) if mark.name == "round"]
        for number, (begin, end) in enumerate(zip(begun, [*begun[1:], len(marks)], strict=True)):
            called = [0] * apps
            for mark in reversed(marks[begin:end]):
                if mark.name.startswith("call"):
                    called[int(mark.name[4:])] = mark.cycle
            start = self.start + number * self.pace.round(self.pair)
            yield TimedRound(first + number, start, marks[begin].cycle, tuple(called))


def set_first_round(image: Image, first: int, base: int) -> None:
    """Patch the number of the first round into an image's apps."""
    flash = bytearray(image.flash.read_bytes())
    for slot in image.slots:
        struct.pack_into("<I", flash, slot.symbols[_FIRST_WORD] - base, first)
    image.flash.write_bytes(flash)


def sweep_marks(image: Image) -> tuple[str, ...]:
    """Return the options for marks: where a round starts and each app calls, what the core does."""
    names = [
        f"call{n}={slot.symbols['tm_mark_event']:#x}"
        for n, slot in enumerate(image.slots)
        if "tm_mark_event" in slot.symbols
    ]
    names.append(f"round={image.slots[-1].symbols['tm_mark_round']:#x}")
    return tuple(word for name in [*names, *OWN_MARKS] for word in ("--mark", name))


def format_sweeps(sweeps: Sequence[PairSweep]) -> str:
    """Format the totals of a kernel's sweeps in one line; empty without sweeps."""
    tried = [sweep for sweep in sweeps if not sweep.skipped]
    rounds = sum(len(sweep.distances) for sweep in tried)
    cycles = sum(sweep.cycles for sweep in tried) / 1e6
    left = f"; {len(sweeps) - len(tried)} skipped, without IPC" if len(tried) < len(sweeps) else ""
    line = f"{len(tried)} with their waits, {rounds} distances; {cycles:.1f} M cycles{left}"
    return line if sweeps else ""


def sweeps_json(sweeps: Iterable[PairSweep]) -> list[dict[str, object]]:
    """Return each sweep of a kernel as a JSON object."""

    return [
        {
            "pair": str(sweep.pair),
            "distances": sorted(sweep.distances),
            "together": sweep.together,
            "wrong": dict(sweep.wrong),
            "lost": sweep.lost,
            "skipped": sweep.skipped or None,
            "cycles": sweep.cycles,
        }
        for sweep in sweeps
    ]
