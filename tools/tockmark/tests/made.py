# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Invented results of a full run, for the tests of tables, pictures and pages.

They have every type of row that a picture or a page shows. No machine measured the numbers.
"""

from dataclasses import replace

import msgspec

from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot
from tockmark.wire.rows import StoredRow

READ = 300
SIZES = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]


def result(catalogue: Catalogue, factor: float = 1, clock: int = 24_000_000) -> Result:
    """Return a run with the cache on and off, with all costs multiplied by `factor`."""
    boots = []
    for icache in (True, False):
        slow = factor * (1 if icache else 1.4)
        rows = [_row("time.read", {}, 0)]
        rows += [_row("call.args", {"n": n}, slow * (4 + 2 * n)) for n in range(1, 11)]
        rows += [_row("syscall.command", {}, slow * 150)]
        for kind, cost in {"copy_memcpy": 2.0, "copy_asm": 1.2, "read_sum": 1.5}.items():
            rows += [_row(f"mem.{kind}", {"size": s}, slow * (20 + cost * s / 4)) for s in SIZES]
        for width in (2, 4):
            rows += [
                _row("icache.nops", {"width": width, "size": k * 1024}, _nops(width, k, icache))
                for k in range(17)
            ]
        for processes in (2, 3, 4):
            rows += [
                _row("ctx.ring", {"processes": processes, "kib": k}, slow * (900 + k * 128))
                for k in (0, 1, 4)
            ]
        rows += [_row("ipc.bandwidth", {"size": s}, slow * (2000 + 2 * s)) for s in SIZES]
        rows += [_row("loop.align", {"offset": o}, slow * (3000 + 9 * o)) for o in (0, 2, 4, 6)]
        late = [int(slow * (400 + 37 * (i * i % 11))) + READ for i in range(40)]
        for load in ("alone", "spinner"):
            cycles = [v + 900 * (load == "spinner") for v in late]
            params: Params = {"beside": load}
            rows.append(stored("sched.alarm_lateness", {"cycles": cycles}, params, len(late)))
        app = app_of("time", rows, lang="c", abi="2")
        boots.append(MeasuredBoot("all", icache, "time", {"time": app}))
    board = Board("made-up", "cw310", clock, "unchecked", None, 16)
    context = Context(Kernel("made-up kernel", sha256="ab" * 32), board, 2)
    made = build(Measured(boots), catalogue, context, expected=())
    dated = msgspec.structs.replace(made.provenance, date="2000-01-01T00:00:00+00:00")
    return replace(made, provenance=dated)


def _row(id_: str, params: Params, net: float) -> StoredRow:
    cycles = [READ + int(net) + 9] + [READ + int(net)] * 9
    return stored(id_, {"cycles": cycles, "instret": [100] * 10}, params, 10)


def _nops(width: int, kib: int, icache: bool) -> float:
    count = kib * 1024 / width
    if width == 2:
        return count
    return count * (1.5 if not icache else 1.0) + (max(kib - 4, 0) * 300 * icache * 0.6)
