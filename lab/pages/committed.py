# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The committed results, as the pages that `make findings` makes ask for them: by the names of
their rows, with figures as a page has them: one number, a range over links, a ratio, a share."""

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
    """Return a figure with as many digits as a reader needs."""
    return text.number(value, 0 if value is not None and abs(value) >= 100 else 2, ",")


def between(values: Sequence[float], written: Callable[[float], str] = number) -> str:
    """Return the least and the most; one number if they look alike, "-" if there are none."""
    if not values:
        return text.NONE
    least, most = written(min(values)), written(max(values))
    return least if least == most else f"{least}–{most}"


def share_left(pair: str, row: str, icache: bool = True) -> str:
    """Return what a change leaves of a row's cycles, pair by pair of links: results PAIR-base and
    PAIR-head."""
    nets = [layout_nets(committed(f"{pair}-{side}").row(row, icache)) for side in ("base", "head")]
    return between([after / before for before, after in zip(*nets, strict=True)], "{:.2f}".format)


def percents(shares: Sequence[float], digits: int = 1) -> str:
    """Return the least and the most of some shares, in percent."""
    written = between(shares, lambda share: text.percentage(share, digits=digits))
    return f"{written} %" if shares else written


def share(part: float, whole: float) -> str:
    """Return a part of a whole in whole percent."""
    return text.percent(part / whole, digits=0)


def marked(value: float | None, row: Row | None) -> str:
    """Return a figure of a row; "!" says that the row has an error."""
    return number(value) + table.error_mark(row)


def per_op(row: Row | None) -> str:
    """Return net cycles of one operation; of several layouts the median."""
    return marked(row.per_op if row else None, row)


def multiples(row: Row | None, least: float | None) -> str:
    """Return how many times `least` cycles one operation takes, over the layouts."""
    if not least:
        return text.NONE
    return between([net / least for net in layout_nets(row)], "{:.1f}".format)


def retired(row: Row | None) -> float | None:
    """Return net instructions of one operation."""
    return None if row is None or row.instructions is None else row.instructions / row.inner


def times(base: Row | None, row: Row | None) -> str:
    """Return the cycles of a row by those of another."""
    return text.ratio(ratio(base, row))


@dataclass(frozen=True)
class AppSize:
    """Bytes of an app: code, constants and initial data in flash; RAM with stack and heap."""

    flash: int
    ram: int


def path_of(name: str) -> Path:
    """Return the file of a committed result: STUDY/NAME, or what it is called in results/."""
    study, _, own = name.partition("/")
    data = STUDIES / study / "data"
    return data / f"{own}.json" if data.is_dir() else RESULTS / f"{name}.json"


class CommittedResult:
    """A result file, by row, in one language of the apps: the one that leads if none is given."""

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
        """How many links of the kernel were measured, in words."""
        return f"{self.result.links} links" if self.result.links > 1 else "one link"

    @property
    def cycles(self) -> str:
        """What all boots with apps in this language took, in millions of cycles."""
        return f"{self.result.of_lang(self.lang).provenance.cycles / 1e6:.0f}"

    @property
    def boots(self) -> int:
        """How many boots with apps in this language one layout takes, with both cache settings."""
        return sum(len(boot.cycles) for boot in self._boots)

    def net(self, name: str, icache: bool = True) -> str:
        """Return net cycles of one sample; those of time.read as measured."""
        row = self.row(name, icache)
        return marked(row.net if row else None, row)

    def instructions(self, name: str, icache: bool = True) -> str:
        """Return net instructions of one sample; those of time.read as measured."""
        row = self.row(name, icache)
        return marked(row.instructions if row else None, row)

    def retired(self, name: str) -> str:
        """Return net instructions of one operation, counted with the i-cache off."""
        return number(retired(self.row(name, False)))

    def span(self, name: str, icache: bool = True) -> str:
        """Return net cycles of one operation, the least and the most over the layouts."""
        return between(layout_nets(self.row(name, icache)))

    def against(self, name: str, icache: bool, least: float) -> str:
        """Return how many times `least` cycles one operation takes, over the layouts."""
        return multiples(self.row(name, icache), least)

    def reach(self, name: str, icache: bool = True) -> str:
        """Return how much more the dearest layout takes than the cheapest, in percent."""
        nets = layout_nets(self.row(name, icache))
        return text.percent(max(nets) / min(nets) - 1, digits=0)

    @property
    def built(self) -> str:
        """What a heading must say of the kernel beside its name."""
        return f"opt-level {self.kernel.opt_level or 'unknown'}"

    @property
    def compiler(self) -> str:
        """What its apps say of their compiler, and of what shapes the code."""
        (compiler,) = {
            app.record["cc"] for app in self.result.provenance.apps if app.lang == self.lang
        }
        return compiler

    def sizes(self) -> dict[str, AppSize]:
        """Return the size of each app, by name; of several processes of one app, that of the
        first."""
        return {
            slot.name: AppSize(slot.flash_length or 0, slot.ram_length)
            for boot in self._boots
            for slot in boot.slots
            if not slot.name[-1].isdigit()
        }

    def skipped(self) -> list[tuple[str, str]]:
        """Return what was not measured, and why, each once."""
        return list(dict.fromkeys((gone.id, gone.why or "") for gone in self.result.skipped))


@cache
def committed(name: str, lang: Lang | None = None) -> CommittedResult:
    """Return the committed result of this name, which is read once."""
    return CommittedResult(name, lang)
