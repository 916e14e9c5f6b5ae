# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where figures come from, and what a reader may take from them: of one result, in words."""

from tockmark.result.model import ICACHE, Result
from tockmark.result.provenance import Timing
from tockmark.show.table import layouts
from tockmark.suite.catalogue import LANGS

# What a reader may take from cycle counts, by what they have been compared with.
TIMING: dict[Timing, str] = {
    "hardware": "Measured on hardware.",
    "checked-against-hardware": "Simulated; the model of this machine was compared with "
    "measurements on hardware, and met them within a stated bound (docs/validation.md).",
    "checked-against-board": "Simulated; the model of this machine was compared with runs of the "
    "suite on such a board (docs/validation.md).",
    "checked-against-rtl": "Simulated; the model of this machine was compared with the chip's own "
    "RTL, and met it but in the counts that docs/simulator.md lists. Not compared with a chip.",
    "unchecked": "Nothing is known of how true these cycle counts are: the log does not tell what "
    "it was captured from, or the machine was never compared with anything.",
    "functional-only": "The cycle counts are no timing at all: this machine only shows that the "
    "suite runs. Instruction counts hold.",
}

UNKNOWN = "not known"


def conditions(result: Result) -> dict[str, str]:
    """Under which its figures hold, for one line of a table."""
    found = result.provenance
    return {
        "opt-level": found.kernel.opt_level or UNKNOWN,
        "machine": found.board.machine or found.board.name or UNKNOWN,
        "clock": found.board.clock,
        "interface": f"version {found.abi}" if found.abi else UNKNOWN,
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "apps in": " and ".join(LANGS[lang] for lang in result.langs),
        "layouts": layouts(result),
        "timing": found.board.validity,
        "measured": found.date[:10],
    }


def provenance(result: Result) -> dict[str, str]:
    """All that a result says of itself, in the order of the page."""
    found = result.provenance
    kernel, board = found.kernel, found.board
    uart = board.uart_cycles_per_byte
    return {
        "Kernel": kernel.title,
        "Kernel image": _hashed(kernel.sha256),
        "Optimisation": kernel.built if kernel.opt_level else UNKNOWN,
        "Rust compiler": kernel.rustc or UNKNOWN,
        "Built from commit": kernel.commit or UNKNOWN,
        "Flash": _bytes(kernel.flash_bytes),
        "RAM before the apps": _bytes(kernel.ram_bytes),
        "System-call interface": f"version {found.abi}" if found.abi else UNKNOWN,
        "Board or machine": f"{board.name or UNKNOWN} ({board.machine or UNKNOWN})",
        "Clock": board.clock,
        "Timing": board.validity,
        "Simulator": _hashed(board.simulator_sha256),
        "Made from": f"Verilator {board.verilator or UNKNOWN}, Ibex {board.ibex or UNKNOWN}",
        "UART": f"{uart} cycles a byte" if uart else UNKNOWN,
        "Layouts": layouts(result),
        "Boots": str(len(found.boots) or UNKNOWN),
        "Apps": ", ".join([*found.said("lang"), *found.said("cc")]) or UNKNOWN,
        "Catalogue": _hashed(found.catalogue_sha256),
        "Measured": found.date,
        "Tool": f"{found.tool.name} {found.tool.version}, commit {found.tool.commit or UNKNOWN}",
    }


def _hashed(sha256: str | None) -> str:
    return f"sha256 {sha256}" if sha256 else UNKNOWN


def images(result: Result) -> list[str]:
    """The images of the kernel, if it was measured in several."""
    found = [layout.sha256 for layout in result.provenance.layouts if layout.sha256]
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else []


def _bytes(count: int | None) -> str:
    return f"{count} bytes" if count is not None else UNKNOWN


def skipped(result: Result) -> list[str]:
    """What its kernel cannot run, and why: once for all parameters and cache settings."""
    whys: dict[tuple[str, str | None], set[str]] = {}
    for gone in result.skipped:
        whys.setdefault((gone.id, gone.why), set()).add(LANGS[gone.lang])
    every = {LANGS[lang] for lang in result.langs}
    return [
        f"{id_}{'' if langs >= every else ', ' + ' and '.join(sorted(langs))}: {why}"
        for (id_, why), langs in whys.items()
    ]
