# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Delivers upcalls to a process in pairs, at every distance in a window: does it get both?

The app waiter (lab/conformance/apps/waiter.c) waits for two events. One is steady, an alarm or what
comes with one; the other moves from round to round by some cycles along it, from well before to
well after. The app judges what comes: each event once, with its own words. A wake-up that is lost
leaves the core asleep; then marks of the simulator tell in which round, and the next boot goes on
behind it. Marks also tell how far apart the events were.

With priorities in place of time slices the first app may keep the core from the waiter, so that
both events are there before it runs (`held`). The cache is off: there a delay is exact.
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
STEP = 15  # cycles from a distance to the next; waits of one pair lie between each other's
BYTES = 8  # of a write
LEAST = 25  # cycles of a delay
LEARNT = 200  # cycles at most by which a write takes more or less than its pace says
SERVED = 30  # cycles at most from an interrupt to where it is taken
MOST = 400  # boots of a sweep: each that is wrong takes one
TRIAL_ROUNDS = 3
_FIRST_WORD = "pair_first"


@dataclass(frozen=True)
class EventPair:
    """Two events of a process, which of them it awaits, and whether the core is held."""

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
        """Return how many apps there are beside the waiter."""
        own = {self.steady, self.moving}
        return 2 if SECOND in own else 1 if FIRST in own or self.held else 0

    @property
    def boot(self) -> Boot:
        """Return its boot, without time slices."""
        scene = self.steady | self.moving << 4 | self.awaited << 8 | self.held << 12
        name = f"pair-{self.steady}{self.moving}-{self.awaited}{'-held' * self.held}"
        return Boot(name, "waiter", ("sender",) * self.senders + ("waiter",), (), scene, 0)

    def order(self, distance: int) -> str:
        """Name the events in the order of a distance."""
        both = (self.steady, self.moving) if distance >= 0 else (self.moving, self.steady)
        return f"{NAMES[both[0]]}, then {NAMES[both[1]]}"


@dataclass(frozen=True)
class Pace:
    """Says how long a kernel takes, in cycles: how far apart events are at most, and where in a
    round they come. A tick is one of its alarm."""

    tick: int
    window: int
    window_held: int
    wake: int  # from a sender's alarm to its event, at least
    ready: int  # from the start of a round until the waiter waits, a write begun
    rest: int  # from the later event to the end of the round
    rest_held: int
    written: int  # of a write's end, besides its bytes
    spare: int  # more that the core is held

    def half(self, pair: EventPair) -> int:
        """Return how far apart a pair's events are at most."""
        return self.window_held if pair.held else self.window

    def uart_cycles(self, pair: EventPair) -> int:
        """Return the cycles of a byte on the UART, so that a write takes as long as a sender needs
        to take the core, and more."""
        room = self.half(pair) if pair.moving == CONSOLE else 0
        return (self.lead(pair) + room + self.ready // 2 - self.written) // BYTES

    def lead(self, pair: EventPair) -> int:
        """Return how long before the steady event the first sender wakes."""
        return self.ticks(self.half(pair) + self.wake) * self.tick if pair.senders else 0

    def event(self, pair: EventPair) -> int:
        """Return when in a round the steady event comes."""
        written = self.written + BYTES * self.uart_cycles(pair) + self.half(pair)
        least = written if CONSOLE in (pair.steady, pair.moving) else self.lead(pair)
        return self.ticks(self.ready + least) * self.tick

    def round(self, pair: EventPair) -> int:
        """Return how long a round takes."""
        rest = self.rest_held if pair.held or pair.senders == 2 else self.rest
        return self.ticks(self.event(pair) + self.half(pair) + rest) * self.tick

    def ticks(self, cycles: int) -> int:
        """Return so many cycles in ticks, rounded up."""
        return -(-cycles // self.tick)

    def words(
        self, pair: EventPair, rounds: int, delay: int, write: int, step: int
    ) -> dict[str, int]:
        """Return what the apps are told."""
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


OWN = Pace(24, 1800, 700, wake=2200, ready=2900, rest=5500, rest_held=8000, written=430, spare=400)
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
    """One round, by the simulator's clock: when its events came, 0 where a mark is missing."""

    number: int
    start: int
    begun: int  # when the waiter was awake
    called: tuple[int, ...]  # where each app made its call


@dataclass
class PairSweep:
    """What came of a pair: the distance of each round, and of those that were wrong."""

    pair: EventPair
    distances: list[int] = field(default_factory=list)
    together: int = 0  # rounds in which both were there before the waiter ran
    wrong: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    cycles: int = 0
    skipped: str = ""
    lost: list[str] = field(default_factory=list)  # what kept it from an answer

    @property
    def gap(self) -> int:
        """Return the longest way from a distance to the next; but for that behind a steady event
        whose interrupt keeps the sender from its call."""
        every = sorted(self.distances[1:])  # round 0 comes a little too early, or too late
        barred = self.pair.moving == FIRST
        ways = (b - a for a, b in pairwise(every) if not (barred and a <= SERVED < b))
        return max(ways, default=0)

    def lines(self) -> Iterator[str]:
        """Yield what is wrong: pair, order and distances in a line."""
        for what, at in self.wrong.items():
            yield f"{self.pair}: {what}, {span(at)}, {len(at)} of {len(self.distances)} rounds"
        yield from (f"{self.pair}: {what}" for what in self.lost)


def span(distances: Sequence[int]) -> str:
    """Say how far apart events were."""
    least, most = min(map(abs, distances)), max(map(abs, distances))
    return f"{least} cycles apart" if least == most else f"{least} to {most} cycles apart"


def pairs(abi: int, own: bool) -> Iterator[EventPair]:
    """Yield the pairs that are tried. On Tock a yield-wait-for does not see IPC, and the core is
    not held: a sweep that goes on behind a hang does not meet its distances there."""
    for steady, moving in ((ALARM, CONSOLE), (ALARM, FIRST), (CONSOLE, FIRST), (SECOND, FIRST)):
        for held in (False, True) if own and steady != SECOND else (False,):
            for awaited in (ANY, steady, moving) if abi == 2 else (ANY,):
                if own or awaited not in (FIRST, SECOND):
                    yield EventPair(steady, moving, awaited, held)


def run(plan: Plan, step: int = STEP, tried: Iterable[EventPair] | None = None) -> list[PairSweep]:
    """PairSweep the pairs of a plan's kernel, some at a time."""
    pace = OWN if plan.is_baseline else OTHER
    every = list(pairs(plan.abi, plan.is_baseline) if tried is None else tried)
    with thread_pool(plan.jobs) as pool:
        return list(pool.map(partial(sweep, plan, pace, step), every))


def sweep(plan: Plan, pace: Pace, step: int, pair: EventPair) -> PairSweep:
    """PairSweep the distances of a pair."""
    found = PairSweep(pair)
    try:
        Sweeper(plan, pace, step, found).run()
    except TockmarkError as error:
        found.lost.append(str(error))
    return found


@dataclass
class Heard:
    """What a boot came to."""

    rounds: list[TimedRound]
    records: list[Record]
    ending: str | None
    idle: bool  # the core sleeps for good
    interrupts: list[int]
    wakes: list[int]  # those of them that woke it

    def said(self, kind: str) -> dict[str, str] | None:
        """Return the values of a record; None if it was not said."""
        for record in self.records:
            if record.kind == kind:
                return {"what": record.words[0], **dict(record.pairs)}
        return None


class Sweeper:
    """One sweep under way."""

    def __init__(self, plan: Plan, pace: Pace, step: int, found: PairSweep) -> None:
        self.plan, self.pace, self.step, self.found = plan, pace, step, found
        self.pair = found.pair
        half = pace.half(self.pair)
        self.rounds = 2 * half // step + 2
        self.folder = log_folder(plan) / self.pair.boot.name  # others try the same waits
        own = {self.pair.moving, self.pair.steady}
        places = {CONSOLE: self.pair.senders, FIRST: 0, SECOND: 1}
        self.callers = [place for event, place in places.items() if event in own]
        self.start = 0  # of the first round of each boot
        self.written = pace.written

    def run(self) -> None:
        """Try delays, then sweep them."""
        pair, pace = self.pair, self.pace
        between = self.step // 3 * [ANY, pair.steady, pair.moving].index(pair.awaited)
        trial = self.trial(LEAST)
        if skipped := trial.said("skipped"):
            self.found.skipped = skipped["what"]
            return
        self.set_clock(trial)
        write = LEAST
        if pair.steady == CONSOLE:
            last = trial.rounds[-1]
            write += max(0, last.start + pace.event(pair) - self.console(last))
            trial = self.trial(write)
            self.set_clock(trial)
        delay = LEAST - pace.half(pair) - self.distance(trial.rounds[-1]) - between
        if delay < LEAST:
            raise TockmarkError(f"it begins {LEAST - delay} cycles too late", "give it more lead")
        image = self.image(self.pair, self.rounds, delay, write, self.step)
        first = boots = 0
        while first < self.rounds:
            if boots == MOST:
                raise TockmarkError(f"left after {boots} boots, in round {first} of {self.rounds}")
            first, boots = self.go_on(image, first), boots + 1
        far, gap = pace.half(pair) - 2 * self.step, self.found.gap
        if min(self.found.distances) > -far or max(self.found.distances) < far:
            raise TockmarkError(f"distances only {span(self.found.distances)}")
        if gap > 2 * self.step:
            raise TockmarkError(f"no distance tried for {gap} cycles")

    def trial(self, write: int) -> Heard:
        """Run some rounds with the least delay. Their waiter waits for any, as all kernels can."""
        any_of = replace(self.pair, awaited=ANY)
        return self.boot(self.image(any_of, TRIAL_ROUNDS, LEAST, write, 0), 0)

    def go_on(self, image: Image, first: int) -> int:
        """Boot from a round on; return the one to go on with."""
        heard = self.boot(image, first)
        pair, found = self.pair, self.found
        done, wrong = heard.said("pairs"), heard.said("wrong")
        at = [self.distance(one) for one in heard.rounds]
        if late := [
            one.number for one in heard.rounds if not all(map(one.called.__getitem__, self.callers))
        ]:
            raise TockmarkError(f"an event did not come in round {late[0]}", "give it more rest")
        found.distances += at
        if done and not heard.ending:
            found.together += int(done["together"])
            return self.rounds
        if not heard.rounds:
            raise TockmarkError(heard.ending or "no round began", "see its log")
        if wrong:
            event = int(wrong["event"])
            name = NAMES[event] if event < len(NAMES) else "what comes"
            what = f"{name}: {wrong['what']}"
        elif heard.idle:
            what = "sleeps for good"
        else:
            raise TockmarkError(heard.ending or "the waiter said nothing", "see its log")
        found.wrong[f"{pair.order(at[-1])}: {what}"].append(at[-1])
        return heard.rounds[-1].number + 1

    def console(self, one: TimedRound) -> int:
        """Return when a round's write ends."""
        own = one.called[self.pair.senders]
        return own + self.written + BYTES * self.pace.uart_cycles(self.pair)

    def distance(self, one: TimedRound) -> int:
        """Return by how many cycles the moving event comes after the steady one."""
        steady = one.start + self.pace.event(self.pair)
        if self.pair.steady == CONSOLE:
            steady = self.console(one)
        return (self.console(one) if self.pair.moving == CONSOLE else one.called[0]) - steady

    def set_clock(self, trial: Heard) -> None:
        """Learn when the first round begins: at what wakes the core before a later one."""
        if trial.said("pairs") is None:
            wrong = trial.said("wrong")
            raise TockmarkError(
                wrong["what"] if wrong else trial.ending or "nothing", "see its log"
            )
        length = self.pace.round(self.pair)
        last = trial.rounds[-1]
        woken = max((cycle for cycle in trial.wakes if cycle < last.begun), default=0)
        self.start = woken - length * last.number
        if not 0 < trial.rounds[0].begun - self.start < length:
            raise TockmarkError("rounds do not begin in time", "give it more rest")
        trial.rounds[-1] = last = replace(last, start=woken)
        if CONSOLE in (self.pair.steady, self.pair.moving):
            off = min((cycle - self.console(last) for cycle in trial.interrupts), key=abs)
            self.written += off if abs(off) < LEARNT else 0

    def image(self, pair: EventPair, rounds: int, delay: int, write: int, step: int) -> Image:
        """Build an image."""
        plan = self.plan
        apps = AppBuild(paths.APPS / f"conformance-abi{plan.abi}", plan.abi, target="apps-lab")
        words = self.pace.words(pair, rounds, delay, write, step)
        return build_image(pair.boot, apps, plan.kernel, plan.board, self.folder, words)

    def boot(self, image: Image, first: int) -> Heard:
        """Run it from a round on."""
        plan, pair = self.plan, self.pair
        length = self.pace.round(pair)
        beginning(image, first, plan.board.flash.base)
        limits = {
            "max-cycles": 2_000_000 + (self.rounds - first + TRIAL_ROUNDS) * length,
            "uart-cycles": self.pace.uart_cycles(pair),
        }
        start = Start(
            pair.boot.name, image.flash, False, marks_of(image), panics=plan.kernel.panics
        )
        session = plan.board.target.configured(limits).start(start)
        lines = list(session.lines())
        ending = session.ending()
        self.found.cycles += ending.cycles
        text = "".join(f"{line}\n" for line in lines)
        (self.folder / f"{pair.boot.name}.log").write_text(text, encoding="latin-1")
        items = decode(lines)
        records = [item for item in items if isinstance(item, Record)]
        marks = [mark for n, line in enumerate(lines) if (mark := decode_mark(line, n))]
        rounds = list(self.timed(marks, first))
        interrupts = [mark.cycle for mark in marks if mark.name == "irq"]
        wakes = [
            one.cycle for one, after in pairwise(marks) if (one.name, after.name) == ("irq", "wake")
        ]
        return Heard(rounds, records, ending.why, ending.idle, interrupts, wakes)

    def timed(self, marks: Sequence[Mark], first: int) -> Iterator[TimedRound]:
        """Yield the rounds that marks tell of."""
        apps = self.pair.senders + 1
        begun = [n for n, mark in enumerate(marks) if mark.name == "round"]
        for number, (at, end) in enumerate(zip(begun, [*begun[1:], len(marks)], strict=True)):
            called = [0] * apps
            for mark in reversed(marks[at:end]):
                if mark.name.startswith("call"):
                    called[int(mark.name[4:])] = mark.cycle
            start = self.start + number * self.pace.round(self.pair)
            yield TimedRound(first + number, start, marks[at].cycle, tuple(called))


def beginning(image: Image, first: int, base: int) -> None:
    """Make an image's apps begin with a round."""
    flash = bytearray(image.flash.read_bytes())
    for slot in image.slots:
        struct.pack_into("<I", flash, slot.symbols[_FIRST_WORD] - base, first)
    image.flash.write_bytes(flash)


def marks_of(image: Image) -> tuple[str, ...]:
    """Return the marks: where a round begins, where each app makes its call, what the core does."""
    names = [
        f"call{n}={slot.symbols['tm_mark_event']:#x}"
        for n, slot in enumerate(image.slots)
        if "tm_mark_event" in slot.symbols
    ]
    names.append(f"round={image.slots[-1].symbols['tm_mark_round']:#x}")
    return tuple(word for name in [*names, *OWN_MARKS] for word in ("--mark", name))


def sweeps_text(found: Sequence[PairSweep]) -> str:
    """Return in a line what the sweeps of a kernel add up to; nothing if there are none."""
    tried = [one for one in found if not one.skipped]
    rounds = sum(len(one.distances) for one in tried)
    cycles = sum(one.cycles for one in tried) / 1e6
    left = f"; {len(found) - len(tried)} skipped, without IPC" if len(tried) < len(found) else ""
    said = f"{len(tried)} with their waits, {rounds} distances; {cycles:.1f} M cycles{left}"
    return said if found else ""


def sweeps_json(found: Iterable[PairSweep]) -> list[dict[str, object]]:
    """Return each sweep of a kernel."""
    return [
        {
            "pair": str(one.pair),
            "distances": sorted(one.distances),
            "together": one.together,
            "wrong": dict(one.wrong),
            "lost": one.lost,
            "skipped": one.skipped or None,
            "cycles": one.cycles,
        }
        for one in found
    ]
