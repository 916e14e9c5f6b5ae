# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which phase of a system call a function belongs to: one table, for the baseline kernel and for
Tock. docs/profiling.md says what the phases mean."""

import re
from collections.abc import Iterable
from functools import cache

from tockmark.profile.frame import Frame

APP = "app"
ENTRY = "trap entry"
KERNEL = "kernel"
CAPSULE = "capsule"
SCHEDULER = "scheduler"
PMP = "PMP"
RETURN = "return"
PHASES = (APP, ENTRY, KERNEL, CAPSULE, SCHEDULER, PMP, RETURN)

# The first rule that fits decides: (phase, the function's name, its source file). Assembly has
# symbols but no file.
_RULES = tuple(
    (phase, re.compile(name), re.compile(file))
    for phase, name, file in (
        # the baseline kernel: kernel/src/arch/riscv/trap.S
        (ENTRY, r"^(trap_vector|exception|interrupt|fault)$", r"^$"),
        (RETURN, r"^(resume|restore|switch|enter|enter_user)$", r"^$"),
        # Tock: arch/rv32i and the chip's start-up code. What switch_to_process does after a trap
        # stands in one function with what it does before, so all of it counts as the return.
        (ENTRY, r"_start_trap|_start_app_trap|_return_to_kernel", r""),
        (RETURN, r"switch_to_process", r""),
        # both
        (PMP, r"", r"(^|/)e?pmp\.rs$"),
        (PMP, r"^(configure_mpu|setup_mpu|enable_app_mpu|protect)$", r""),
        (SCHEDULER, r"", r"/scheduler(/|\.rs$)"),
        (SCHEDULER, r"^(schedule|watch_slice)$", r"(^|/)kernel/src/kernel\.rs$"),
        (CAPSULE, r"", r"(^|/)capsules/|(^|/)kernel/src/drivers/"),
    )
)


# Pieces of code that several functions had in common, put apart by the compiler to save flash.
OUTLINED = re.compile(r"^OUTLINED_FUNCTION_")

# What these call counts as theirs where no rule knows it: a helper that writes a CSR belongs to
# the PMP that it configures. What the others call is the kernel proper.
_OF_CALLERS = (CAPSULE, SCHEDULER, PMP)


def phase_of(frames: tuple[Frame, ...], user: bool, callers: Iterable[tuple[Frame, ...]]) -> str:
    """The phase of code in these functions, which those of `callers` called, the nearest first:
    the innermost that a rule knows decides."""
    if user:
        return APP
    own = _known(frames)
    if own is not None:
        return own
    nearest = next(filter(None, map(_known, callers)), None)
    return nearest if nearest in _OF_CALLERS else KERNEL


@cache
def _known(frames: tuple[Frame, ...]) -> str | None:
    # Line tables say of a piece that the compiler outlined where one of its callers is from.
    if any(OUTLINED.search(frame.name) for frame in frames):
        return None
    for frame in reversed(frames):
        for phase, name, file in _RULES:
            if name.search(frame.name) and file.search(frame.file):
                return phase
    return None
