# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a site is made from, and the order in which a reader finds it.

`gather` reads files, and folders that it searches through. Each file is taken for what it says
that it is; one that is damaged is a problem in a folder, and an error by name. `Site` puts what was
found in order: kernels, results that can be read beside each other, and pairs that are compared.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

from tockmark import paths
from tockmark.check import validation as validations
from tockmark.check.validation import ValidationRow
from tockmark.compare import agree, pairs, rule, trends
from tockmark.compare.agree import Agreement
from tockmark.compare.limits import Margins, load_bounds
from tockmark.compare.pairs import Comparison
from tockmark.documents import kind_of
from tockmark.errors import TockmarkError, file_name
from tockmark.files import reading
from tockmark.paths import shown
from tockmark.profile import file as profiles
from tockmark.profile.file import StoredProfile
from tockmark.result import file
from tockmark.result.model import Result, Row, common_icaches
from tockmark.result.provenance import Kernel
from tockmark.show.table import Named, ResultColumn, apart, short_names
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang
from tockmark.suite.selection import screen

LOOKED_AT = 4096  # bytes that say of which format a file is
SILENT = {".log", ".md", ".txt", ".svg", ".folded", ".html"}  # stand beside results
OTHERS = {"tockmark-site", "tockmark-robustness", "tockmark-bisect"}  # ours, but for no page
OURS = {file.FORMAT, profiles.FORMAT, trends.FORMAT, validations.FORMAT}
WHOLE = 2 / 3  # of the catalogue's benchmarks, in a result that is of the whole suite
MOST = 120  # pairs, each a page
NAME = 40  # letters of a column's name


@dataclass
class SiteSources:
    """All that there is, in the order of the arguments, a folder's files by their paths."""

    results: list[Named] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # the names of those that were given by name
    studies: list[Named] = field(default_factory=list)  # what others published
    profiles: list[tuple[str, StoredProfile]] = field(default_factory=list)
    runs: list[trends.HistoryRun] = field(default_factory=list)
    validation: list[ValidationRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # files that are damaged, a line each
    strangers: list[str] = field(default_factory=list)  # files of no known format, a line each

    @property
    def every(self) -> list[Named]:
        """Results and studies."""
        return [*self.results, *self.studies]

    def take_found(self, path: Path, name: str) -> None:
        """Take a file of a folder for what it is, or note what is wrong with it."""
        try:
            kind = source_kind(path)
            if path.suffix in SILENT or kind in OTHERS:
                return
            if kind in OURS:
                self.take(path, name, kind)
            else:
                self.strangers.append(f"{shown(path)} is of no known format; left out")
        except TockmarkError as error:
            self.problems.append(str(error))

    def take(self, path: Path, name: str, kind: str | None) -> None:
        """Take a file for what it is; of one without a format a result's reader says what is
        wrong."""
        if kind == profiles.FORMAT:
            self.profiles.append((name, profiles.load(path)))
        elif kind == trends.FORMAT:
            runs, problems = trends.load(path)
            known = {run.result_sha256 for run in self.runs}
            self.runs += [run for run in runs if run.result_sha256 not in known]
            self.runs.sort(key=lambda run: run.date)
            self.problems += problems
        elif kind == validations.FORMAT:
            self.validation = self.validation or validations.load_validation(path)
        else:
            result = file.load(path)
            named = Named(self._free(name, path), result)
            (self.studies if is_study(result) else self.results).append(named)

    def _free(self, name: str, path: Path) -> str:
        """Return a name that no other result has."""
        taken = {one.name for one in self.every}
        numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))
        return next(one for one in (name, shown(path), *numbered) if one not in taken)


def gather(given: Iterable[Path]) -> SiteSources:
    """TockmarkError if a path given by name cannot be used, or if no result is found."""
    found = SiteSources()
    seen: set[Path] = set()
    for path in given:
        if path.is_dir():
            for one in _files(path):
                if one.resolve() not in seen:
                    seen.add(one.resolve())
                    found.take_found(one, one.relative_to(path).with_suffix("").as_posix())
        else:
            if path.resolve() in seen:
                raise TockmarkError(f"{shown(path)} is given twice", "give each file once")
            seen.add(path.resolve())
            before = len(found.results)
            found.take(path, path.stem, source_kind(path))
            found.asked |= {one.name for one in found.results[before:]}
    if not found.every:
        for why in (*found.problems, *found.strangers):
            raise TockmarkError(why)
        raise TockmarkError("there is no result here", "give result files, or folders with some")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of the folders in it, but for hidden ones. No link to a
    folder is followed: it might lead round in a circle."""
    with reading(folder):
        inside = sorted(folder.iterdir())
    for path in inside:
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def source_kind(path: Path) -> str | None:
    """Return the format that a file begins with, whole or not."""
    with reading(path), path.open("rb") as opened:
        return kind_of(opened.read(LOOKED_AT).decode(errors="replace").lstrip())


def is_study(result: Result) -> bool:
    """Return whether its figures were published by others."""
    return any(row.published for row in result.rows)


class Addresses:
    """The files of pages. A name out of a result makes an address of letters, digits, dots and
    dashes alone, and no two pages have the same one."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, object], str] = {}

    def page(self, folder: str, key: object, name: str) -> str:
        """Return the path of a page from the site's root; that of one thing stays the same."""
        if (folder, key) not in self._of:
            # In small letters: some file systems take both for one.
            stem = file_name(name).lower().replace("..", ".")
            path, more = f"{folder}/{stem}.html", 1
            while path in self._of.values():
                more += 1
                path = f"{folder}/{stem}-{more}.html"
            self._of[folder, key] = path
        return self._of[folder, key]


@dataclass(frozen=True)
class SiteKernel:
    """One kernel, built in one way: its results and its profiles."""

    title: str
    built: str
    page: str
    named: tuple[Named, ...]
    profiles: tuple[StoredProfile, ...] = ()


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that can be read beside each other: one machine, one interface, one language, and a
    cache setting that all of them have."""

    machine: str
    abi: int | None
    lang: Lang
    columns: tuple[ResultColumn, ...]
    results: tuple[Named, ...]  # of each column, in all its languages

    @property
    def icache(self) -> bool | None:
        return self.columns[0].icache

    @property
    def timed(self) -> bool:
        """Whether all of them have cycles."""
        return all(column.timed for column in self.columns)

    @property
    def unit(self) -> str:
        return "net cycles" if self.timed else "net instructions"

    @property
    def condition(self) -> str:
        """Under which all columns hold, in words."""
        board = self.columns[0].result.provenance.board
        version = f"version {self.abi}" if self.abi else "unknown version"
        return (
            f"{self.machine}, {board.clock}, i-cache {ICACHE[self.icache]}, interface {version},"
            f" apps in {LANGS[self.lang]}"
        )

    @cached_property
    def names(self) -> list[str]:
        """What tells the columns apart."""
        return short_names([(one.name, one.result) for one in self.columns], NAME)

    def blocks(
        self, catalogue: Catalogue
    ) -> list[tuple[str, list[tuple[str, str, list[Row | None]]]]]:
        """Return the rows that people ask for first: under a title each row's words, its id, and
        the row of each column."""
        blocks = []
        for title, words in screen(catalogue).items():
            lines = [
                (said, key[0], rows)
                for said, key in words.items()
                if any(rows := [column.rows.get(key) for column in self.columns])
            ]
            blocks += [(title, lines)] if lines else []
        return blocks

    def mean(self, new: int, catalogue: Catalogue, base: int = 0) -> float | None:
        """Return the geometric mean over what touches the kernel, of one column by another."""
        return rule.kernel_mean(self.columns[base].rows, self.columns[new].rows, catalogue)


@dataclass(frozen=True)
class SitePair:
    """Two results that are compared, or the reason why they are not."""

    base: Named
    new: Named
    page: str | None = None
    comparison: Comparison | None = None
    agreement: Agreement | None = None
    refused: str | None = None

    @property
    def has_baseline(self) -> bool:
        return any(one.result.provenance.kernel.is_baseline for one in (self.base, self.new))


class Site:
    """All of a site, in order. Its comparisons come later, since they take longest."""

    def __init__(self, found: SiteSources, catalogue: Catalogue) -> None:
        self.found, self.catalogue = found, catalogue
        self.addresses = Addresses()
        self.kernels = self._kernels()
        # Results of the whole suite, and those that were given by name.
        leads = [one for one in found.results if one.name in found.asked or self._is_whole(one)]
        self.leads = leads or found.results
        self.groups = _groups(self.leads or found.studies)
        self.pairs: list[SitePair] = []
        self.unpaired = 0  # pairs beyond the most

    def kernel_of(self, named: Named) -> SiteKernel:
        """Return the kernel that a result is of."""
        return next(kernel for kernel in self.kernels if named in kernel.named)

    def address(self, id_: str) -> str:
        """Return where the page of a benchmark is."""
        return self.addresses.page("benchmark", id_, id_)

    @cached_property
    def ids(self) -> list[str]:
        """The benchmarks that have a page: all of the catalogue, and whatever else was measured."""
        rows = [id_ for one in self.found.every for id_, *_ in one.result.table]
        return list(dict.fromkeys([*self.catalogue.benchmarks, *rows]))

    @cached_property
    def baselines(self) -> dict[str, Named]:
        """The run of the baseline kernel that each result is held against, by the result's name:
        one on the same machine, by the same interface, of the given ones or of the committed. There
        is none for a run of the baseline itself."""
        runs = [one for one in self.found.results if one.result.provenance.kernel.is_baseline]
        for path in sorted(paths.RESULTS.glob("baseline*.json")):
            runs.append(Named(path.stem, file.load(path)))

        def condition(one: Named) -> tuple[str | None, int | None]:
            return one.result.provenance.board.machine, one.result.provenance.abi

        found: dict[str, Named] = {}
        for one in self.found.results:
            fitting = [run for run in runs if condition(run) == condition(one)]
            if fitting and not one.result.provenance.kernel.is_baseline:
                found[one.name] = max(fitting, key=lambda run: len(run.result.table))
        return found

    def chosen_pairs(self) -> list[tuple[Named, Named]]:
        """Return which results are compared: all leading ones with each other, and those of one
        kernel whose opt-levels differ."""
        chosen = {(one.name, two.name): (one, two) for one, two in combinations(self.leads, 2)}
        for one, two in combinations(self.found.results, 2):
            a, b = one.result.provenance.kernel, two.result.provenance.kernel
            same = a.name is not None and (a.name, a.commit) == (b.name, b.commit)
            if same and a.opt_level != b.opt_level:
                chosen.setdefault((one.name, two.name), (one, two))
        return list(chosen.values())

    def judged(self, base: Named, new: Named) -> SitePair:
        """Return one pair as `tockmark compare` judges it, and as `board agree` does if one is a
        simulator's and the other a board's."""
        known = rule.known_spread(base.result)
        try:
            comparison = pairs.compare(
                base.result, new.result, new.name, self.catalogue, Margins(), known
            )
        except TockmarkError as error:
            return SitePair(base, new, refused=str(error).partition(";")[0])
        page = self.addresses.page("compare", (base.name, new.name), f"{base.name}-{new.name}")
        return SitePair(base, new, page, comparison, self._agreement(base, new))

    def _agreement(self, base: Named, new: Named) -> Agreement | None:
        if base.result.simulated == new.result.simulated:
            return None
        sim, board = (base, new) if base.result.simulated else (new, base)
        try:
            stated = load_bounds(agree.machine_of(sim.result), self.catalogue)
            return agree.agree(sim.result, board.result, board.name, stated)
        except TockmarkError:
            return None

    def _is_whole(self, named: Named) -> bool:
        """Return whether a result is of the whole suite: of most benchmarks, of kernel and app."""
        known = self.catalogue.benchmarks
        ids = {row.id for row in named.result.table.values()} & set(known)
        return {"kernel", "app"} <= {known[id_].touches for id_ in ids} and (
            len(ids) >= WHOLE * len(known)
        )

    def _kernels(self) -> list[SiteKernel]:
        groups: dict[tuple[str, str], list[Named]] = {}
        for one in self.found.every:
            key = _identity(one.result.provenance.kernel, one.name)
            groups.setdefault(key, []).append(one)
        profiled: dict[tuple[str, str], list[StoredProfile]] = {}
        for name, profile in self.found.profiles:
            own = _identity(profile.kernel, name)
            key = next((key for key, some in groups.items() if _is_of(profile.kernel, some)), own)
            profiled.setdefault(key, []).append(profile)
        kernels = []
        for key in groups | profiled:
            named, stored = groups.get(key, []), profiled.get(key, [])
            kernel = named[0].result.provenance.kernel if named else stored[0].kernel
            of = "" if kernel.name or not named else f" of {named[0].name}"
            title = kernel.title + of
            several = sum(other[0] == key[0] for other in groups) > 1  # built in several ways
            page = self.addresses.page("kernel", key, f"{title}-{key[1]}" if several else title)
            kernels.append(SiteKernel(title, key[1], page, tuple(named), tuple(stored)))
        return kernels


def _identity(kernel: Kernel, name: str) -> tuple[str, str]:
    """Return what makes two results those of one kernel: a name that someone gave it and how it was
    built; of a kernel without a name its file alone."""
    return kernel.name or kernel.sha256 or name, kernel.built


def _is_of(kernel: Kernel, results: list[Named]) -> bool:
    """Return whether a profile is of the kernel of these results: of its image, or of its name and
    opt-level, since a profile knows no flags."""
    others = [one.result.provenance.kernel for one in results]
    return any(
        (one.sha256 and one.sha256 == kernel.sha256)
        or (one.name and (one.name, one.opt_level) == (kernel.name, kernel.opt_level))
        for one in others
    )


def _groups(leads: Iterable[Named]) -> list[ColumnGroup]:
    """Return the leading results by machine, interface and language, the largest group first."""
    groups: dict[tuple[str, int | None, Lang], list[tuple[Named, ResultColumn]]] = {}
    for one in leads:
        for name, result in apart([(one.name, one.result)]):
            about = result.provenance
            key = (about.board.machine or "unknown machine", about.abi, result.langs[0])
            groups.setdefault(key, []).append((one, ResultColumn(name, result, None)))
    made = []
    for key, found in groups.items():
        results = [column.result for _, column in found]
        icache = [*common_icaches(results), *results[0].icaches][0]
        columns = tuple(replace(column, icache=icache) for _, column in found)
        made.append(ColumnGroup(*key, columns, tuple(one for one, _ in found)))
    return sorted(made, key=lambda one: (-len(one.columns), one.lang != "c"))
