# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What two results were measured with, where they differ, and whether they can be compared at all:
cycles of another machine, clock or timing validity are other cycles."""

from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.result.result import Json

REFUSED = ("machine", "clock", "timing")


@dataclass(frozen=True)
class Factor:
    """Something that is not the same in both."""

    name: str
    base: str
    new: str


def of(result: Json) -> dict[str, str]:
    """All that a result says of how it was measured, in words."""
    provenance = result["provenance"]
    kernel, board = provenance["kernel"], provenance["board"]
    caches = {row["icache"] for row in result["rows"]}
    clock = board["clock_hz"]

    def said(name: str) -> str:
        return ", ".join(sorted({app[name] for app in provenance["apps"] if app.get(name)}))

    found = {
        "kernel": _hashed(kernel["name"] or kernel["file"], kernel["sha256"]),
        "ABI": f"version {provenance['abi']}" if provenance["abi"] else said("abi"),
        "compiler": said("cc"),
        "language": said("lang"),
        "i-cache": " and ".join(CACHES[c] for c in (True, False, None) if c in caches),
        "machine": board["machine"],
        "clock": f"{clock / 1e6:g} MHz" if clock else "",
        "timing": board["timing"],
        "simulator": _hashed("", board["simulator_sha256"]),
        "board": board["name"],
        "catalogue": _hashed("", provenance["catalogue_sha256"]),
        "tool": provenance["tool"]["version"],
    }
    return {name: text or "unknown" for name, text in found.items()}


CACHES = {True: "on", False: "off", None: "unknown"}


def differing(base: Json, new: Json) -> list[Factor]:
    """The factors that differ: what a difference of the figures can come from. The cache setting is
    one only if they have none in common: rows of the same setting are compared with each other."""
    one, two = of(base), of(new)
    found = [Factor(name, one[name], two[name]) for name in one if one[name] != two[name]]
    return [f for f in found if f.name != "i-cache" or not _shared(f.base, f.new)]


def _shared(base: str, new: str) -> bool:
    return bool(set(base.split(" and ")) & set(new.split(" and ")))


def check(found: list[Factor], name: str, force: bool) -> None:
    """Refuse what cannot be compared, unless told to."""
    for factor in found:
        if factor.name in REFUSED and not force:
            raise TockmarkError(
                f"{name} cannot be compared: its {factor.name} is {factor.new}, not {factor.base}",
                "--force compares it all the same",
            )


def lines(found: list[Factor], width: int) -> list[str]:
    """The factors as text; what two results have in common at the start is told once."""
    out = []
    for factor in found:
        text = f"{factor.base} -> {factor.new}"
        head = f"differs: {factor.name:<10}"
        if len(head) + len(text) <= width:
            out.append(head + text)
        else:
            out += [head + factor.base, f"{'-> ':>{len(head)}}{factor.new}"]
    return out


def _hashed(name: str | None, sha256: str | None) -> str:
    return " ".join([*([name] if name else []), *([f"sha256 {sha256[:12]}"] if sha256 else [])])
