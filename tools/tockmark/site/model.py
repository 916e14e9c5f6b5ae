# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The files of a site's pages. A name out of a result makes an address of letters, digits, dots and
dashes alone, and no two pages have the same one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from tockmark import paths
from tockmark.check import validation as validations
from tockmark.check.validation import ValidationRow
from tockmark.compare import agree, history, pairs, rule
from tockmark.compare.agree import Agreement
from tockmark.compare.limits import Margins, load_bounds
from tockmark.compare.pairs import Comparison
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.plain import file_name
from tockmark.profile import file as profiles
from tockmark.profile.file import StoredProfile
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import Kernel as Measured
from tockmark.show.table import Named, ResultColumn, apart
from tockmark.suite.catalogue import Catalogue, Lang


class Addresses:
    """Files that are taken so far; those of one thing stay the same."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, object], str] = {}
        self._taken: set[str] = set()

    def page(self, folder: str, key: object, name: str) -> str:
        """The path of a page from the site's root, by the thing that it is of."""
        if (folder, key) not in self._of:
            # In small letters: some file systems take both for one.
            stem = file_name(name).lower().replace("..", ".")
            path, more = f"{folder}/{stem}.html", 1
            while path in self._taken:
                more += 1
                path = f"{folder}/{stem}-{more}.html"
            self._taken.add(path)
            self._of[folder, key] = path
        return self._of[folder, key]


# What a site is made from: files, and folders that are searched through. Each file is taken for
# what it says that it is; one that is damaged is a problem in a folder, and an error by name.


LOOKED_AT = 4096  # bytes that say of which format a file is
SILENT = {".log", ".md", ".txt", ".svg", ".folded", ".html"}  # stand beside results
_FORMAT = re.compile(r'\s*\{\s*"format"\s*:\s*"(tockmark-[a-z]+)"')
OTHERS = {"tockmark-site", "tockmark-robustness", "tockmark-bisect"}  # ours, but for no page


@dataclass
class Found:
    """All that there is, in the order of the arguments, a folder's files by their paths."""

    results: list[Named] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # the names of those that were given by name
    studies: list[Named] = field(default_factory=list)  # what others published
    profiles: list[tuple[str, StoredProfile]] = field(default_factory=list)
    runs: list[history.HistoryRun] = field(default_factory=list)
    validation: list[ValidationRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # files that are damaged, a line each
    strangers: list[str] = field(default_factory=list)  # files of no known format, a line each

    @property
    def every(self) -> list[Named]:
        """Results and studies."""
        return [*self.results, *self.studies]


def gather(given: Iterable[Path]) -> Found:
    """TockmarkError if a path given by name cannot be used, or if no result is found."""
    found = Found()
    seen: set[Path] = set()
    for path in given:
        if path.is_dir():
            for one in _files(path):
                if one.resolve() not in seen:
                    seen.add(one.resolve())
                    name = one.relative_to(path).with_suffix("").as_posix()
                    _take_found(found, one, name)
        else:
            if path.resolve() in seen:
                raise TockmarkError(f"{shown(path)} is given twice", "give each file once")
            seen.add(path.resolve())
            _take(found, path, path.stem, by_name=True)
    if not found.results and not found.studies:
        for told in (*found.problems, *found.strangers):
            raise TockmarkError(told)
        raise TockmarkError("there is no result here", "give result files, or folders with some")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Those of a folder and of the folders in it, but for hidden ones. No link to a folder is
    followed: it might lead round in a circle."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(folder)}: {error.strerror}") from error
    for path in inside:
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def _take_found(found: Found, path: Path, name: str) -> None:
    """A file of a folder."""
    try:
        kind = source_kind(path)
    except TockmarkError as error:
        found.problems.append(str(error))
        return
    if path.suffix in SILENT or kind in OTHERS:
        return
    if kind not in READERS:
        found.strangers.append(f"{shown(path)} is of no known format; left out")
        return
    try:
        _take(found, path, name)
    except TockmarkError as error:
        found.problems.append(str(error))


def _take(found: Found, path: Path, name: str, by_name: bool = False) -> None:
    """One file; TockmarkError if it cannot be used. What has no format, a result's reader names."""
    kind = source_kind(path)
    before = len(found.results)
    READERS.get(kind or "", _result)(found, path, name)
    if by_name and len(found.results) > before:
        found.asked.add(found.results[-1].name)


def source_kind(path: Path) -> str | None:
    """The format that a file begins with, whole or not."""
    try:
        with path.open("rb") as opened:
            start = opened.read(LOOKED_AT)
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    match = _FORMAT.match(start.decode(errors="replace"))
    return match[1] if match else None


def _result(found: Found, path: Path, name: str) -> None:
    result = file.load(path)
    named = Named(_apart(name, path, [one.name for one in found.every]), result)
    (found.studies if is_study(result) else found.results).append(named)


def is_study(result: Result) -> bool:
    """Whether its figures were published by others."""
    return any(row.published for row in result.rows)


def _apart(name: str, path: Path, taken: list[str]) -> str:
    """A name that no other result has."""
    for one in (name, shown(path)):
        if one not in taken:
            return one
    return next(f"{name} ({i})" for i in range(2, len(taken) + 3) if f"{name} ({i})" not in taken)


def _profile(found: Found, path: Path, name: str) -> None:
    found.profiles.append((name, profiles.load(path)))


def _history(found: Found, path: Path, name: str) -> None:
    runs, problems = history.load(path)
    known = {run.result_sha256 for run in found.runs}
    found.runs = sorted(
        [*found.runs, *(run for run in runs if run.result_sha256 not in known)],
        key=lambda run: run.date,
    )
    found.problems += problems


def _validation(found: Found, path: Path, name: str) -> None:
    found.validation = found.validation or validations.load_validation(path)


READERS: dict[str, Callable[[Found, Path, str], None]] = {
    file.FORMAT: _result,
    profiles.FORMAT: _profile,
    history.FORMAT: _history,
    validations.FORMAT: _validation,
}


# What was found, in the order of a reader: kernels, results that stand beside each other, and the
# pairs that are compared.


WHOLE = 2 / 3  # of the catalogue's benchmarks, in a result that is of the whole suite
MOST = 120  # pairs, each a page


@dataclass(frozen=True)
class SiteKernel:
    """One kernel, built in one way: its results and its profiles."""

    title: str
    built: str
    page: str
    named: tuple[Named, ...]
    profiles: tuple[StoredProfile, ...] = ()


@dataclass(frozen=True)
class Beside:
    """Columns that can be read beside each other: one machine, one interface, one language, and a
    cache setting that all of them have."""

    machine: str
    abi: int | None
    lang: Lang
    icache: bool | None
    columns: tuple[ResultColumn, ...]
    of: tuple[Named, ...]  # the result of each column, in all its languages


@dataclass(frozen=True)
class SitePair:
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
    kernels: list[SiteKernel]
    leads: list[Named]  # results of the whole suite, and those that were given by name
    beside: list[Beside]
    pairs: list[SitePair] = field(default_factory=list)
    unpaired: int = 0  # pairs beyond the most

    def kernel_of(self, named: Named) -> SiteKernel:
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


def _kernels(found: Found, addresses: Addresses) -> list[SiteKernel]:
    groups: dict[tuple[str, str], list[Named]] = {}
    for one in found.every:
        key = _identity(one.result.provenance.kernel, one.name)
        groups.setdefault(key, []).append(one)
    profiled: dict[tuple[str, str], list[StoredProfile]] = {}
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
        kernels.append(SiteKernel(title, key[1], page, tuple(named), tuple(stored)))
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
    groups: dict[tuple[str, int | None, Lang], list[tuple[Named, ResultColumn]]] = {}
    for one in leads:
        for name, result in apart([(one.name, one.result)]):
            told = result.provenance
            key = (told.board.machine or "unknown machine", told.abi, result.langs[0])
            groups.setdefault(key, []).append((one, ResultColumn(name, result, None)))
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


def site_pairs(site: Sorted) -> tuple[list[tuple[Named, Named]], int]:
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


def judged(site: Sorted, base: Named, new: Named) -> SitePair:
    """One pair as `tockmark compare` judges it, and as `tockmark agree` does if one is a
    simulator's and the other a board's."""
    agreement = _agreement(site, base, new)
    try:
        comparison = pairs.compare(
            base.result,
            new.result,
            new.name,
            site.catalogue,
            Margins(),
            rule.known_spread(base.result),
        )
    except TockmarkError as error:
        return SitePair(base, new, None, refused=str(error).partition(";")[0])
    page = site.addresses.page("compare", (base.name, new.name), f"{base.name}-{new.name}")
    return SitePair(base, new, page, comparison, agreement)


def _agreement(site: Sorted, base: Named, new: Named) -> Agreement | None:
    if base.result.simulated == new.result.simulated:
        return None
    sim, board = (base, new) if base.result.simulated else (new, base)
    try:
        stated = load_bounds(agree.machine_of(sim.result), site.catalogue)
        return agree.agree(sim.result, board.result, board.name, stated)
    except TockmarkError:
        return None


def baselines(results: list[Named]) -> dict[str, Named]:
    """Return the run of the baseline kernel that each result is held against, by the result's name:
    one on the same machine, by the same interface, of the given ones or of the committed. There is
    none for a run of the baseline itself."""
    own = [one for one in results if one.result.provenance.kernel.is_baseline]
    for path in sorted(paths.RESULTS.glob("baseline*.json")):
        own.append(Named(path.stem, file.load(path)))

    def condition(one: Named) -> tuple[str | None, int | None]:
        return one.result.provenance.board.machine, one.result.provenance.abi

    found: dict[str, Named] = {}
    for one in results:
        fitting = [other for other in own if condition(other) == condition(one)]
        if fitting and not one.result.provenance.kernel.is_baseline:
            found[one.name] = max(fitting, key=lambda other: len(other.result.table))
    return found
