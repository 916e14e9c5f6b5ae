# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs an app that shows one fault of a kernel, for the texts in docs/upstream/.

    .venv/bin/python tools/reproduce.py otbn-padding --kernel ~/tock/…/earlgrey-cw310.elf

The apps are those of apps/upstream/, linked for the kernel at hand and laid behind it, on the
simulated CW310 with the instruction cache off. Their lines go to stdout; how the boot ended, and
after how many cycles, to stderr. Exit code 1 if the kernel panicked or hung.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tockmark import paths
from tockmark.errors import INCOMPLETE, INTERRUPTED, OK, TockmarkError
from tockmark.files import folder_for_a_while, write_whole
from tockmark.rig import board as boards
from tockmark.rig.image import FLASH_ALIGN, HEADER, AppBuild, build_image, lay_by_tockloader
from tockmark.rig.kernel import read_kernel, room_of
from tockmark.rig.protocol import Start
from tockmark.suite.catalogue import Boot

GAP = 2 * FLASH_ALIGN  # bytes of padding that tockloader puts before an app that is linked there


@dataclass(frozen=True)
class Case:
    """What shows a fault: the apps in the order of the flash, and how they lie there."""

    slots: tuple[str, ...]
    scene: int = 0
    gap: int = 0  # bytes before the first
    cycles: int = 20_000_000  # at which it ends at the latest


CASES = {
    "alarm-rate": Case(("alarm_rate",)),
    "i2c-last-byte": Case(("i2c_bytes",)),
    "i2c-length": Case(("i2c_length",)),
    "i2c-length-kernel": Case(("i2c_length",), scene=1),
    "i2c-period": Case(("hello",)),
    "ipc-overlap": Case(("ipc_borrower", "ipc_lender"), scene=1),
    "ipc-take-back": Case(("ipc_borrower", "ipc_lender")),
    "ipc-wait-for": Case(("ipc_waiter", "ipc_notifier")),
    "late-alarm": Case(("late_waiter", "late_computer"), cycles=60_000_000),
    "null-upcall": Case(("null_upcall",)),
    "null-upcall-subscribe": Case(("null_upcall",), scene=1),
    "otbn-padding": Case(("hello",), gap=GAP),
    "yield-number": Case(("yield_number",)),
}


def run(case: Case, kernel: Path, keep: Path | None) -> int:
    """Run a case; keep its flash image as a file if one is named. Return the exit code."""
    board = boards.load(boards.DEFAULT).configured({"max-cycles": case.cycles})
    board.target.ready()
    elf = read_kernel(kernel)
    boot = Boot(case.slots[0], "", case.slots, (), case.scene)
    with folder_for_a_while(paths.RUNS) as folder:
        moved = {"tm_flash_start": room_of(elf, board).flash_start + case.gap + HEADER}
        apps = AppBuild.built(2)
        image = build_image(boot, apps, elf, board, folder, moved if case.gap else None)
        flash = image.flash
        if case.gap:  # for which tockloader has an app of its own, without a name
            tabs = [Path(slot.tab) for slot in image.slots]
            lay_by_tockloader(tabs, flash, board, room_of(elf, board))
        if keep is not None:
            write_whole({keep: flash.read_bytes()})
        start = Start(boot.name, flash, icache=False, panics=elf.panics)
        session = board.target.start(start)
        try:
            for line in session.lines():
                sys.stdout.buffer.write(line.encode("latin-1", "replace") + b"\n")
                sys.stdout.buffer.flush()
            ending = session.ending()
        finally:
            session.stop()
    print(f"tockmark: {ending}, after {session.cycles} cycles", file=sys.stderr)
    return OK if session.idle else INCOMPLETE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("case", choices=sorted(CASES), help="which fault")
    parser.add_argument("--kernel", type=Path, help="ELF of the kernel; default: the baseline's")
    parser.add_argument("--image", type=Path, metavar="FILE", help="keep the flash image")
    given = parser.parse_args()
    try:
        default = boards.load(boards.DEFAULT).kernels[2]
        return run(CASES[given.case], given.kernel or default, given.image)
    except TockmarkError as error:
        print(f"tockmark: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
