# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study instances: how many instances of a small program a kernel runs, how fast each is, and
what runs out first.

Each boot has one instance more than the last, until one does not run. What ran out is reported by
the image's build, by the kernel, or by the size of Tock's table of processes (from a symbol of the
kernel or the name of its type). If none reports it, the record says so. It also has the flash and
RAM that were left.

Next to an alarm, instances run longer, and an app in the first slot prints how late its alarm was:
this shows what a scheduler gives to each.
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
WITH_ALARM = (1, 3)  # numbers of instances; a kernel has four slots
MOST = 9  # one more than any known kernel runs
STACK = 2048
CYCLES_EACH = 8_000_000  # most cycles for the runs of one instance

FORM, VERSION = "tockmark-instances", 1

Full = Literal["process slots", "RAM", "flash", "not said"]

_TIMES = re.compile(r"instance (\d+) (began|first|last|wrong) (\d+)")
_ALARM = re.compile(r"alarm (late|tick) (\d+) (\d+)")
_REFUSED = re.compile(rf"app ({PROGRAM}\d*) refused: (.*)")


class Instance(Part, frozen=True):
    """An instance that ran, with cycles of the core's counter since reset."""

    number: int  # its position in flash, from 1
    began: int
    first: int  # when it had its first answer
    last: int
    runs: Positive = RUNS

    @property
    def per_run(self) -> float:
        """The cycles per run, including the cycles of others."""
        return (self.last - self.began) / self.runs


class Lateness(Part, frozen=True):
    """The lateness of the alarm's upcall, rounded to a tick, and its frequency."""

    cycles: int
    times: Positive


class Refusal(Part, frozen=True):
    """The resource that ran out, the instance that did not run, who reports it, and the rest."""

    instance: int
    full: Full
    by: Literal[
        "the image's build", "the kernel", "the kernel's symbols", "the kernel's types", "nobody"
    ]
    message: str = msgspec.field(name="said")
    flash_left: int  # bytes
    ram_left: int


class Attempt(Part, frozen=True):
    """A boot with `asked` instances."""

    asked: int
    instances: tuple[Instance, ...]
    icache: bool
    stack: Positive  # bytes, of each instance
    refused: Refusal | None = None
    late: tuple[Lateness, ...] = ()  # of the alarm next to the instances
    tick: int = 0  # cycles per tick of the alarm

    @property
    def since(self) -> tuple[float, ...]:
        """The cycles per run of each instance, from the start of the first instance to its own
        end."""
        begun = min(instance.began for instance in self.instances)
        return tuple((instance.last - begun) / instance.runs for instance in self.instances)

    @property
    def per_run(self) -> float:
        """The cycles per run, from the start of the first instance to the end of the last."""
        return max(self.since) / len(self.instances)

    @property
    def lateness(self) -> list[int]:
        """The lateness of each alarm in cycles, the least first."""
        return sorted(entry.cycles for entry in self.late for _ in range(entry.times))


class StoredInstances(Part, frozen=True):
    """The file of one kernel."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    attempts: tuple[Attempt, ...]


def attempts_with_alarm(kernel: KernelElf, board: BoardProfile, icache: bool) -> list[Attempt]:
    """Run one instance, then as many as fit, next to an app with an alarm."""
    boots = [attempt(kernel, board, icache, count, alarm=True) for count in WITH_ALARM]
    for boot in boots:
        if boot.refused is not None or not boot.tick:
            raise TockmarkError(
                f"{boot.asked} instances and an alarm did not run, or not to the end, on"
                f" {kernel.name or paths.shown(kernel.path)}",
                "give a kernel with four slots for apps, and with Perf",
            )
    return boots


def attempts(
    kernel: KernelElf, board: BoardProfile, icache: bool, stack: int = STACK
) -> list[Attempt]:
    """Run one instance, two, … until one is refused. `stack` is in bytes per instance.
    TockmarkError if an instance has a wrong answer, or none runs."""
    boots: list[Attempt] = []
    while not boots or (boots[-1].refused is None and boots[-1].asked < MOST):
        boots.append(attempt(kernel, board, icache, len(boots) + 1, stack))
    return boots


def attempt(
    kernel: KernelElf,
    board: BoardProfile,
    icache: bool,
    count: int,
    stack: int = STACK,
    alarm: bool = False,
) -> Attempt:
    """Boot `count` instances; with `alarm`, longer ones behind the app with the alarm."""
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
    missing = [n for n in range(1, count + 1) if n not in {instance.number for instance in ran}]
    if not missing:
        late, tick = _alarm(lines)
        return Attempt(count, ran, icache, stack, late=late, tick=tick)
    if not ran:
        raise TockmarkError(
            f"{boots[1].name} did not run on {kernel.name or paths.shown(kernel.path)}"
        )
    return Attempt(count, ran, icache, stack, _refusal(kernel, missing[0], lines, *left(before)))


def _refusal(kernel: KernelElf, number: int, lines: list[str], flash: int, ram: int) -> Refusal:
    """Return why an instance did not run, from the kernel's lines or its table of processes."""
    for line in lines:
        if match := _REFUSED.search(line):
            full: Full = "process slots" if "takes" in match[2] else "RAM"
            return Refusal(number, full, "the kernel", match[2], flash, ram)
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
    """Return how late the alarm was, and the cycles of one of its ticks."""
    messages = [match.groups() for line in lines for match in _ALARM.finditer(line)]
    late = tuple(Lateness(int(by), int(times)) for word, by, times in messages if word == "late")
    return late, next((int(by) for word, by, _ in messages if word == "tick"), 0)


def _ran(lines: list[str], before: int, runs: int) -> tuple[Instance, ...]:
    """Return the instances that had all their answers. `before` slots precede the first one.
    TockmarkError if an answer was wrong."""
    times: dict[int, dict[str, int]] = {}
    for line in lines:
        for number, event, cycles in _TIMES.findall(line):
            times.setdefault(int(number) - before, {})[event] = int(cycles)
    wrong = [number for number, values in times.items() if "wrong" in values]
    if wrong:
        raise TockmarkError(f"instance {wrong[0]} had a wrong answer", "report this")
    return tuple(
        Instance(number, values["began"], values["first"], values["last"], runs)
        for number, values in sorted(times.items())
        if values.keys() >= {"began", "first", "last"}
    )


def file_text(boots: list[Attempt], kernel: KernelElf, board: BoardProfile) -> str:
    """Return the content of the file with these attempts."""
    kept = StoredInstances(
        FORM,
        VERSION,
        # The attempts show how much flash and RAM the kernel leaves.
        msgspec.structs.replace(kernel_provenance(kernel, None), flash_bytes=None),
        board.name,
        simulator_provenance(board),
        paths.commit_of_checkout(),
        tuple(boots),
    )
    return documents.text_of(kept, ("attempts",))


def load(path: Path) -> StoredInstances:
    """Read such a file. TockmarkError if it is not one."""
    return documents.read(
        path, StoredInstances, FORM, VERSION, "give a file that `tockmark-lab instances` made"
    )


def format_attempts(boots: list[Attempt], icache: bool) -> str:
    """Format how fast the instances ran, and what ran out."""
    columns = {"a run": 10, "from start": 11, "a run, all": 11, "first answer": 13, "last": 12}
    table = Table([TableColumn("instance", 14, 0, left=True), *figures(columns)])
    for boot in boots:
        ran = boot.instances if boot.refused is None else ()
        for each, since in zip(ran, boot.since if ran else (), strict=True):
            table.add(
                f"{each.number} of {boot.asked}",
                f"{each.per_run:,.0f}",
                f"{since:,.0f}",
                f"{boot.per_run:,.0f}",
                f"{each.first:,}",
                f"{each.last:,}",
            )
    last = boots[-1].refused
    end = "no instance was refused"
    if last is not None:
        message = f": {last.message}" if last.message else ""
        end = (
            f"instance {last.instance} did not run: {last.full}, by {last.by}{message};"
            f" {last.flash_left:,} bytes of flash and {last.ram_left:,} of RAM were left"
        )
    ends = [
        f"next to {boot.asked} the alarm came {len(late)} times, {median(late):,.0f} cycles late"
        f" in the median, {late[-1]:,} at most, to a tick of {boot.tick:,}"
        for boot in boots
        if (late := boot.lateness)
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
        Option(min=512, help="Bytes of stack of each instance (default: 2048). Repeatable."),
    ] = None,
    alarm: Annotated[
        bool,
        Option(
            "--alarm",
            help="Run one instance, then three, 64 times each, next to an app whose alarm is due"
            " every 96,000 cycles. Shows what the scheduler gives to each, and how late the alarm"
            " is.",
        ),
    ] = False,
    icache: ICache = None,
    as_json: options.AsJson = False,
    output: Annotated[
        Path | None, options.output_option("Also store the attempts in a file.")
    ] = None,
) -> None:
    """Run more and more instances of a small program until one is refused, and show what ran out.

    Each instance runs ChaCha20 over 4096 bytes 16 times, and compares its answers with the known
    one."""
    if alarm and stack:
        raise TockmarkError("--alarm takes no --stack", "leave one of them out")
    if output is not None:
        check_writable([output], FORM)
    board = boards.load(boards.DEFAULT)
    elf = claims.read(kernel or board.kernels[2])
    cached = board.target.icache if icache is None else icache is options.Switch.ON
    boots = []
    for stack_bytes in stack or [STACK]:
        tried = (
            attempts_with_alarm(elf, board, cached)
            if alarm
            else attempts(elf, board, cached, stack_bytes)
        )
        boots += tried
        if not as_json:
            print(format_attempts(tried, cached), flush=True)
    if as_json:
        options.show(msgspec.to_builtins(boots))
    if output is not None:
        write_whole({output: file_text(boots, elf, board)})
