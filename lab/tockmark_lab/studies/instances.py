# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study instances: how many instances of a small program a kernel runs, how fast each is, and
what gives out first.

Boots with one instance more each time, until one of them does not run. What was full is what the
image's build or the kernel says of it, in its own words, or the size of Tock's table of processes,
where the kernel has a symbol for it, or the name of its type. Else the record says that nobody says
it, and how much flash and RAM was left.

Beside an alarm, instances run longer, and an app in the first slot says how late its alarm was:
what a scheduler gives to each.
"""

import re
from pathlib import Path
from statistics import median
from typing import Annotated, Literal

import msgspec
from typer import Option

from tockmark.base import documents, paths
from tockmark.base.documents import Part, Positive
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import ICache, KernelClaims, KernelFile
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE, Boot
from tockmark.target import board as boards
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild, DoesNotFitError, Image, build_image
from tockmark.target.kernel import KernelElf, app_capacity, app_room
from tockmark.target.protocol import Start
from tockmark.target.results import kernel_provenance, simulator_provenance

PROGRAM, LONG = "instance", "long_instance"
RUNS, LONG_RUNS = 16, 64  # of each instance (lab/studies/ladder/apps/instance.c)
WAKER = "waker"  # the app with the alarm
WITH_ALARM = (1, 3)  # so many instances; a kernel has four slots
MOST = 9  # one more than any kernel that is known runs
STACK = 2048
CYCLES_EACH = 8_000_000  # at most, for one instance's runs

FORM, VERSION = "tockmark-instances", 1

Full = Literal["process slots", "RAM", "flash", "not said"]

_SAID = re.compile(r"instance (\d+) (began|first|last|wrong) (\d+)")
_ALARM = re.compile(r"alarm (late|tick) (\d+) (\d+)")
_REFUSED = re.compile(rf"app ({PROGRAM}\d*) refused: (.*)")


class Instance(Part, frozen=True):
    """One that ran; cycles by the core's counter, from reset on."""

    number: int  # its place in flash, from 1 on
    began: int
    first: int  # it had its first answer
    last: int
    runs: Positive = RUNS

    @property
    def per_run(self) -> float:
        """Cycles for each of its runs, others' among them."""
        return (self.last - self.began) / self.runs


class Lateness(Part, frozen=True):
    """The alarm's upcall ran so many cycles late, to a tick of it, so many times."""

    cycles: int
    times: Positive


class Refusal(Part, frozen=True):
    """What gave out: which instance did not run, who says why, and how much was left for it."""

    instance: int
    full: Full
    by: Literal[
        "the image's build", "the kernel", "the kernel's symbols", "the kernel's types", "nobody"
    ]
    said: str
    flash_left: int  # bytes
    ram_left: int


class Attempt(Part, frozen=True):
    """A boot with so many instances."""

    asked: int
    instances: tuple[Instance, ...]
    icache: bool
    stack: Positive  # bytes of it that each instance has
    refused: Refusal | None = None
    late: tuple[Lateness, ...] = ()  # of the alarm beside them
    tick: int = 0  # cycles of one of it

    @property
    def since(self) -> tuple[float, ...]:
        """Cycles for each run of each, from the first that began to its own end."""
        begun = min(one.began for one in self.instances)
        return tuple((one.last - begun) / one.runs for one in self.instances)

    @property
    def per_run(self) -> float:
        """Cycles for each run of any: from the first that began to the last that ended."""
        return max(self.since) / len(self.instances)

    @property
    def lateness(self) -> list[int]:
        """How late each alarm was, in cycles, the least first."""
        return sorted(one.cycles for one in self.late for _ in range(one.times))


class StoredInstances(Part, frozen=True):
    """The file: on one kernel."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    attempts: tuple[Attempt, ...]


def attempts_with_alarm(kernel: KernelElf, board: BoardProfile, icache: bool) -> list[Attempt]:
    """Run one instance, then as many as there is room for, beside an app with an alarm."""
    found = [attempt(kernel, board, icache, count, alarm=True) for count in WITH_ALARM]
    for one in found:
        if one.refused is not None or not one.tick:
            raise TockmarkError(
                f"{one.asked} instances and an alarm did not run, or to no end, on"
                f" {kernel.name or paths.shown(kernel.path)}",
                "give a kernel with four slots for apps, and with Perf",
            )
    return found


def attempts(
    kernel: KernelElf, board: BoardProfile, icache: bool, stack: int = STACK
) -> list[Attempt]:
    """Run one instance, two, … until one is refused. `stack` is of each, in bytes. TockmarkError if
    an instance has a wrong answer, or none runs."""
    found: list[Attempt] = []
    while not found or (found[-1].refused is None and found[-1].asked < MOST):
        found.append(attempt(kernel, board, icache, len(found) + 1, stack))
    return found


def attempt(
    kernel: KernelElf,
    board: BoardProfile,
    icache: bool,
    count: int,
    stack: int = STACK,
    alarm: bool = False,
) -> Attempt:
    """Run so many; with an alarm longer ones, behind the app that has it."""
    out = paths.WRITTEN / "instances" / kernel.sha256[:8]
    apps = AppBuild.built(2, catalogue="ladder")
    room = app_room(kernel, board)
    program, first = (LONG, (WAKER,)) if alarm else (PROGRAM, ())
    boots = [
        Boot(f"{program}s-{n}-{stack}", program, first + (program,) * n, ())
        for n in (count - 1, count)
    ]
    words = {"tm_stack": stack}

    def left(image: Image | None) -> tuple[int, int]:
        """Return the bytes of flash and RAM that an image leaves."""
        if image is None or not image.slots:
            return room.flash_end - room.flash_start, room.ram_end - room.ram_start
        last = image.slots[-1]
        flash_end = last.flash_start + last.flash_length
        return room.flash_end - flash_end, room.ram_end - last.ram_start - last.ram_length

    before = build_image(boots[0], apps, kernel, board, out, words) if count > 1 else None
    try:
        image = build_image(boots[1], apps, kernel, board, out, words)
    except DoesNotFitError as error:
        why = Refusal(count, error.full, "the image's build", error.problem, *left(before))
        return Attempt(count, (), icache, stack, why)
    lines = _run(kernel, board, icache, boots[1].name, image.flash, count, alarm)
    ran = _ran(lines, len(first), LONG_RUNS if alarm else RUNS)
    missing = [n for n in range(1, count + 1) if n not in {one.number for one in ran}]
    if not missing:
        late, tick = _alarm(lines)
        return Attempt(count, ran, icache, stack, late=late, tick=tick)
    if not ran:
        raise TockmarkError(
            f"{boots[1].name} did not run on {kernel.name or paths.shown(kernel.path)}"
        )
    return Attempt(count, ran, icache, stack, _refusal(kernel, missing[0], lines, *left(before)))


def _refusal(kernel: KernelElf, number: int, lines: list[str], flash: int, ram: int) -> Refusal:
    """Return why an instance did not run: by the kernel's words, or its table of processes."""
    for line in lines:
        if found := _REFUSED.search(line):
            full: Full = "process slots" if "takes" in found[2] else "RAM"
            return Refusal(number, full, "the kernel", found[2], flash, ram)
    slots = app_capacity(kernel)
    if slots and slots.by != "its name" and slots.apps == number - 1:
        return Refusal(number, "process slots", slots.by, slots.evidence, flash, ram)
    return Refusal(number, "not said", "nobody", "", flash, ram)


def _run(
    kernel: KernelElf,
    board: BoardProfile,
    icache: bool,
    name: str,
    flash: Path,
    count: int,
    long: bool,
) -> list[str]:
    cycles = CYCLES_EACH * count * (LONG_RUNS // RUNS if long else 1)
    target = board.target.configured({"max-cycles": cycles, "silence": cycles})
    session = target.start(Start(name, flash, icache, panics=kernel.panics))
    lines = list(session.lines())
    session.ending()
    return lines


def _alarm(lines: list[str]) -> tuple[tuple[Lateness, ...], int]:
    """Return how late the alarm beside them was, and the cycles of a tick of it."""
    said = [found.groups() for line in lines for found in _ALARM.finditer(line)]
    late = tuple(Lateness(int(by), int(times)) for what, by, times in said if what == "late")
    return late, next((int(by) for what, by, _ in said if what == "tick"), 0)


def _ran(lines: list[str], before: int, runs: int) -> tuple[Instance, ...]:
    """Return the instances that had all their answers, so many slots behind the first.
    TockmarkError if one was wrong."""
    said: dict[int, dict[str, int]] = {}
    for line in lines:
        for number, what, cycles in _SAID.findall(line):
            said.setdefault(int(number) - before, {})[what] = int(cycles)
    wrong = [number for number, one in said.items() if "wrong" in one]
    if wrong:
        raise TockmarkError(f"instance {wrong[0]} had a wrong answer", "report this")
    return tuple(
        Instance(number, one["began"], one["first"], one["last"], runs)
        for number, one in sorted(said.items())
        if one.keys() >= {"began", "first", "last"}
    )


def stored(found: list[Attempt], kernel: KernelElf, board: BoardProfile) -> str:
    """Return the file of what was found."""
    kept = StoredInstances(
        FORM,
        VERSION,
        # How much flash and RAM it takes the attempts say.
        msgspec.structs.replace(kernel_provenance(kernel, None), flash_bytes=None),
        board.name,
        simulator_provenance(board),
        paths.commit_of_checkout(),
        tuple(found),
    )
    return documents.text_of(kept, ("attempts",))


def load(path: Path) -> StoredInstances:
    """Read such a file. TockmarkError if it is none."""
    return documents.read(
        path, StoredInstances, FORM, VERSION, "give a file that `tockmark-lab instances` made"
    )


def text(found: list[Attempt], icache: bool) -> str:
    """Show how fast they ran, and what gave out."""
    columns = {"a run": 10, "from start": 11, "a run, all": 11, "first answer": 13, "last": 12}
    table = Table([TableColumn("instance", 14, 0, left=True), *figures(columns)])
    for one in found:
        ran = one.instances if one.refused is None else ()
        for each, since in zip(ran, one.since if ran else (), strict=True):
            table.add(
                f"{each.number} of {one.asked}",
                f"{each.per_run:,.0f}",
                f"{since:,.0f}",
                f"{one.per_run:,.0f}",
                f"{each.first:,}",
                f"{each.last:,}",
            )
    last = found[-1].refused
    end = "none was refused"
    if last is not None:
        said = f": {last.said}" if last.said else ""
        end = (
            f"instance {last.instance} did not run: {last.full}, by {last.by}{said};"
            f" {last.flash_left:,} bytes of flash and {last.ram_left:,} of RAM were left"
        )
    ends = [
        f"beside {one.asked} the alarm came {len(late)} times, {median(late):,.0f} cycles late"
        f" in the median, {late[-1]:,} at most, to a tick of {one.tick:,}"
        for one in found
        if (late := one.lateness)
    ] or [end]
    title = f"Instances of ChaCha20 over 4096 bytes, i-cache {ICACHE[icache]}; cycles"
    return "\n".join([*table.text(title, ""), "", *ends])


@verb(
    "make ladder && tockmark-lab instances",
    "tockmark-lab instances --kernel ~/tock/earlgrey-cw310.elf --opt-level z",
    "tockmark-lab instances --stack 40960 --icache off",
    "tockmark-lab instances --alarm",
)
def instances_verb(
    *,
    kernel: KernelFile = None,
    claims: KernelClaims,
    stack: Annotated[
        list[int] | None,
        Option(min=512, help="Bytes of stack of each instance; default: 2048. May be given again."),
    ] = None,
    alarm: Annotated[
        bool,
        Option(
            "--alarm",
            help="One instance, then three, of 64 runs each, behind an app whose alarm is due every"
            " 96,000 cycles: what the scheduler gives to each, and how late the alarm is.",
        ),
    ] = False,
    icache: ICache = None,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Store all in a file, too.")] = None,
) -> None:
    """Run more and more instances of a small program until one is refused, and say what gave out.

    Each runs ChaCha20 over 4096 bytes 16 times, and holds its answers against the known one."""
    if alarm and stack:
        raise TockmarkError("--alarm takes no --stack", "give one of them")
    if output is not None:
        check_writable([output], FORM)
    board = boards.load(boards.DEFAULT)
    elf = claims.read(kernel or board.kernels[2])
    cached = board.target.icache if icache is None else icache is options.Switch.ON
    found = []
    for one in stack or [STACK]:
        tried = (
            attempts_with_alarm(elf, board, cached) if alarm else attempts(elf, board, cached, one)
        )
        found += tried
        if not as_json:
            print(text(tried, cached), flush=True)
    if as_json:
        options.show(msgspec.to_builtins(found))
    if output is not None:
        write_whole({output: stored(found, elf, board)})
