# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of given samples, made through the protocol and the result's own builder."""

from typing import Any

from tockmark.log.protocol import BootMark, compress, decode
from tockmark.log.rows import assemble
from tockmark.result import result as results
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.conftest import encoded

READ = [194, *[169] * 11]
KERNEL = {"name": "one 1.0", "file": "one.elf", "sha256": "a" * 64, "commit": None}
BOARD = {
    "name": "earlgrey-sim",
    "machine": "cw310",
    "clock_hz": 24_000_000,
    "timing": "checked-against-rtl",
    "simulator_sha256": "b" * 64,
    "uart_cycles_per_byte": 16,
}
BOARD_ONLY = {"simulator_sha256": None, "name": "a-board", "timing": "unchecked"}


def made(
    catalogue: Catalogue,
    rows: dict[str, list[int]],
    *,
    instret: dict[str, int] | None = None,
    read: list[int] = READ,
    icache: tuple[bool, ...] = (True,),
    kernel: dict[str, Any] | None = None,
    board: dict[str, Any] | None = None,
) -> results.Json:
    """A result with these raw cycles, cold sample first, and 100 instructions unless told."""
    records = ['begin proto=1 lang=c abi=2 apps=1 perf=0x90010 cc="gcc 12.2.0 -O3"']
    for label, samples in {"time.read": read, **rows}.items():
        count = (instret or {}).get(label, 100 if label != "time.read" else 84)
        records.append(f"bench {label} inner=1 n={len(samples)}")
        records.append(f"data cycles {compress(samples)}")
        records.append(f"data instret {count}*{len(samples)}")
    lines: list[str] = []
    for setting in icache:
        lines.append(BootMark("time", setting, "time").encode())
        lines += encoded("time", [*records, "end ok"])
    provenance = {"kernel": {**KERNEL, **(kernel or {})}, "board": {**BOARD, **(board or {})}}
    return results.build(assemble(decode(lines)), catalogue, {**provenance, "abi": 2})


def steady(net: int) -> list[int]:
    """Raw cycles of a row that is always the same."""
    return [net + 194, *[net + 169] * 11]
