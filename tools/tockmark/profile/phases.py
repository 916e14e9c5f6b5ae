# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which phase of a system call a function belongs to: one table, for the baseline kernel and for
Tock. docs/profiling.md says what the phases mean."""

import re

from tockmark.profile.symbols import Frame

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


def phase_of(frames: tuple[Frame, ...], user: bool) -> str:
    """The phase of code in these functions: the innermost that a rule knows decides."""
    if user:
        return APP
    for frame in reversed(frames):
        for phase, name, file in _RULES:
            if name.search(frame.name) and file.search(frame.file):
                return phase
    return KERNEL
