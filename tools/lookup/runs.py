# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A committed result, and what pages ask of it by the names of its rows."""

from dataclasses import dataclass

from lookup.figures import marked, multiples, nets, number, per_op, retired, span
from tockmark.paths import RESULTS
from tockmark.result import file as results
from tockmark.result.model import Row
from tockmark.show import table, text
from tockmark.suite.catalogue import Lang


@dataclass(frozen=True)
class Size:
    """Bytes of an app: code, constants and initial data in flash; RAM with stack and heap."""

    flash: int
    ram: int


class Run:
    """A result file, by row, in one language of the apps: the one that leads if none is given."""

    def __init__(self, name: str, lang: Lang | None = None) -> None:
        self.name = name
        self.lang: Lang = lang or "c"
        self.result = results.load(RESULTS / f"{name}.json")
        self.kernel = self.result.provenance.kernel
        self.board = self.result.provenance.board
        table = (self.result if lang else self.result.leading).table
        self.rows = {
            (row.icache, row.label): row for row in table.values() if lang in (None, row.lang)
        }

    def row(self, name: str, icache: bool = True) -> Row | None:
        return self.rows.get((icache, name))

    @property
    def file(self) -> str:
        """Where it lies, as a command names it."""
        return f"results/{self.name}.json"

    @property
    def links(self) -> str:
        """How many links of the kernel, in words."""
        return f"{self.result.links} links" if self.result.links > 1 else "one link"

    @property
    def cycles(self) -> str:
        """What all boots with apps in this language took, in millions of cycles."""
        return f"{self.result.of_lang(self.lang).provenance.cycles / 1e6:.0f}"

    @property
    def boots(self) -> int:
        """How many boots with apps in this language one layout takes, with both cache settings."""
        return sum(
            len(boot.cycles) for boot in self.result.provenance.boots if boot.lang == self.lang
        )

    def net(self, name: str, icache: bool = True) -> str:
        """Net cycles of one sample; time.read as measured."""
        row = self.row(name, icache)
        return marked(row.net if row else None, row)

    def instructions(self, name: str, icache: bool = True) -> str:
        """Net instructions of one sample; of time.read as measured."""
        row = self.row(name, icache)
        return marked(row.instructions if row else None, row)

    def retired(self, name: str) -> str:
        """Net instructions of one operation, counted with the i-cache off."""
        return number(retired(self.row(name, False)))

    def per_op(self, name: str, icache: bool = True) -> str:
        """Net cycles of one operation."""
        return per_op(self.row(name, icache))

    def span(self, name: str, icache: bool = True) -> str:
        """Net cycles of one operation, the least and the most over the layouts."""
        return span(self.row(name, icache))

    def against(self, name: str, icache: bool, least: float) -> str:
        """How many times `least` cycles one operation takes, over the layouts."""
        return multiples(self.row(name, icache), least)

    def reach(self, name: str, icache: bool = True) -> str:
        """How much more the dearest layout takes than the cheapest, in percent."""
        found = nets(self.row(name, icache))
        return text.percent(max(found) / min(found) - 1, digits=0)

    def spread(self, name: str, icache: bool = True) -> str:
        """The least and the most net cycles of one operation over the layouts; "-" of one."""
        row = self.row(name, icache)
        return table.spread(row, row.inner) if row else text.NONE

    @property
    def built(self) -> str:
        """What a heading must say of the kernel beside its name."""
        return f"opt-level {self.kernel.opt_level or 'unknown'}"

    @property
    def compiler(self) -> str:
        """What its apps say of it, and of what shapes the code."""
        (said,) = {app.said["cc"] for app in self.result.provenance.apps if app.lang == self.lang}
        return said

    def sizes(self) -> dict[str, Size]:
        """Of each app, by name; of several processes of one app, the first."""
        slots = [
            slot
            for boot in self.result.provenance.boots
            for slot in boot.slots
            if boot.lang == self.lang
        ]
        return {
            slot.name: Size(slot.flash_length or 0, slot.ram_length)
            for slot in slots
            if not slot.name[-1].isdigit()
        }

    def skipped(self) -> list[tuple[str, str]]:
        """What was not measured, and why, each once."""
        return list(dict.fromkeys((gone.id, gone.why or "") for gone in self.result.skipped))
