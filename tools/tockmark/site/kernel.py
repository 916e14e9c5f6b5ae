# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of a kernel: where it comes from, how large it is, where its cycles go, and every row
that was measured of it."""

from dataclasses import dataclass

from markupsafe import Markup

from tockmark.profile import flame
from tockmark.profile.attribute import CAUSES
from tockmark.profile.file import Cause, Share, Stored
from tockmark.profile.flame import COLOURS
from tockmark.result.model import ICACHE
from tockmark.show import text
from tockmark.show.plot import Named
from tockmark.show.table import readings
from tockmark.site.facts import images, provenance, skipped
from tockmark.site.rows import Section, number, tables
from tockmark.site.sorted import Kernel, Pair, Sorted
from tockmark.suite.catalogue import label

FUNCTIONS = 12  # of a profile; the others in one line


@dataclass(frozen=True)
class Told:
    """One result of the kernel."""

    named: Named
    images: list[str]  # sha256 of the links that it was measured in, if there are several
    readings: list[str]  # what readings of the counters cost, which comes off
    errors: list[str]  # why it is incomplete
    skipped: list[str]
    baseline: Named | None  # that its rows are held against
    sections: list[Section]


@dataclass(frozen=True)
class Part:
    """A phase or a function of a profile: its cycles, and its share of the sample."""

    name: str
    cycles: str
    share: str
    width: str  # of its bar, in percent
    colour: str
    causes: list[str]  # cycles by what they went to


@dataclass(frozen=True)
class Profiled:
    """Where the cycles of one sample went."""

    id: str
    label: str
    condition: str
    cycles: str
    instructions: str
    in_body: str  # of the cycles: the others are the readings' around it
    phases: list[Part]
    functions: list[Part]
    flame: Markup | None  # the picture of its stacks, if the file has them


@dataclass(frozen=True)
class Page:
    """All of it."""

    kernel: Kernel
    facts: dict[str, list[str]]  # of each result; one alone where all say the same
    told: list[Told]
    profiles: list[Profiled]
    pairs: list[Pair]  # with another result on the other side, or both of this kernel


def page(site: Sorted, kernel: Kernel, baselines: dict[str, Named]) -> Page:
    """The page of one kernel; `baselines` by the names of results."""
    return Page(
        kernel,
        _facts(kernel),
        [told(site, one, baselines.get(one.name)) for one in kernel.named],
        [profiled(one) for one in kernel.profiles],
        [p for p in site.pairs if p.page and (p.base in kernel.named or p.new in kernel.named)],
    )


def _facts(kernel: Kernel) -> dict[str, list[str]]:
    found = [provenance(one.result) for one in kernel.named]
    every = {fact: [one[fact] for one in found] for fact in (found[0] if found else ())}
    return {fact: list(dict.fromkeys(v)) if len(set(v)) == 1 else v for fact, v in every.items()}


def told(site: Sorted, one: Named, baseline: Named | None) -> Told:
    """What is said of one result."""
    result = one.result
    return Told(
        one,
        images(result),
        readings(result),
        list(result.incomplete),
        skipped(result),
        baseline,
        tables(one, site.catalogue, baseline),
    )


def profiled(profile: Stored) -> Profiled:
    """A profile as bars: by phase, and by function."""
    rest = profile.functions[FUNCTIONS:]
    functions = [_part(profile, share) for share in profile.functions[:FUNCTIONS]]
    if rest:
        causes: dict[Cause, int] = {}
        for one in rest:
            for cause, cycles in one.causes.items():
                causes[cause] = causes.get(cause, 0) + cycles
        functions.append(_part(profile, Share(f"{len(rest)} more functions", causes)))
    return Profiled(
        profile.id,
        label(profile.id, profile.params),
        f"{profile.board}, i-cache {ICACHE[profile.icache]}",
        number(profile.cycles),
        number(profile.instructions),
        number(sum(share.in_body for share in profile.phases)),
        [_part(profile, share) for share in profile.phases],
        functions,
        _flame(profile),
    )


def _flame(profile: Stored) -> Markup | None:
    """The flame graph as an element of a page. What text it has, flame.py has escaped."""
    root = flame.of_stored(profile)
    if root is None:
        return None
    cycles = {share.name: share.cycles for share in profile.phases}
    title = f"{profile.kernel.title}, {profile.board}, i-cache {ICACHE[profile.icache]}"
    total = flame.total_of(profile.cycles, sum(share.in_body for share in profile.phases))
    svg = flame.drawn(root, cycles, profile.label, title, total)
    svg = svg[svg.index("<svg") :].replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return Markup(svg.replace("<svg", '<svg role="img" aria-label="flame graph"', 1))


def _part(profile: Stored, share: Share) -> Part:
    part = share.cycles / (profile.cycles or 1)
    causes: dict[str, int] = {str(cause): cycles for cause, cycles in share.causes.items()}
    return Part(
        share.name,
        number(share.cycles),
        text.points(part, digits=1),
        f"{part * 100:.2f}",
        COLOURS.get(share.name, "#b9b9b9"),
        [number(causes.get(cause)) for cause in CAUSES],
    )
