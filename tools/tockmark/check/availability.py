# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Does a process get its share of what all share, while others take what they can?

The app victim does one kind of work for a set time: alone, beside each attack, beside each pair of
different attacks, beside triples, and beside attackers that make a random mix of calls. It has to
finish half of an equal share of what it finishes alone. The apps (apps/conformance/availability.h)
have the same lists of works and attacks, in the same order.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import xor

from tockmark.rig.board import BoardProfile
from tockmark.rig.image import NO_APP, Image
from tockmark.suite.catalogue import Boot

WORKS = {  # what the victim does, and the resource that it shares for it
    "lines": "console",
    "prints": "debug",
    "answers": "IPC queue",
    "sums": "CPU",
    "alarms": "timer",
    "upcalls": "upcall places",
}
ATTACKS = (
    "none",
    "write",
    "take-back-buffer",
    "print",
    "notify",
    "compute",
    "set-alarms",
    "write-print",
    "take-print",
    "restarts",
    "discover",
    "subscribe-all",
    "mix",
)
SINGLE = ATTACKS[1:-1]  # those that one attacker does all the time
LONG_NAME = ("discover", "mix")  # they look for an app with a name of so many letters
NAME_LETTERS = 8192
# Seeds of mixes: of 500 that `make robustness PARTS=mixes` drew, the worst for each work on each
# version of the interface, and further ones that left little of the CPU.
MIXES = (
    *(1019622159, 817508865, 1600906507, 2036808427, 1327041833, 1380966455, 32674806),
    *(1729356318, 891395942, 718572056, 1468418650, 725103412, 61727979, 535530141),
    *(950793807, 1018452273, 15884709, 323785593, 495222195, 1305192861),
)
MOST = 3  # attackers, of four apps; for answers two, beside the service
LEAST_UNITS = 40  # that a victim finishes alone

SLICE_US = 250
UART_CYCLES = 300  # of a byte: a line of 64 takes 0.8 ms
MILLISECONDS = 40  # that a victim works
MAX_CYCLES = 6_000_000


@dataclass(frozen=True)
class AttackCase:
    """A victim at one work, and what each of its attackers does; a seed says what mixes are of."""

    work: str
    attacks: tuple[str, ...] = ()
    seed: int = 0

    @property
    def name(self) -> str:
        """Return what its boot is called: the attacks by their numbers, hexadecimal."""
        numbers = "".join(f"{ATTACKS.index(attack):x}" for attack in self.attacks)
        return f"{self.work}-{numbers or 'alone'}" + (f"-{self.seed}" if self.seed else "")

    def __str__(self) -> str:
        seed = f" {self.seed}" if self.seed else ""
        return f"{WORKS[self.work]}, while others {' and '.join(self.attacks)}{seed}"

    @property
    def boot(self) -> Boot:
        """Return the boot of the victim, the service that it asks, and the attackers."""
        service = ("service",) if self.work == "answers" else ()
        slots = ("victim", *service, *("attacker",) * len(self.attacks))
        numbers = (list(WORKS).index(self.work), *map(ATTACKS.index, self.attacks))
        scene = sum(number << 4 * place for place, number in enumerate(numbers))
        return Boot(self.name, "victim", slots, (), scene, SLICE_US)

    @property
    def has_long_name(self) -> bool:
        """Whether an attacker looks for an app with a long name."""
        return not {*self.attacks}.isdisjoint(LONG_NAME)


@dataclass(frozen=True)
class VictimShare:
    """Says how many units of work the victim of a case finished, and how many alone; None where it
    was not heard of."""

    case: AttackCase
    alone: int | None
    done: int | None

    @property
    def due(self) -> int:
        """Return the least that is its due: half of an equal share."""
        return (self.alone or 0) // (2 * (len(self.case.attacks) + 1))

    @property
    def part(self) -> float:
        """Return how much of an equal share it has: 1 is all of it, 0.5 what is its due."""
        return (self.done or 0) * (len(self.case.attacks) + 1) / (self.alone or 1)


def cases(attackers: int, mixes: Sequence[int]) -> Iterator[AttackCase]:
    """Yield each work with all attacks and, up to so many attackers at once, with all pairs of
    different ones, and each triple of them with one work, the works in turn; and the mixes."""
    for work in WORKS:
        for number in range(1, min(attackers, 2) + 1):
            yield from (AttackCase(work, attacks) for attacks in combinations(SINGLE, number))
    if attackers >= MOST:
        works = [work for work in WORKS if work != "answers"]  # its service takes a place
        for number, triple in enumerate(combinations(SINGLE, MOST)):
            yield AttackCase(works[number % len(works)], triple)
    for seed in mixes:
        yield mix(seed)


def mix(seed: int) -> AttackCase:
    """Return the case of a random mix."""
    work = list(WORKS)[seed % len(WORKS)]
    return AttackCase(work, ("mix",) * (MOST - (work == "answers")), seed)


def alone() -> Iterator[AttackCase]:
    """Yield each work without an attacker."""
    yield from map(AttackCase, WORKS)


def shares(tried: Iterable[AttackCase], done: Mapping[str, int]) -> list[VictimShare]:
    """Return the cases' shares, from what victims have done by the names of their boots."""
    return [
        VictimShare(one, done.get(AttackCase(one.work).name), done.get(one.name)) for one in tried
    ]


def lost(found: Iterable[VictimShare]) -> list[str]:
    """Say what was not available."""
    what = []
    for share in found:
        if (share.alone or 0) < LEAST_UNITS:
            what.append(f"{share.case}: {share.alone or 0} {share.case.work} even alone")
        elif share.done is None:
            what.append(f"{share.case}: the victim was not heard of")
        elif share.done < share.due:
            what.append(
                f"{share.case}: {share.done} {share.case.work}, not {share.due} of {share.alone}"
            )
    return what


def worst(found: Iterable[VictimShare]) -> dict[tuple[str, int], VictimShare]:
    """Return the least share of each work by the number of attackers; that of mixes is 0."""
    least: dict[tuple[str, int], VictimShare] = {}
    for share in found:
        number = 0 if share.case.seed else len(share.case.attacks)
        key = share.case.work, number
        if key not in least or share.part < least[key].part:
            least[key] = share
    return least


def text(found: Sequence[VictimShare]) -> Iterator[str]:
    """Yield a line for each work: what the victim finished alone, and the least of it else."""
    least = worst(found)
    yield "  availability      alone; the least beside 1, 2, 3 and mixes (what is its due)"
    for work, resource in WORKS.items():
        own = [least[work, number] for number in (1, 2, 3, 0) if (work, number) in least]
        if own:
            cells = [f"{'none' if s.done is None else s.done} ({s.due})" for s in own]
            cells = [f"{cell:>10}" for cell in cells]
            yield f"    {f'{resource}: {work}':24}{own[0].alone or 0:6}  {'  '.join(cells)}"


def lay_long_name(image: Image, abi: int, board: BoardProfile) -> None:
    """Lay an app with a long name behind those of an image."""
    flash = image.flash.read_bytes().removesuffix(NO_APP)
    last = image.slots[-1]
    ram = -(-(last.ram_start + last.ram_length) // 0x1000) * 0x1000 + 0x1000
    entries = _entry(1, struct.pack("<3I", 0, 0, 256)) + _entry(3, b"n" * NAME_LETTERS)
    entries += _entry(8, struct.pack("<HH", abi, 0))
    size = 16 + len(entries) + 12
    start = board.flash.base + len(flash) + size
    entries += _entry(5, struct.pack("<II", ram, start))
    total = -(-(size + 4) // 0x400) * 0x400
    base = struct.pack("<HHII", 2, size, total, 1)
    checksum = reduce(xor, (word for (word,) in struct.iter_unpack("<I", base + entries)))
    forever = struct.pack("<I", 0x6F)  # j .
    app = base + struct.pack("<I", checksum) + entries + forever
    image.flash.write_bytes(flash + app.ljust(total, b"\xff") + NO_APP)


def _entry(kind: int, value: bytes) -> bytes:
    """Return an entry of an app's header."""
    return struct.pack("<HH", kind, len(value)) + value
