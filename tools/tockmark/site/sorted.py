# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What was found, in the order of a reader: kernels, results that stand beside each other, and the
pairs that are compared."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations

from tockmark.errors import TockmarkError
from tockmark.judge import agree, bounds, compare, spread
from tockmark.judge.agree import Agreement
from tockmark.judge.compare import Comparison, Margins
from tockmark.profile.file import Stored
from tockmark.result.model import Result
from tockmark.result.provenance import Kernel as Measured
from tockmark.show.plot import Named
from tockmark.show.summary import Column
from tockmark.show.table import apart
from tockmark.site.addresses import Addresses
from tockmark.site.sources import Found
from tockmark.suite.catalogue import Catalogue, Lang

WHOLE = 2 / 3  # of the catalogue's benchmarks, in a result that is of the whole suite
MOST = 120  # pairs, each a page


@dataclass(frozen=True)
class Kernel:
    """One kernel, built in one way: its results and its profiles."""

    title: str
    built: str
    page: str
    named: tuple[Named, ...]
    profiles: tuple[Stored, ...] = ()


@dataclass(frozen=True)
class Beside:
    """Columns that can be read beside each other: one machine, one interface, one language, and a
    cache setting that all of them have."""

    machine: str
    abi: int | None
    lang: Lang
    icache: bool | None
    columns: tuple[Column, ...]
    of: tuple[Named, ...]  # the result of each column, in all its languages


@dataclass(frozen=True)
class Pair:
    """Two results that are compared, or the reason why they are not."""

    base: Named
    new: Named
    page: str | None
    comparison: Comparison | None = None
    agreement: Agreement | None = None
    refused: str | None = None


@dataclass
class Sorted:
    """All of a site."""

    found: Found
    catalogue: Catalogue
    addresses: Addresses
    kernels: list[Kernel]
    leads: list[Named]  # results of the whole suite, and those that were given by name
    beside: list[Beside]
    pairs: list[Pair] = field(default_factory=list)
    unpaired: int = 0  # pairs beyond the most

    def kernel_of(self, named: Named) -> Kernel:
        """The kernel that a result is of."""
        return next(kernel for kernel in self.kernels if named in kernel.named)


def arrange(found: Found, catalogue: Catalogue) -> Sorted:
    """Everything in its place; comparisons come later, since they take longest."""
    addresses = Addresses()
    leads = [one for one in found.results if one.name in found.asked or _whole(one, catalogue)]
    leads = leads or found.results
    return Sorted(
        found,
        catalogue,
        addresses,
        _kernels(found, addresses),
        leads,
        _beside(leads or found.studies),
    )


def _whole(named: Named, catalogue: Catalogue) -> bool:
    """Whether a result is of the whole suite: of most benchmarks, of kernel and app."""
    ids = {row.id for row in named.result.table.values()} & set(catalogue.benchmarks)
    touched = {catalogue.benchmarks[id_].touches for id_ in ids}
    return {"kernel", "app"} <= touched and len(ids) >= WHOLE * len(catalogue.benchmarks)


def _identity(kernel: Measured, name: str) -> tuple[str, str]:
    """What makes two results those of one kernel: a name that someone gave it and how it was built;
    of a kernel without a name its file alone."""
    if kernel.name:
        return kernel.name, kernel.built
    return kernel.sha256 or name, kernel.built


def _kernels(found: Found, addresses: Addresses) -> list[Kernel]:
    groups: dict[tuple[str, str], list[Named]] = {}
    for one in found.every:
        key = _identity(one.result.provenance.kernel, one.name)
        groups.setdefault(key, []).append(one)
    profiled: dict[tuple[str, str], list[Stored]] = {}
    for name, profile in found.profiles:
        own = _identity(profile.kernel, name)
        key = next((key for key, some in groups.items() if _is_of(profile.kernel, some)), own)
        profiled.setdefault(key, []).append(profile)
    kernels = []
    for key in [*groups, *(key for key in profiled if key not in groups)]:
        named = groups.get(key, [])
        stored = profiled.get(key, [])
        kernel = named[0].result.provenance.kernel if named else stored[0].kernel
        title = kernel.title if kernel.name or not named else f"{kernel.title} of {named[0].name}"
        levels = [other for other in groups if other[0] == key[0]]
        name = f"{title}-{key[1]}" if len(levels) > 1 else title
        page = addresses.page("kernel", key, name)
        kernels.append(Kernel(title, key[1], page, tuple(named), tuple(stored)))
    return kernels


def _is_of(kernel: Measured, results: list[Named]) -> bool:
    """Whether a profile is of the kernel of these results: of its image, or of its name and
    opt-level, since a profile knows no flags."""
    others = [one.result.provenance.kernel for one in results]
    same = [(one.name, one.opt_level) for one in others if one.name]
    return kernel.sha256 in {one.sha256 for one in others if one.sha256} or (
        (kernel.name, kernel.opt_level) in same
    )


def _beside(leads: Iterable[Named]) -> list[Beside]:
    """The leading results by machine, interface and language, the largest group first."""
    groups: dict[tuple[str, int | None, Lang], list[tuple[Named, Column]]] = {}
    for one in leads:
        for name, result in apart([(one.name, one.result)]):
            told = result.provenance
            key = (told.board.machine or "unknown machine", told.abi, result.langs[0])
            groups.setdefault(key, []).append((one, Column(name, result, None)))
    made = []
    for (machine, abi, lang), found in groups.items():
        common = _common([column.result for _, column in found])
        columns = tuple(replace(column, icache=common) for _, column in found)
        of = tuple(one for one, _ in found)
        made.append(Beside(machine, abi, lang, common, columns, of))
    return sorted(made, key=lambda one: (-len(one.columns), one.lang != "c"))


def _common(results: list[Result]) -> bool | None:
    """The first cache setting that all have, or that the first has."""
    settings = results[0].icaches
    return next((one for one in settings if all(one in r.icaches for r in results)), settings[0])


def pairs(site: Sorted) -> tuple[list[tuple[Named, Named]], int]:
    """Which results are compared: all leading ones with each other, and those of one kernel whose
    opt-levels differ. At most so many; and how many there were beyond."""
    chosen = list(combinations(site.leads, 2))
    seen = {(one.name, two.name) for one, two in chosen}
    for one, two in combinations(site.found.results, 2):
        a, b = one.result.provenance.kernel, two.result.provenance.kernel
        same = a.name is not None and (a.name, a.commit) == (b.name, b.commit)
        if same and a.opt_level != b.opt_level and (one.name, two.name) not in seen:
            chosen.append((one, two))
    return chosen[:MOST], max(0, len(chosen) - MOST)


def judged(site: Sorted, base: Named, new: Named) -> Pair:
    """One pair as `tockmark compare` judges it, and as `tockmark agree` does if one is a
    simulator's and the other a board's."""
    agreement = _agreement(site, base, new)
    try:
        comparison = compare.compare(
            base.result,
            new.result,
            new.name,
            site.catalogue,
            Margins(),
            spread.known(base.result),
        )
    except TockmarkError as error:
        return Pair(base, new, None, refused=str(error).partition(";")[0])
    page = site.addresses.page("compare", (base.name, new.name), f"{base.name}-{new.name}")
    return Pair(base, new, page, comparison, agreement)


def _agreement(site: Sorted, base: Named, new: Named) -> Agreement | None:
    if base.result.simulated == new.result.simulated:
        return None
    sim, board = (base, new) if base.result.simulated else (new, base)
    try:
        stated = bounds.load(agree.machine(sim.result), site.catalogue)
        return agree.agree(sim.result, board.result, board.name, stated)
    except TockmarkError:
        return None
