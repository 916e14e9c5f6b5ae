# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `reproduce`: runs an app that shows a fault of a kernel, as described in lab/upstream/.

The apps are in lab/upstream/apps/ (`make upstream`). They are linked for the given kernel, put
behind it in flash, and run on the simulated CW310 with the instruction cache off. With --tab, TABs
that were built by hand with libtock-c run instead. The lines of the apps go to stdout; the end of
the boot, with its cycles, goes to stderr.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError
from tockmark.base.files import temporary_folder, write_whole
from tockmark.cli.program import verb
from tockmark.profile.run import simulators
from tockmark.suite.catalogue import Boot
from tockmark.target import board as boards
from tockmark.target.board import BoardProfile
from tockmark.target.image import (
    FLASH_ALIGN,
    HEADER,
    AppBuild,
    build_image,
    install_with_tockloader,
)
from tockmark.target.kernel import KernelElf, app_room, read_kernel
from tockmark.target.protocol import Start
from tockmark.target.tab import write_tab_image

APPS = paths.APPS / "upstream-abi2"  # `make upstream`
GAP = 2 * FLASH_ALIGN  # bytes of padding that tockloader puts before an app that is linked there
# Stores to registers, in a line of the trace: I2C's data, and the watchdog's threshold of the bark.
FDATA, BARK = "4008001c>", "40470018>"
HALF_SECOND = 125_000  # counts of the watchdog
LAST_BYTE = 0x44  # that the app writes
NODEVICE = "status 11"  # of a driver's command


@dataclass
class BootOutput:
    """The output of a boot."""

    text: str  # of kernel and apps
    panicked: bool
    cycles: int
    stored: list[int]  # words stored to the register of the case, if it has one

    def numbers(self, words: str) -> list[int]:
        """Return the number behind each occurrence of these words."""
        return [int(digits) for digits in re.findall(rf"{re.escape(words)}(\d+)", self.text)]


def has_other_time(output: BootOutput) -> bool:
    """Return whether a tenth of a second took more than two tenths."""
    tenth = boards.load(boards.DEFAULT).clock_hz // 10
    return "awake" in output.text and output.cycles > 2 * tenth


def lost_last_byte(output: BootOutput) -> bool:
    return len(output.stored) > 1 and output.stored[-1] & 0xFF != LAST_BYTE


def barks_late(output: BootOutput) -> bool:
    """Return whether the watchdog barks after another time than the half second of its driver."""
    return bool(output.stored) and output.stored[0] != HALF_SECOND


def faults_on_more(output: BootOutput) -> bool:
    """Return whether the borrower got the larger buffer and then did not finish."""
    _, announced, behind = output.text.partition("told of bytes: 128")
    return bool(announced) and "has written" not in behind


def keeps_access(output: BootOutput) -> bool:
    return output.numbers("the first of them is now ")[-1:] == [2]


def takes_stale(output: BootOutput) -> bool:
    """Return whether the yield returned another alarm than the one that was set."""
    wanted, got = output.numbers("to the one set: "), output.numbers("to that of the yield: ")
    return wanted != got


def panicked(output: BootOutput) -> bool:
    return output.panicked


def is_late(output: BootOutput) -> bool | None:
    """Return whether an alarm came late. None if all did: then the kernel does not run the first
    app first, and nothing can be concluded."""
    (alarms,), (late,) = output.numbers("alarms: "), output.numbers("ticks late: ")
    return None if late == alarms else late > 0


def never(line: str) -> Callable[[BootOutput], bool]:
    """Return a function that tells whether an app never prints a line."""
    return lambda output: line not in output.text


@dataclass(frozen=True)
class Case:
    """The apps that show a fault, in the order of the flash, and the function that detects it
    (None: no conclusion). `begins` is a line that an app prints first; only a fault `at_boot` may
    prevent it."""

    slots: tuple[str, ...]
    shown: Callable[[BootOutput], bool | None]
    begins: str
    at_boot: bool = False
    gap: int = 0  # bytes before the first app
    cycles: int = 20_000_000  # after which the boot is ended
    traced: str = ""  # for the stores to this register


LENGTHS = Case(("i2c_length",), panicked, "the driver: ")
LENT = Case(("ipc_borrower", "ipc_lender"), keeps_access, "lend 64 bytes: ")
MORE = "ipc_borrower", "ipc_lender_more"
SUBSCRIBED = "ticks from the alarm"
CASES = {
    "alarm-rate": Case(("alarm_rate",), has_other_time, "ticks a second"),
    "i2c-last-byte": Case(("i2c_bytes",), lost_last_byte, "write: ", traced=FDATA),
    "i2c-length": LENGTHS,
    "i2c-length-kernel": replace(LENGTHS, slots=("i2c_length_kernel",)),
    "i2c-period": Case(("hello",), panicked, "hello", at_boot=True),
    "ipc-overlap": replace(LENT, slots=MORE, shown=faults_on_more),
    "ipc-take-back": LENT,
    "ipc-wait-for": Case(("ipc_waiter", "ipc_notifier"), never("notified"), "yield-wait-for a"),
    "late-alarm": Case(("late_waiter", "late_computer"), is_late, "alarms: ", cycles=60_000_000),
    "null-upcall": Case(("null_upcall",), never("returned, and says"), "yield-no-wait ..."),
    "null-upcall-subscribe": Case(("null_upcall_subscribe",), takes_stale, SUBSCRIBED),
    "otbn-padding": Case(("hello",), panicked, "hello", at_boot=True, gap=GAP),
    "watchdog-rate": Case(("hello",), barks_late, "hello", traced=BARK),
    "yield-number": Case(("yield_number",), never("returned"), "yield number 3 ..."),
}


def lay(
    case: Case, tabs: Sequence[Path], elf: KernelElf, board: BoardProfile, folder: Path
) -> Path:
    """Write the flash image of a kernel and a case's apps, or of TABs instead."""
    if tabs:
        if len(tabs) != len(case.slots):
            wanted = ", ".join(case.slots)
            raise TockmarkError(f"this case has {len(case.slots)} apps", f"give TABs of {wanted}")
        write_tab_image(tabs, elf, board, folder / "tabs.flash")
        return folder / "tabs.flash"
    room = app_room(elf, board)
    moved = {"tm_flash_start": room.flash_start + case.gap + HEADER}
    boot = Boot(case.slots[0], "", case.slots, ())
    apps = AppBuild(APPS, 2, target="upstream")
    image = build_image(boot, apps, elf, board, folder, moved if case.gap else None)
    if case.gap:  # tockloader fills it with a padding app, which has no name
        install_with_tockloader([Path(slot.tab) for slot in image.slots], image.flash, board, room)
    return image.flash


def run(case: Case, kernel: Path, tabs: Sequence[Path], keep: Path | None) -> bool:
    """Run a case and return whether it shows its fault. Write its flash image to `keep`, if given.
    TockmarkError if nothing can be concluded."""
    board = boards.load(boards.DEFAULT).configured({"max-cycles": case.cycles})
    board.target.check_ready()
    elf = read_kernel(kernel)
    with temporary_folder(paths.RUNS) as folder:
        flash = lay(case, tabs, elf, board, folder)
        if keep is not None:
            write_whole({keep: flash.read_bytes()})
        start = Start(case.slots[0], flash, icache=False, panics=elf.panics)
        output = run_boot(start, board)
        if case.traced:
            output.stored = stores(case.traced, start, board, folder)
    if case.begins not in output.text and not (case.at_boot and output.panicked):
        raise TockmarkError("the app did not start", "read the kernel's lines above")
    if NODEVICE in output.text:
        raise TockmarkError(
            "the kernel lacks the driver", "build one with it, as lab/upstream/ describes"
        )
    shown = case.shown(output)
    if shown is None:
        raise TockmarkError(
            "no conclusion on this kernel: it does not run the first app first",
            "build one with the priority scheduler",
        )
    return shown


def run_boot(start: Start, board: BoardProfile) -> BootOutput:
    """Simulate a boot and print its output."""
    session = board.target.start(start)
    lines = []
    try:
        for line in session.lines():
            lines.append(line)
            sys.stdout.buffer.write(line.encode("latin-1", "replace") + b"\n")
            sys.stdout.buffer.flush()
        ending = session.ending()
    finally:
        session.stop()
    print(f"tockmark: {ending.why}, after {ending.cycles} cycles", file=sys.stderr)
    return BootOutput("\n".join(lines), ending.panicked, ending.cycles, [])


def stores(register: str, start: Start, board: BoardProfile, folder: Path) -> list[int]:
    """Return the words that the same boot stores to a register, from a trace of its
    instructions."""
    _, tracing = simulators(board)
    session = tracing.start_here(start, "--uart", str(folder / "uart.log"), "--itrace", "-")
    try:
        parts = (line.partition(register) for line in session.lines())
        return [int(word[:8], 16) for _, stored, word in parts if stored]
    finally:
        session.stop()


@verb(
    "tockmark-lab reproduce otbn-padding --kernel ~/tock/earlgrey-cw310.elf",
    exits={
        OK: "the fault is shown",
        INCOMPLETE: "it is not shown",
        UNUSABLE: "nothing can be concluded: the kernel did not get that far, or lacks a driver",
    },
)
def reproduce_verb(
    case: Annotated[str, Argument(metavar="CASE", help=f"Fault: {', '.join(sorted(CASES))}.")],
    kernel: Annotated[
        Path | None, Option(help="ELF of the kernel (default: the baseline).")
    ] = None,
    tab: Annotated[
        list[Path] | None, Option(help="TAB to run instead, in the order of the flash. Repeatable.")
    ] = None,
    image: Annotated[
        Path | None, Option(metavar="FILE", help="Also write the flash image.")
    ] = None,
) -> None:
    """Run an app that shows a fault of a kernel, as described in lab/upstream/."""
    if case not in CASES:
        raise TockmarkError(
            f"there is no case '{case}'", f"choose one of: {', '.join(sorted(CASES))}"
        )
    shown = run(CASES[case], kernel or boards.load(boards.DEFAULT).kernels[2], tab or (), image)
    print(f"{case}: {'shown' if shown else 'not shown'}")
    raise Exit(OK if shown else INCOMPLETE)
