# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `agree`: does a board give what the simulator gave? Row by row, within the bounds that
the model states of itself (limits.py).

Both must have run the same kernel: then code and data lie at the same addresses, and what differs
is the machine. Otherwise layout moves rows, too, and the answer is indicative only.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tockmark.base.errors import INCOMPLETE, OK, TockmarkError
from tockmark.compare.limits import Bounds, SimulatorBound, last_match
from tockmark.compare.pairs import UNKNOWN, Factor, LoneRow, RowPair, differing_factors, pair_up
from tockmark.compare.rule import interval
from tockmark.result.model import Result, Row, comparable
from tockmark.result.provenance import Slot
from tockmark.suite.catalogue import ICACHE, LANGS
from tockmark.wire.rows import SERIES

# What must be the same, besides the kernel: else cycles or code are others.
REFUSED = ("machine", "clock", "ABI", "i-cache", "counter", "core")
# Where rows stand that are not held against another, and what is said of them.
SKIPPED = "skipped"  # for a reason that is no fault
LONE = {
    "only_sim": "only on the simulator",
    "only_board": "only on the board",
    "unusable": "not compared",  # in both, but one of them is not sound
    SKIPPED: SKIPPED,
}
NO_CLOCK = "the board has no clock that sees interrupts, as the simulator's does"


class Standing(StrEnum):
    """This says how a row of the board stands to the simulator's."""

    EQUAL = "equal"  # to the cycle, and in instructions
    WITHIN = "within"
    OUTSIDE = "outside"
    UNSTATED = "unstated"  # they differ, and no bound is stated of such a row


@dataclass(frozen=True)
class AgreePair:
    """One row of both results. Cycles and instructions are net, of one sample (or pass)."""

    sim: Row
    board: Row
    bound: SimulatorBound | None
    unsure: float  # cycles by which the board's own samples leave the net unsure, up or down

    @property
    def cycles(self) -> tuple[float, float]:
        """Return the simulator's and the board's."""
        assert self.sim.net is not None  # or they would not be sound
        assert self.board.net is not None
        return self.sim.net, self.board.net

    @property
    def ratio(self) -> float | None:
        """Return the board's cycles by the simulator's; None unless both are above zero."""
        below, above = self.cycles
        return above / below if below > 0 and above > 0 else None

    @property
    def extra_cycles(self) -> float:
        """Return the cycles by which the board has more."""
        return self.cycles[1] - self.cycles[0]

    @property
    def instructions(self) -> float | None:
        """Return the instructions by which the board has more; None where nothing counts them."""
        one, two = self.sim.instructions, self.board.instructions
        return None if one is None or two is None else two - one

    @property
    def same_samples(self) -> bool:
        """Return whether both have the very same samples, one by one."""
        both = [(self.sim.series(name), self.board.series(name)) for name in SERIES]
        return all(a == b or (a and b and a.samples == b.samples) for a, b in both)

    @property
    def allowed(self) -> float | None:
        """Return the cycles by which they may be apart; None if no bound is stated."""
        stated = self.bound.allowed(self.sim) if self.bound else None
        return None if stated is None else stated + self.unsure

    @property
    def distance(self) -> float:
        """Return how far they are apart, by what is allowed: up to 1 is within."""
        if self.allowed is None or self.bound is None:
            return 0
        counts = abs(self.instructions or 0), self.bound.instructions
        return max(_share(abs(self.extra_cycles), self.allowed), _share(*counts))

    @property
    def standing(self) -> Standing:
        """Return what follows for the row."""
        if not self.extra_cycles and not self.instructions:
            return Standing.EQUAL
        if self.allowed is None:
            return Standing.UNSTATED
        return Standing.OUTSIDE if self.distance > 1 else Standing.WITHIN


@dataclass(frozen=True)
class Agreement:
    """A board's result against the simulator's."""

    sim: Result
    board: Result
    pairs: tuple[AgreePair, ...]
    lone: dict[str, list[LoneRow]]  # rows without a pair, by the list of LONE in which they stand

    def pairs_with(self, standing: Standing) -> list[AgreePair]:
        """Return the rows that stand so, the farthest first."""
        found = [pair for pair in self.pairs if pair.standing is standing]
        return sorted(found, key=lambda pair: (-pair.distance, -abs(pair.extra_cycles)))

    @property
    def machine(self) -> str:
        """Return the machine whose bounds count."""
        return machine_of(self.sim)

    @property
    def factors(self) -> list[Factor]:
        """Return what was not the same when they were measured."""
        return differing_factors(self.sim, self.board)

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Return why either result is incomplete."""
        return (*self.sim.incomplete, *self.board.incomplete)

    @property
    def exit_code(self) -> int:
        """0 if every row is there and within its bound."""
        faults = [one for name, some in self.lone.items() if name != SKIPPED for one in some]
        return INCOMPLETE if faults or self.pairs_with(Standing.OUTSIDE) or self.incomplete else OK

    @property
    def layouts(self) -> str | None:
        """Return why kernel and apps are not known to lie in the same places; None if they do."""
        sim, board = self.sim, self.board
        own, other = sim.provenance, board.provenance
        if own.kernel.sha256 is None or other.kernel.sha256 is None:
            return "the file of a kernel is not known"
        if own.kernel.sha256 != other.kernel.sha256:
            return "the kernels are two files"
        here, there = (
            {(run.boot, run.lang): run.slots for run in one.boots} for one in (own, other)
        )
        langs = set(sim.langs) & set(board.langs)
        if own.of_langs(langs).app_values("cc") != other.of_langs(langs).app_values("cc"):
            return "the apps were built by two compilers, or with other options"
        for boot in here.keys() & there.keys():
            if _places(here[boot]) != _places(there[boot]):
                return f"the apps of the boot {boot[0]} lie elsewhere"
        return None

    def notes(self) -> Iterator[str]:
        """Yield what a reader should know: what is left out, and what differs that is not the
        model's."""
        sim, board = self.sim, self.board
        for side, own, other in (("simulator", sim, board), ("board", board, sim)):
            caches = [ICACHE[one] for one in own.icaches if one not in other.icaches]
            langs = [LANGS[one] for one in own.langs if one not in other.langs]
            those = [f"with the i-cache {cache}" for cache in caches] + [
                f"in {lang}" for lang in langs
            ]
            if those:
                yield f"only the {side} has rows {' and '.join(those)}: they are left out"
        if many := sum(_samples(pair.sim) != _samples(pair.board) for pair in self.pairs):
            yield (
                f"{many} rows have another number of samples on the board;"
                " `tockmark run --all-samples` takes those that a board takes"
            )
        paces = [one.provenance.board.uart_cycles_per_byte for one in (sim, board)]
        if all(paces) and paces[0] != paces[1]:
            yield (
                f"the UART takes {paces[0]} cycles a byte on the simulator and {paces[1]} on the"
                " board, which moves rows with the cache on, too; `tockmark run --uart-cycles` sets"
                " it"
            )


def machine_of(sim: Result) -> str:
    """Return the machine whose bounds count. TockmarkError if no simulator gave the result."""
    if sim.provenance.board.machine is None or not sim.simulated:
        raise TockmarkError("the first result is not the simulator's", "give SIM, then BOARD")
    return sim.provenance.board.machine


def agree(sim: Result, board: Result, name: str, bounds: Bounds, force: bool = False) -> Agreement:
    """Hold a board's result, called `name`, against the simulator's. TockmarkError if that means
    nothing."""
    # A board runs one layout.
    sim, board = (one.in_layouts([0]) if one.layouts > 1 else one for one in (sim, board))
    if not force:
        _check(sim, board, name)
    icaches, langs = set(sim.icaches) & set(board.icaches), set(sim.langs) & set(board.langs)
    pairs: list[AgreePair] = []
    lone: dict[str, list[LoneRow]] = {name: [] for name in LONE}
    for pair in pair_up(sim, board):
        row = pair.row
        if row.icache not in icaches or row.lang not in langs:
            continue
        if not (pair.base and pair.new):
            where, why = _why_alone(pair)
            lone[where].append(LoneRow(row, why))
            continue
        one, two = comparable(row, pair.new)
        if why_not := _unusable(one, two):
            lone["unusable"].append(LoneRow(one, why_not))
        else:
            bound = last_match(one, bounds)
            pairs.append(AgreePair(one, two, bound, _unsure(board, two)))
    if not pairs:
        raise TockmarkError(
            f"{name} has no good row that the simulator's has, too", "`tockmark table` shows both"
        )
    return Agreement(sim, board, tuple(pairs), lone)


def _check(sim: Result, board: Result, name: str) -> None:
    """Refuse what does not show what the machine alone makes different."""
    for result, side in ((sim, "the simulator's result"), (board, name)):
        if result.provenance.board.timing == "functional-only":
            raise TockmarkError(f"the cycles of {side} are not the chip's", "they show nothing")
    wrong = [factor for factor in differing_factors(sim, board) if factor.name in REFUSED]
    own, other = sim.provenance.kernel, board.provenance.kernel
    if own.sha256 is None or own.sha256 != other.sha256:
        facts = ("kernel", own.title, other.title), ("opt-level", own.opt_level, other.opt_level)
        wrong += [Factor(what, a or UNKNOWN, b or UNKNOWN) for what, a, b in facts if a != b]
    if not set(sim.langs) & set(board.langs):
        spoken = (", ".join(LANGS[lang] for lang in one.langs) for one in (sim, board))
        wrong.append(Factor("language", *spoken))
    for factor in wrong:
        raise TockmarkError(
            f"{name} cannot be held against the simulator's result: {factor.name} is"
            f" {factor.base} there, {factor.new} here",
            "`tockmark board parse LOG --board … --kernel ELF` says what a log does not"
            if UNKNOWN in factor.new
            else "--force does so all the same",
        )


def _unusable(sim: Row, board: Row) -> str | None:
    """Return why two rows say nothing of each other, if so."""
    if sim.unsound:
        return f"on the simulator: {sim.unsound}"
    if board.unsound:
        return f"on the board: {board.unsound}"
    if sim.inner != board.inner:
        return f"operations in a sample: {sim.inner} on the simulator, {board.inner} on the board"
    return None


def _why_alone(pair: RowPair) -> tuple[str, str]:
    """Return in which list of LONE a row stands that one side alone has, and why it has."""
    kind, why = pair.gone or ("not measured", None)
    if pair.gone is None and pair.row.clock == "sim":
        return SKIPPED, NO_CLOCK
    side = "only_sim" if pair.base else "only_board"
    return SKIPPED if kind == "skipped" else side, why or kind


def _unsure(result: Result, row: Row) -> float:
    """Return half of the interval in which samples that vary by themselves leave the net."""
    if row.cycles is None or row.cycles.own_net is None:
        return 0
    span = interval(row.cycles, result.simulated)
    return (span.high - span.low) / 2


def _places(slots: Iterable[Slot]) -> list[tuple[object, ...]]:
    """Return where apps lie and how large they are: how many samples they take is in their ELF,
    too."""
    return [(s.name, s.flash_start, s.flash_length, s.ram_start, s.ram_length) for s in slots]


def _samples(row: Row) -> int:
    return len(row.cycles.samples) if row.cycles else 0


def _share(part: float, whole: float) -> float:
    if not part:
        return 0
    return part / whole if whole else math.inf
