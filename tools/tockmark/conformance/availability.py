# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Does a process get its share of what all share, while others take what they can?

The app victim does one kind of work for a set time: alone, beside one attacker, beside two. It has
to finish half of an equal share of what it finishes alone. The apps (availability.h) have the same
lists of works and attacks, in the same order.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tockmark.suite.catalogue import Boot

WORKS = ("lines", "prints", "answers", "sums", "alarms", "upcalls")
ATTACKS = ("none", "write", "take-back-buffer", "print", "notify", "compute", "set-alarms")
ATTACKERS = (1, 2)
SLICE_US = 1000  # short, so that a case is


@dataclass(frozen=True)
class Case:
    """One resource, what the victim does with it, and what the attackers do."""

    resource: str
    work: str
    attack: str


CASES = (
    Case("console", "lines", "write"),
    Case("console", "lines", "take-back-buffer"),
    Case("console", "lines", "print"),
    Case("debug", "prints", "print"),
    Case("debug", "prints", "write"),
    Case("IPC queue", "answers", "notify"),
    Case("CPU", "sums", "compute"),
    Case("CPU", "sums", "set-alarms"),
    Case("timer", "alarms", "set-alarms"),
    Case("upcall queue", "upcalls", "notify"),
)
ON_UART = ("lines", "prints")  # works that wait for the UART, at 115200 baud
UART_CYCLES = {True: 2083, False: 16}  # of a byte, for those and for the others
MILLISECONDS = {True: 120, False: 40}  # that a victim works, likewise
MAX_CYCLES = 60_000_000


@dataclass(frozen=True)
class Share:
    """What became of a case: units of work finished alone, beside one attacker, beside two; None:
    the victim was not heard of."""

    resource: str
    work: str
    attack: str
    alone: int | None
    attacked: tuple[int | None, ...]


def boot(work: str, attack: str, attackers: int) -> Boot:
    """The victim, the service it asks, and the attackers."""
    service = ("service",) if work == "answers" else ()
    slots = ("victim", *service, *("attacker",) * attackers)
    scene = WORKS.index(work) + 16 * ATTACKS.index(attack)
    name = f"{work}-{attack}-{attackers}" if attackers else f"{work}-alone"
    return Boot(name, "victim", slots, (), scene, SLICE_US)


def boots() -> Iterator[tuple[Boot, bool]]:
    """All boots of this part, and whether each is one on the UART."""
    for work in WORKS:
        yield boot(work, "none", 0), work in ON_UART
    for case in CASES:
        for attackers in ATTACKERS:
            yield boot(case.work, case.attack, attackers), case.work in ON_UART


def least(alone: int, attackers: int) -> int:
    """The bound: half of an equal share, in whole units."""
    return alone // (2 * (attackers + 1))


def shares(done: Mapping[str, int]) -> list[Share]:
    """The cases, from what victims say that they have done, by the names of their boots."""
    return [
        Share(
            case.resource,
            case.work,
            case.attack,
            done.get(boot(case.work, "none", 0).name),
            tuple(done.get(boot(case.work, case.attack, n).name) for n in ATTACKERS),
        )
        for case in CASES
    ]


def lost(found: Iterable[Share]) -> list[str]:
    """What was not available, in words."""
    what = []
    for share in found:
        where = f"{share.resource}, while others {share.attack}"
        if not share.alone:
            what.append(f"{where}: no {share.work} even alone")
            continue
        for attackers, done in zip(ATTACKERS, share.attacked, strict=True):
            bound = least(share.alone, attackers)
            if done is None or done < bound:
                got = "the victim was not heard of" if done is None else f"{done} {share.work}"
                what.append(f"{where}: {got} with {attackers}, not {bound} of {share.alone}")
    return what
