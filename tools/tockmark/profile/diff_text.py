# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The difference of two profiles as text: by phase, by function, by the size of symbols."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tockmark.profile.diff import Change, Diff
from tockmark.profile.file import Share, Stored
from tockmark.profile.growth import Growth, Size
from tockmark.profile.report import fitting
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE

WIDTHS = (7, 7, 7, 7, 7, 7, 7)
COLUMNS = ("instr.", "", "", "cycles", "", "", "in body")
SECOND = ("base", "new", "+/-", "base", "new", "+/-", "+/-")
SIZE_WIDTHS = (8, 8, 8, 8)
SHOWN = 12  # lines of a table; the rest in one


def render(diff: Diff, growth: Sequence[Growth] | None = None) -> str:
    """All of it: what moved, and by how much; sizes where `growth` is known."""
    lines = [
        f"{diff.base.label}, i-cache {ICACHE[diff.base.icache]}:"
        f" {diff.instructions:+} instructions, {diff.cycles:+} cycles,"
        f" {diff.layout:+} of them by layout alone",
        f"base    {_kernel(diff.base)}",
        f"new     {_kernel(diff.new)}",
        "",
        *_table("phase", diff.phases, "sum"),
        "",
        *_table("function that does more, or less", diff.changed, "sum of these"),
        "",
        *_table("function that does the same elsewhere", diff.moved, "layout alone"),
    ]
    if growth is not None:
        lines += ["", *_sizes(growth)]
    return "\n".join(lines)


def as_json(diff: Diff, growth: Sequence[Growth] | None = None) -> dict[str, object]:
    """The same for other programs: both sides of each phase and function, and of each name whose
    size changed (null: that side has none of it), in bytes."""

    def changes(of: Sequence[Change]) -> list[dict[str, object]]:
        return [
            {
                "name": one.name,
                "instructions": [one.base.instructions, one.new.instructions],
                "cycles": [one.base.cycles, one.new.cycles],
                "in_body": [one.base.in_body, one.new.in_body],
                "layout": one.is_layout,
            }
            for one in of
        ]

    found: dict[str, object] = {
        "row": diff.base.label,
        "icache": diff.base.icache,
        "kernels": [_kernel(diff.base), _kernel(diff.new)],
        "instructions": diff.instructions,
        "cycles": diff.cycles,
        "layout_cycles": diff.layout,
        "phases": changes(diff.phases),
        "functions": changes(diff.functions),
    }
    if growth is not None:
        found["sizes"] = [asdict(one) for one in growth]
    return found


def _kernel(profile: Stored) -> str:
    sha = f" sha256 {profile.kernel.sha256[:12]}" if profile.kernel.sha256 else ""
    return f"{profile.kernel.title}{sha}"


def _table(what: str, changes: Sequence[Change], total: str) -> Iterator[str]:
    yield text.cells(COLUMNS, WIDTHS)
    yield f"{text.cells(SECOND, WIDTHS)}  {what}"
    yield "-" * text.LINE
    shown = changes if len(changes) <= SHOWN else changes[: SHOWN - 1]
    for change in shown:
        yield _line(change, change.name)
    if rest := changes[len(shown) :]:
        yield _line(_sum(rest), f"{len(rest)} more")
    yield "-" * text.LINE
    yield _line(_sum(changes), total)


def _line(change: Change, name: str) -> str:
    values = [
        *(share.instructions or text.NONE for share in (change.base, change.new)),
        _signed(change.instructions),
        *(share.cycles or text.NONE for share in (change.base, change.new)),
        _signed(change.cycles),
        _signed(change.in_body),
    ]
    columns = text.cells(map(str, values), WIDTHS)
    return f"{columns}  {fitting(name, text.LINE - len(columns) - 2)}"


def _sum(changes: Sequence[Change]) -> Change:
    base, new = (
        Share(
            "",
            {"execute": cycles} if (cycles := sum(one.cycles for one in side)) else {},
            sum(one.instructions for one in side),
            sum(one.in_body for one in side),
        )
        for side in ([c.base for c in changes], [c.new for c in changes])
    )
    return Change("", base, new)


def _signed(value: int) -> str:
    return f"{value:+}" if value else text.NONE


def _sizes(growth: Sequence[Growth]) -> Iterator[str]:
    if not growth:
        yield "No function or object came, went or changed its size."
        return
    yield text.cells(("bytes of", "flash", "", "RAM"), SIZE_WIDTHS)
    yield f"{text.cells(('base', 'new', '+/-', '+/-'), SIZE_WIDTHS)}  function or object"
    yield "-" * text.LINE
    shown = growth if len(growth) <= SHOWN else growth[: SHOWN - 1]
    for one in shown:
        yield _size(one.base, one.new, one.flash, one.ram, one.name)
    if rest := growth[len(shown) :]:
        flash, ram = sum(one.flash for one in rest), sum(one.ram for one in rest)
        yield _size(Size(), Size(), flash, ram, f"{len(rest)} more")
    yield "-" * text.LINE
    flash, ram = sum(one.flash for one in growth), sum(one.ram for one in growth)
    yield _size(Size(), Size(), flash, ram, "sum")


def _size(base: Size | None, new: Size | None, flash: int, ram: int, name: str) -> str:
    went = " (went)" if new is None else " (came)" if base is None else ""
    sides = [str(size.flash) if size and size.flash else text.NONE for size in (base, new)]
    columns = text.cells([*sides, _signed(flash), _signed(ram)], SIZE_WIDTHS)
    room = text.LINE - len(columns) - 2 - len(went)
    return f"{columns}  {text.shortened(name, room)}{went}"
