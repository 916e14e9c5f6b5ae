# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What two results were measured with, where they differ, and whether they can be compared at all:
cycles of another machine, clock or timing validity are other cycles.
"""

from collections.abc import Collection
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.result.model import Result
from tockmark.suite.catalogue import ICACHE, LANGS, Lang

REFUSED = ("machine", "clock", "timing")
# Cycles of one machine, counted or checked: the simulator's and the board's can be compared.
CHECKED = {"hardware", "checked-against-hardware", "checked-against-board", "checked-against-rtl"}
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Factor:
    """Something that is not the same in both."""

    name: str
    base: str
    new: str


def factors_of(result: Result, langs: Collection[Lang] = LANGS) -> dict[str, str]:
    """Return all that a result says of how it was measured, in words; of its apps those in some
    languages only. What not every result has to say stands there only if it is known."""
    provenance = result.provenance.of_langs(langs)
    kernel, board = provenance.kernel, provenance.board
    abi = str(provenance.abi or ", ".join(provenance.said("abi")))
    found = {
        "kernel": _hashed(kernel.name or kernel.file, kernel.sha256),
        "opt-level": kernel.opt_level,
        "ABI": f"version {abi}" if abi else "",
        "compiler": ", ".join(provenance.said("cc")),
        "language": ", ".join(provenance.said("lang")),
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "machine": board.machine,
        "clock": board.clock if board.clock_hz else "",
        "timing": board.timing,
        "simulator": _hashed("", board.simulator_sha256),
        "board": board.name,
        "catalogue": _hashed("", provenance.catalogue_sha256),
        "tool": provenance.tool.version,
    }
    known = {"flags": kernel.flags, "rustc": kernel.rustc}
    return {
        **{name: text or UNKNOWN for name, text in found.items()},
        **{name: text for name, text in known.items() if text},
    }


def differing_factors(base: Result, new: Result) -> list[Factor]:
    """Return the factors that differ: what a difference of the figures can come from. The cache
    setting is one only if they have none in common: rows of the same setting are compared with each
    other. Likewise the language, and of the compilers only those of languages in common."""
    langs = set(base.langs) & set(new.langs) or LANGS
    one, two = factors_of(base, langs), factors_of(new, langs)
    shared = set(base.icaches) & set(new.icaches)
    sides = [(name, one.get(name, UNKNOWN), two.get(name, UNKNOWN)) for name in {**one, **two}]
    return [
        Factor(name, was, is_)
        for name, was, is_ in sides
        if was != is_ and not (name == "i-cache" and shared)
    ]


def check_factors(found: list[Factor], name: str, force: bool) -> None:
    """Refuse what cannot be compared, unless told to."""
    for factor in found:
        if factor.name == "timing" and {factor.base, factor.new} <= CHECKED:
            continue
        if factor.name in REFUSED and not force:
            raise TockmarkError(
                f"{name} cannot be compared: {factor.name} is {factor.base} on one side,"
                f" {factor.new} on the other",
                "--force compares it all the same",
            )


def check_timed(name: str, result: Result, force: bool = False) -> None:
    """Refuse what has no cycles to judge, unless told to."""
    if not (result.provenance.board.counts_cycles or force):
        raise TockmarkError(
            f"{name} is {result.provenance.board.validity}: it has no cycles to judge",
            "give a run of the simulator or of a board",
        )


def _hashed(name: str | None, sha256: str | None) -> str:
    return " ".join([*([name] if name else []), *([f"sha256 {sha256[:12]}"] if sha256 else [])])
