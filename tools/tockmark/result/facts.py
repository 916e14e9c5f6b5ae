# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a result shall know of a kernel's file and of a board's profile: of a run, and of a log
whose reader names both."""

import msgspec

from tockmark.plain import showable
from tockmark.result.provenance import Board, Kernel
from tockmark.target import board as boards
from tockmark.target import image


def kernel_of(kernel: image.Kernel, board: boards.Board | None) -> Kernel:
    """A kernel as its ELF and its user tell it. How much RAM it takes only the board knows."""
    return Kernel(
        name=showable(kernel.name) if kernel.name else None,
        file=showable(kernel.path.name),
        sha256=kernel.sha256,
        commit=kernel.commit,
        opt_level=kernel.opt_level,
        flags=kernel.flags,
        rustc=kernel.rustc,
        flash_bytes=kernel.flash_bytes,
        ram_bytes=kernel.slots.ram_start - board.ram.base if kernel.slots and board else None,
    )


def board_of(board: boards.Board) -> Board:
    """A board as its profile and its target tell it."""
    return msgspec.convert(  # checks what the profile says of its timing
        {
            "name": board.name,
            "machine": board.machine,
            "clock_hz": board.clock_hz,
            "timing": board.profile.timing,
            **board.target.provenance(board.clock_hz),
        },
        Board,
    )
