# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Access to the committed results for the generated pages: rows by name, and figures formatted for
a page (a number, a range over links, a ratio, a share)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tockmark.base.paths import RESULTS, ROOT
from tockmark.result import file
from tockmark.result.model import Row, ratio
from tockmark.show import table, text
from tockmark.show.table import layout_nets
from tockmark.suite.catalogue import Lang
from tockmark_lab.folders import STUDIES


def number(value: float | None) -> str:
    """Format a figure: no decimals from 100 on, else two."""
    return text.number(value, 0 if value is not None and abs(value) >= 100 else 2, ",")


def between(values: Sequence[float], written: Callable[[float], str] = number) -> str:
    """Format the range of some values: one number if both ends print the same, "-" if empty."""
    if not values:
        return text.NONE
    least, most = written(min(values)), written(max(values))
    return least if least == most else f"{least}–{most}"


def span_of(
    row: Row | None, per: float | None = None, written: Callable[[float], str] = number
) -> str:
    """Format the range of net cycles over layouts, of one operation or divided by `per`; "†" marks
    an end whose layout subtracts a control."""
    if row is None or not row.sound:
        return text.NONE
    ends = [f"{written(net / (per or row.inner))}{mark}" for net, mark in table.range_ends(row)]
    return "–".join(dict.fromkeys(ends)) or text.NONE


def share_left(pair: str, row: str, icache: bool = True) -> str:
    """Return the range, over pairs of links, of a row's cycles in PAIR-head relative to
    PAIR-base."""
    sides = (committed(f"{pair}-{side}").row(row, icache) for side in ("base", "head"))
    return between(pair_ratios(*sides), "{:.2f}".format)


def longer(base: Row | None, head: Row | None) -> str:
    """Return the range, over pairs of links, of the change of a row's cycles in percent."""
    return between(pair_ratios(base, head), lambda ratio: text.percent(ratio - 1, sign="+"))


def pair_ratios(*rows: Row | None) -> list[float]:
    """Return the cycles of the second row relative to the first, in each pair of links."""
    base, head = map(layout_nets, rows)
    return [after / before for before, after in zip(base, head, strict=True)]


def percents(shares: Sequence[float], digits: int = 1) -> str:
    """Format the range of some shares in percent."""
    written = between(shares, lambda share: text.percentage(share, digits=digits))
    return f"{written} %" if shares else written


def share(part: float, whole: float) -> str:
    """Format a part of a whole in whole percent."""
    return text.percent(part / whole, digits=0)


def marked(value: float | None, row: Row | None) -> str:
    """Format a figure of a row, with "!" if the row has an error."""
    return number(value) + table.error_mark(row)


def per_op(row: Row | None) -> str:
    """Format net cycles of one operation (median over layouts)."""
    return marked(row.per_op if row else None, row)


def multiples(row: Row | None, least: float | None) -> str:
    """Format the range over layouts of one operation's cycles, in multiples of `least`."""
    if not least:
        return text.NONE
    return span_of(row, least * (row.inner if row else 1), "{:.1f}".format)


def retired(row: Row | None) -> float | None:
    """Return net instructions of one operation."""
    return None if row is None or row.instructions is None else row.instructions / row.inner


def times(base: Row | None, row: Row | None) -> str:
    """Format the ratio of a row's cycles to the base row's."""
    return text.ratio(ratio(base, row))


@dataclass(frozen=True)
class AppSize:
    """Bytes of an app: code, constants and initial data in flash; RAM with stack and heap."""

    flash: int
    ram: int


def path_of(name: str) -> Path:
    """Return the path of a committed result, named STUDY/NAME or by its path in results/."""
    study, _, own = name.partition("/")
    data = STUDIES / study / "data"
    return data / f"{own}.json" if data.is_dir() else RESULTS / f"{name}.json"


class CommittedResult:
    """A result file by row, for one language of the apps (default: the leading one)."""

    def __init__(self, name: str, lang: Lang | None = None) -> None:
        path = path_of(name)
        self.name = name
        self.file = str(path.relative_to(ROOT))  # as a command names it
        self.lang: Lang = lang or "c"
        self.result = file.load(path)
        self.kernel = self.result.provenance.kernel
        self.board = self.result.provenance.board
        rows = (self.result if lang else self.result.leading).table.values()
        self.rows = {(row.icache, row.label): row for row in rows if lang in (None, row.lang)}
        self._boots = [boot for boot in self.result.provenance.boots if boot.lang == self.lang]

    def row(self, name: str, icache: bool = True) -> Row | None:
        return self.rows.get((icache, name))

    @property
    def links(self) -> str:
        """The number of links of the kernel, in words."""
        return f"{self.result.links} links" if self.result.links > 1 else "one link"

    @property
    def cycles(self) -> str:
        """Millions of cycles of all boots with apps in this language."""
        return f"{self.result.of_lang(self.lang).provenance.cycles / 1e6:.0f}"

    @property
    def boots(self) -> int:
        """The number of boots per layout with apps in this language, over both cache settings."""
        return sum(len(boot.cycles) for boot in self._boots)

    def net(self, name: str, icache: bool = True) -> str:
        """Format net cycles of one operation; for time.read the measured cycles."""
        return per_op(self.row(name, icache))

    def retired(self, name: str, icache: bool = False) -> str:
        """Format net instructions of one operation."""
        return number(retired(self.row(name, icache)))

    def span(self, name: str, icache: bool = True) -> str:
        """Format the range over layouts of one operation's net cycles."""
        return span_of(self.row(name, icache))

    def against(self, name: str, icache: bool, least: float) -> str:
        """Format the range over layouts of one operation's cycles, in multiples of `least`."""
        return multiples(self.row(name, icache), least)

    def reach(self, name: str, icache: bool = True) -> str:
        """Format by how many percent the slowest layout exceeds the fastest."""
        nets = layout_nets(self.row(name, icache))
        return text.percent(max(nets) / min(nets) - 1, digits=0)

    @property
    def built(self) -> str:
        """The kernel's opt-level, for a heading."""
        return f"opt-level {self.kernel.opt_level or 'unknown'}"

    @property
    def compiler(self) -> str:
        """The compiler and flags of the apps."""
        (compiler,) = {
            app.record["cc"] for app in self.result.provenance.apps if app.lang == self.lang
        }
        return compiler

    def sizes(self) -> dict[str, AppSize]:
        """Return the size of each app by name; the first process of an app that has several."""
        return {
            slot.name: AppSize(slot.flash_length or 0, slot.ram_length)
            for boot in self._boots
            for slot in boot.slots
            if not slot.name[-1].isdigit()
        }

    def skipped(self) -> list[tuple[str, str]]:
        """Return the ids that were not measured, each once, with the reason."""
        return list(dict.fromkeys((gone.id, gone.why or "") for gone in self.result.skipped))


@cache
def committed(name: str, lang: Lang | None = None) -> CommittedResult:
    """Return the committed result of this name; it is read once."""
    return CommittedResult(name, lang)
