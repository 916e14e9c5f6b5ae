# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build results from samples, through the protocol and the product's own result builder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
from typer.testing import Result as Done

from tockmark.base.errors import TockmarkError
from tockmark.compare.limits import Limits, load_limits
from tockmark.compare.pairs import DEFAULT_MARGINS, compare
from tockmark.compare.spread import Deviation, Spread
from tockmark.compare.verdict import Judgement, judge_comparison
from tockmark.result.build import Context, build
from tockmark.result.model import Result, Row
from tockmark.result.provenance import Apps, Board, Kernel, Layout
from tockmark.suite.catalogue import Catalogue, Lang
from tockmark.suite.selection import Selection
from tockmark.tests.conftest import encoded
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, compress, decode

READ = [194, *[169] * 11]
KERNEL = Kernel("one 1.0", "one.elf", "a" * 64)
SIMULATED = Board("earlgrey-sim", "cw310", 24_000_000, "checked-against-rtl", "b" * 64, 16)
ON_BOARD = Board("a-board", "cw310", 24_000_000, "unchecked", None, 16)


def made(
    catalogue: Catalogue,
    rows: dict[str, list[int]],
    *,
    instret: dict[str, int] | None = None,
    read: list[int] = READ,
    inner: int = 1,
    icache: tuple[bool, ...] = (False,),
    kernel: Kernel = KERNEL,
    board: Board = SIMULATED,
    lang: Lang = "c",
) -> Result:
    """Return a result with these raw cycles, cold sample first, and by default 100 instructions."""
    log = logged(rows, instret=instret, read=read, inner=inner, icache=icache, lang=lang)
    return of_log(log, catalogue, kernel, board)


def of_log(
    lines: list[str], catalogue: Catalogue, kernel: Kernel = KERNEL, board: Board = SIMULATED
) -> Result:
    """Return the result of a log."""
    return build(assemble(decode(lines)), catalogue, Context(kernel, board, 2))


CC = {"c": "gcc 12.2.0 -O3", "rust": "rustc 1.95.0 -O"}


def logged(
    rows: dict[str, list[int]],
    *,
    instret: dict[str, int] | None = None,
    read: list[int] = READ,
    inner: int = 1,
    icache: tuple[bool, ...] = (False,),
    lang: Lang = "c",
) -> list[str]:
    """Return the log of boots with these rows, in one language. The boot marks name the language
    only if it is not C."""
    records = [f'begin proto=1 lang={lang} abi=2 apps=1 perf=0x90010 cc="{CC[lang]}"']
    for label, samples in {"time.read": read, **rows}.items():
        count = (instret or {}).get(label, 100 if label != "time.read" else 84)
        several = 1 if label == "time.read" else inner
        records.append(f"bench {label} inner={several} n={len(samples)}")
        records.append(f"data cycles {compress(samples)}")
        records.append(f"data instret {count}*{len(samples)}")
    lines: list[str] = []
    for setting in icache:
        recorded_lang = None if lang == "c" else lang
        lines.append(BootMark("time", setting, "time", lang=recorded_lang).encode())
        lines += encoded("time", [*records, "end ok"])
    return lines


def of_both(
    catalogue: Catalogue,
    rows: dict[str, list[int]],
    rust: dict[str, list[int]],
    *,
    icache: tuple[bool, ...] = (True, False),
    kernel: Kernel = KERNEL,
) -> Result:
    """Return a result of both languages. In Rust a counter read costs ten cycles more."""
    lines = logged(rows, icache=icache)
    slower = {label: [count + 10 for count in samples] for label, samples in rust.items()}
    lines += logged(slower, icache=icache, read=[count + 10 for count in READ], lang="rust")
    return of_log(lines, catalogue, kernel)


def steady(net: int) -> list[int]:
    """Return the raw cycles of a row whose samples are equal, except for the cold one."""
    return [net + 194, *[net + 169] * 11]


@dataclass(frozen=True)
class Even(Spread):
    """The same spread for all rows."""

    value: float = 0

    def row_deviation(self, row: Row) -> Deviation:
        return Deviation(self.value, 15)


def spread(deviation: float) -> Spread:
    """Return a spread with this standard deviation of the logarithms of cycles for all rows."""
    return Even("made", 16, value=deviation)


CALM = spread(0)


def of_links(results: Sequence[Result]) -> Result:
    """Merge results of several links of a kernel into one result."""
    tables = [result.table for result in results[1:]]
    rows = []
    for row in results[0].rows:
        rows.append(row.with_layouts([table[row.key] for table in tables]))
    layouts = tuple(Layout(link=f"{number:064x}") for number in range(len(results)))
    provenance = msgspec.structs.replace(results[0].provenance, layouts=layouts)
    return replace(results[0], provenance=provenance, rows=tuple(rows))


def with_provenance(result: Result, **changes: object) -> Result:
    """Return the result with other provenance. `said` replaces what the apps reported."""
    if "said" in changes:
        changes["apps"] = (Apps(("time",), changes.pop("said")),)  # type: ignore[arg-type]
    return replace(result, provenance=msgspec.structs.replace(result.provenance, **changes))


def exit_code(done: Done) -> int:
    """Return the exit code of the tool. Raise any exception that a verb must not raise."""
    if isinstance(done.exception, TockmarkError):
        return done.exception.code
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code


def judged(
    base: Result,
    new: Result,
    catalogue: Catalogue,
    spread: Spread = CALM,
    limits: Limits | None = None,
    allowed: Selection | None = None,
    force: bool = False,
) -> Judgement:
    """Judge `new` against `base` by limits (default: the limits of the product)."""
    compared = compare(base, new, "new", catalogue, DEFAULT_MARGINS, spread, force, strict=True)
    return judge_comparison(compared, limits or load_limits(None, catalogue), allowed)
