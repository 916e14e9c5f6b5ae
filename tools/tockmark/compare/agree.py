# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `agree`: does a board give the figures of the simulator, row by row and within the
bounds of the model (limits.py)?

Both must have run the same kernel, so that code and data have the same addresses and only the
machine differs. Otherwise layout changes figures as well, and the result is only indicative.
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

# Factors that must be equal, as well as the kernel: otherwise cycles or code differ.
REFUSED = ("machine", "clock", "ABI", "i-cache", "counter", "core")
# The lists of rows that are not compared, and their titles.
SKIPPED = "skipped"  # for a reason that is not a fault
LONE = {
    "only_sim": "only on the simulator",
    "only_board": "only on the board",
    "unusable": "not compared",  # in both results, but not valid on one side
    SKIPPED: SKIPPED,
}
NO_CLOCK = "only the simulator's clock can time interrupts"


class Standing(StrEnum):
    """The relation of a board's row to the simulator's: within its bound, or not."""

    EQUAL = "equal"  # to the cycle, and in instructions
    WITHIN = "within"
    OUTSIDE = "outside"
    UNSTATED = "unstated"  # they differ, and the row has no stated bound


@dataclass(frozen=True)
class AgreePair:
    """One row of both results. Cycles and instructions are net, of one sample (or pass)."""

    sim: Row
    board: Row
    bound: SimulatorBound | None
    unsure: float  # cycles, up or down: the sampling error of the board's net

    @property
    def cycles(self) -> tuple[float, float]:
        """The net cycles of the simulator and the board."""
        assert self.sim.net is not None  # or they would not be sound
        assert self.board.net is not None
        return self.sim.net, self.board.net

    @property
    def ratio(self) -> float | None:
        """The board's cycles by the simulator's; None unless both are above zero."""
        sim, board = self.cycles
        return board / sim if sim > 0 and board > 0 else None

    @property
    def extra_cycles(self) -> float:
        """The cycles of the board minus the cycles of the simulator."""
        return self.cycles[1] - self.cycles[0]

    @property
    def instructions(self) -> float | None:
        """The instructions of the board minus those counted on the simulator; None if not
        counted."""
        sim, board = self.sim.instructions, self.board.instructions
        return None if sim is None or board is None else board - sim

    @property
    def same_samples(self) -> bool:
        """Whether both have exactly the same samples."""
        both = [(self.sim.series(name), self.board.series(name)) for name in SERIES]
        return all(a == b or (a and b and a.samples == b.samples) for a, b in both)

    @property
    def allowed(self) -> float | None:
        """The largest allowed difference in cycles; None if no bound is stated."""
        stated = self.bound.allowed(self.sim) if self.bound else None
        return None if stated is None else stated + self.unsure

    @property
    def distance(self) -> float:
        """The difference divided by the bound: up to 1 is within."""
        if self.allowed is None or self.bound is None:
            return 0
        counts = abs(self.instructions or 0), self.bound.instructions
        return max(_share(abs(self.extra_cycles), self.allowed), _share(*counts))

    @property
    def standing(self) -> Standing:
        """The standing of the row."""
        if not self.extra_cycles and not self.instructions:
            return Standing.EQUAL
        if self.allowed is None:
            return Standing.UNSTATED
        return Standing.OUTSIDE if self.distance > 1 else Standing.WITHIN


@dataclass(frozen=True)
class Agreement:
    """A board's result compared with the simulator's."""

    sim: Result
    board: Result
    pairs: tuple[AgreePair, ...]
    lone: dict[str, list[LoneRow]]  # rows without a pair, by the lists of LONE

    def pairs_with(self, standing: Standing) -> list[AgreePair]:
        """Return the rows with this standing, the largest distance first."""
        pairs = [pair for pair in self.pairs if pair.standing is standing]
        return sorted(pairs, key=lambda pair: (-pair.distance, -abs(pair.extra_cycles)))

    @property
    def machine(self) -> str:
        """The machine whose bounds are used."""
        return machine_of(self.sim)

    @property
    def factors(self) -> list[Factor]:
        """The conditions of measuring that differ."""
        return differing_factors(self.sim, self.board)

    @property
    def incomplete(self) -> tuple[str, ...]:
        """The reasons why either result is incomplete."""
        return (*self.sim.incomplete, *self.board.incomplete)

    @property
    def exit_code(self) -> int:
        """OK if every row is there and within its bound, else INCOMPLETE."""
        faults = [row for name, rows in self.lone.items() if name != SKIPPED for row in rows]
        return INCOMPLETE if faults or self.pairs_with(Standing.OUTSIDE) or self.incomplete else OK

    @property
    def layouts(self) -> str | None:
        """The reason why kernel and apps may have different addresses; None if they do not."""
        sim, board = self.sim, self.board
        own, other = sim.provenance, board.provenance
        if own.kernel.sha256 is None or other.kernel.sha256 is None:
            return "the ELF of a kernel is not known"
        if own.kernel.sha256 != other.kernel.sha256:
            return "the kernels are two different files"
        here, there = (
            {(run.boot, run.lang): run.slots for run in side.boots} for side in (own, other)
        )
        langs = set(sim.langs) & set(board.langs)
        if own.of_langs(langs).app_values("cc") != other.of_langs(langs).app_values("cc"):
            return "the apps were built by different compilers, or with other options"
        for boot in here.keys() & there.keys():
            if _addresses(here[boot]) != _addresses(there[boot]):
                return f"the apps of the boot {boot[0]} have different addresses"
        return None

    def notes(self) -> Iterator[str]:
        """Yield notes on rows that are not compared, and on differences that the model does not
        cause."""
        sim, board = self.sim, self.board
        for side, own, other in (("simulator", sim, board), ("board", board, sim)):
            caches = [ICACHE[setting] for setting in own.icaches if setting not in other.icaches]
            langs = [LANGS[lang] for lang in own.langs if lang not in other.langs]
            groups = [f"with the i-cache {cache}" for cache in caches] + [
                f"in {lang}" for lang in langs
            ]
            if groups:
                yield f"only the {side} has rows {' and '.join(groups)}: they are not compared"
        if many := sum(_samples(pair.sim) != _samples(pair.board) for pair in self.pairs):
            yield (
                f"{many} rows have a different number of samples on the board: use"
                " `tockmark run --all-samples` to take as many on the simulator"
            )
        paces = [side.provenance.board.uart_cycles_per_byte for side in (sim, board)]
        if all(paces) and paces[0] != paces[1]:
            yield (
                f"the UART takes {paces[0]} cycles a byte on the simulator and {paces[1]} on the"
                " board, which changes rows with the cache on: set it by `tockmark run"
                " --uart-cycles`"
            )


def machine_of(sim: Result) -> str:
    """Return the machine whose bounds are used. TockmarkError if the result is not simulated."""
    if sim.provenance.board.machine is None or not sim.simulated:
        raise TockmarkError("the first result is not the simulator's", "give SIM, then BOARD")
    return sim.provenance.board.machine


def agree(sim: Result, board: Result, name: str, bounds: Bounds, force: bool = False) -> Agreement:
    """Compare a board's result, called `name`, with the simulator's. TockmarkError if that is
    meaningless."""
    # A board runs one layout.
    sim, board = (side.in_layouts([0]) if side.layouts > 1 else side for side in (sim, board))
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
        sim_row, board_row = comparable(row, pair.new)
        if why_not := _unusable(sim_row, board_row):
            lone["unusable"].append(LoneRow(sim_row, why_not))
        else:
            bound = last_match(sim_row, bounds)
            pairs.append(AgreePair(sim_row, board_row, bound, _unsure(board, board_row)))
    if not pairs:
        raise TockmarkError(
            f"{name} shares no valid row with the simulator's result",
            "look at both with `tockmark table`",
        )
    return Agreement(sim, board, tuple(pairs), lone)


def _check(sim: Result, board: Result, name: str) -> None:
    """Raise TockmarkError if more than the machine differs."""
    for result, side in ((sim, "the simulator's result"), (board, name)):
        if result.provenance.board.timing == "functional-only":
            raise TockmarkError(
                f"the cycles of {side} are not a chip's", "measure on another simulator or a board"
            )
    wrong = [factor for factor in differing_factors(sim, board) if factor.name in REFUSED]
    own, other = sim.provenance.kernel, board.provenance.kernel
    if own.sha256 is None or own.sha256 != other.sha256:
        facts = ("kernel", own.title, other.title), ("opt-level", own.opt_level, other.opt_level)
        wrong += [Factor(fact, a or UNKNOWN, b or UNKNOWN) for fact, a, b in facts if a != b]
    if not set(sim.langs) & set(board.langs):
        spoken = (", ".join(LANGS[lang] for lang in side.langs) for side in (sim, board))
        wrong.append(Factor("language", *spoken))
    for factor in wrong:
        raise TockmarkError(
            f"{name} cannot be compared with the simulator's result: {factor.name} is"
            f" {factor.base} on the simulator, {factor.new} on the board",
            "give what the log does not have to `tockmark board parse LOG --board … --kernel ELF`"
            if UNKNOWN in factor.new
            else "use --force to compare them anyway",
        )


def _unusable(sim: Row, board: Row) -> str | None:
    """Return why two rows cannot be compared, or None."""
    if sim.unsound:
        return f"on the simulator: {sim.unsound}"
    if board.unsound:
        return f"on the board: {board.unsound}"
    if sim.inner != board.inner:
        return f"operations in a sample: {sim.inner} on the simulator, {board.inner} on the board"
    return None


def _why_alone(pair: RowPair) -> tuple[str, str]:
    """Return the list of LONE for a row that only one side has, and the reason."""
    kind, why = pair.gone or ("not measured", None)
    if pair.gone is None and pair.row.clock == "sim":
        return SKIPPED, NO_CLOCK
    side = "only_sim" if pair.base else "only_board"
    return SKIPPED if kind == "skipped" else side, why or kind


def _unsure(result: Result, row: Row) -> float:
    """Return half of the interval of the net by its samples, in cycles."""
    if row.cycles is None or row.cycles.own_net is None:
        return 0
    low, high = interval(row.cycles, result.simulated)
    return (high - low) / 2


def _addresses(slots: Iterable[Slot]) -> list[tuple[object, ...]]:
    """Return the addresses and sizes of apps. Their ELF also depends on the number of samples."""
    return [(s.name, s.flash_start, s.flash_length, s.ram_start, s.ram_length) for s in slots]


def _samples(row: Row) -> int:
    return len(row.cycles.samples) if row.cycles else 0


def _share(part: float, whole: float) -> float:
    if not part:
        return 0
    return part / whole if whole else math.inf
