# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a site is made from, and the order in which a reader finds it.

`gather` reads files, and folders that it searches through. Each file is taken for what it says
that it is; one that is damaged is a problem in a folder, and an error by name. `Site` puts what was
found in order: kernels, results that can be read beside each other, and pairs that are compared.
It is bound in size: a page a group of benchmarks, a few kernels, a few comparisons.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from itertools import combinations
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.documents import format_of
from tockmark.base.errors import TockmarkError, file_name
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.compare import agree, pairs
from tockmark.compare.agree import Agreement
from tockmark.compare.limits import Margins, load_bounds
from tockmark.compare.pairs import Comparison
from tockmark.compare.spread import committed_spread, paired_spread
from tockmark.compare.verdict import Judgement, judge_comparison
from tockmark.profile import file as profiles
from tockmark.profile.file import StoredProfile
from tockmark.result import file
from tockmark.result.model import Result, Row, common_icaches
from tockmark.result.provenance import Kernel
from tockmark.show import text
from tockmark.show.table import Named, ResultColumn, short_names, split_by_language
from tockmark.suite import catalogue
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, RowKey
from tockmark.suite.selection import screen

LOOKED_AT = 4096  # bytes that say of which format a file is
SILENT = {".log", ".md", ".txt", ".svg", ".folded", ".html"}  # stand beside results
OURS = {file.FORMAT, profiles.FORMAT}
WHOLE = 2 / 3  # of the catalogue's benchmarks, in a result that is of the whole suite
MOST = 8  # comparisons, each a page
KERNELS = 12  # with a page each; the table has all
KERNELS_PAGE = "kernels.html"
ROOM = 1000  # letters of a name: as many as it takes
OTHERS_PAGE = "other"  # of benchmarks whose group the catalogue does not know

KernelKey = tuple[str, str]  # its name, and how it was built


class ChosenPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two results that are compared by the choice of an editor."""

    base: str  # a result's path in the folder, without .json
    new: str
    names: tuple[str, str]  # what a reader calls them, the base first
    why: str
    paired: bool = False  # whether each link of one has its twin in the other
    title: str = ""  # if there is more to say than both names


class ChosenKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result whose kernel has a page of its own."""

    result: str
    why: str


class Edited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All choices."""

    comparison: tuple[ChosenPair, ...]
    kernel: tuple[ChosenKernel, ...]
    groups: dict[str, tuple[str, str]]  # at the head of a page, and in a sentence
    costs: dict[str, str]  # what `--only` takes, and what it is in a sentence
    aliases: dict[str, tuple[str, ...]]  # of a benchmark, for the search


@cache
def choices() -> Edited:
    """Return the choices."""
    found = resources.files("tockmark.site") / "templates" / "edited.toml"
    return msgspec.convert(tomllib.loads(found.read_text("utf-8")), Edited)


def heading(group: str) -> str:
    """Return what a group is called at the head of a page; one that nobody named, by itself."""
    return choices().groups.get(group, (group, group))[0]


def group_in_sentence(group: str) -> str:
    """Return what a group is called in a sentence."""
    return choices().groups.get(group, (group, group))[1]


@dataclass
class SiteSources:
    """All that there is, in the order of the arguments, a folder's files by their paths."""

    results: list[Named] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # the names of those that were given by name
    studies: list[Named] = field(default_factory=list)  # what others published
    profiles: list[tuple[str, StoredProfile]] = field(default_factory=list)
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
            if kind in OURS:
                self.take(path, name, kind)
            elif path.suffix not in SILENT and kind is None:
                self.strangers.append(f"{shown(path)} is of no known format; left out")
        except TockmarkError as error:
            self.problems.append(str(error))

    def take(self, path: Path, name: str, kind: str | None) -> None:
        """Take a file for what it is; of one without a format a result's reader says what is
        wrong."""
        if kind == profiles.FORMAT:
            self.profiles.append((name, profiles.load(path)))
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
        return format_of(opened.read(LOOKED_AT).decode(errors="replace").lstrip())


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
        return self._free(folder, key, f"{folder}/", name, ".html")

    def part(self, page: str, key: object, name: str) -> str:
        """Return the path of a part of a page, with its id."""
        return self._free(page, key, f"{page}#", name, "")

    def _free(self, place: str, key: object, before: str, name: str, behind: str) -> str:
        if (place, key) not in self._of:
            # In small letters: some file systems take both for one.
            stem = file_name(name).lower().replace("..", ".")
            path, more = f"{before}{stem}{behind}", 1
            while path in self._of.values():
                more += 1
                path = f"{before}{stem}-{more}{behind}"
            self._of[place, key] = path
        return self._of[place, key]


@dataclass(frozen=True)
class SiteKernel:
    """One kernel, built in one way: its results and its profiles."""

    title: str
    built: str
    page: str  # or its part of the page of all kernels
    named: tuple[Named, ...]
    profiles: tuple[StoredProfile, ...] = ()

    @property
    def has_page(self) -> bool:
        """Whether its page is its own."""
        return "#" not in self.page


@dataclass(frozen=True)
class SiteColumn(ResultColumn):
    """A result of one language as a column. Where the same kernel was measured in more links, a row
    is that of these: it has a range."""

    wider: tuple[Result, ...] = ()  # of the same kernel, the first that has a row gives it

    @cached_property
    def rows(self) -> dict[RowKey, Row]:
        found = dict(super().rows)
        for result in reversed(self.wider):
            there = result.column(self.icache, result.langs[0])
            found |= {key: row for key, row in there.items() if row.sound}
        return found

    def result_of(self, key: RowKey) -> Result:
        """Return the result that a row is from."""
        row = self.rows.get(key)
        return next(
            (one for one in self.wider if row and one.table.get(row.key) is row), self.result
        )


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that can be read beside each other: one machine, one interface, one language, and a
    cache setting that all of them have."""

    machine: str
    abi: int | None
    lang: Lang
    columns: tuple[SiteColumn, ...]
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
        return distinct_names([Named(one.name, one.result) for one in self.columns])

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


@dataclass(frozen=True)
class SitePair:
    """Two results that are compared, or the reason why they are not."""

    base: Named
    new: Named
    names: tuple[str, str]  # what they are called, the base first
    title: str
    why: str = ""  # it was chosen
    paired: bool = False  # whether each link of one has its twin in the other
    page: str | None = None
    comparison: Comparison | None = None
    judgement: Judgement | None = None
    agreement: Agreement | None = None
    refused: str | None = None

    @property
    def icache(self) -> bool | None:
        """The cache setting that is told first: on, if both sides have it."""
        both = common_icaches([self.base.result, self.new.result])
        return [*both, *self.base.result.icaches][0]


class Site:
    """All of a site, in order. Its comparisons come later, since they take longest."""

    def __init__(self, found: SiteSources, catalogue: Catalogue) -> None:
        self.found, self.catalogue = found, catalogue
        self.addresses = Addresses()
        # Results of the whole suite, and those that were given by name.
        leads = [one for one in found.results if one.name in found.asked or self._is_whole(one)]
        self.leads = leads or found.results
        self.chosen = self._chosen()
        self.kernels = self._kernels()
        self.groups = self._groups(self.leads or found.studies)
        self.pairs: list[SitePair] = []  # with a page each
        self.refused: list[SitePair] = []
        self.unpaired = 0  # pairs beyond the most

    def kernel_of(self, named: Named) -> SiteKernel:
        """Return the kernel that a result is of."""
        return next(kernel for kernel in self.kernels if named in kernel.named)

    def group_of(self, id_: str) -> str:
        """Return the group on whose page a benchmark is."""
        known = {one.group for one in self.catalogue.benchmarks.values()}
        group = id_.partition(".")[0]
        return group if group in known else OTHERS_PAGE

    def group_address(self, group: str) -> str:
        """Return where the page of a group is."""
        return self.addresses.page("benchmark", group, group)

    def address(self, id_: str) -> str:
        """Return where the section of a benchmark is: on the page of its group."""
        return self.addresses.part(self.group_address(self.group_of(id_)), id_, id_)

    @cached_property
    def ids_by_group(self) -> dict[str, list[str]]:
        """The benchmarks of each page."""
        found: dict[str, list[str]] = {}
        for id_ in self.ids:
            found.setdefault(self.group_of(id_), []).append(id_)
        return found

    @cached_property
    def ids(self) -> list[str]:
        """The benchmarks: all of the catalogue, and whatever else was measured."""
        rows = [id_ for one in self.found.every for id_, *_ in one.result.table]
        return list(dict.fromkeys([*self.catalogue.benchmarks, *rows]))

    def screens_of(self, kernel: SiteKernel) -> list[ColumnGroup]:
        """Return the tables of costs that a kernel is in; of one that is in none, its own."""
        found = []
        for one in self.groups:
            columns = list(zip(one.columns, one.results, strict=True))
            columns.sort(key=lambda column: column[1] not in kernel.named)  # its own first
            if columns[0][1] in kernel.named:
                own, results = zip(*columns, strict=True)
                found.append(replace(one, columns=own, results=results))
        return found or self._groups(kernel.named)

    def in_order(self, kernel: SiteKernel) -> list[Named]:
        """Return the results of a kernel: those that an editor compares first, then by the number
        of links."""
        compared = [one.name for base, new, _ in self.chosen for one in (base, new)]
        return sorted(kernel.named, key=lambda one: (one.name not in compared, -one.result.links))

    @cached_property
    def baselines(self) -> dict[str, Named]:
        """The run of the baseline kernel that each result is held against, by the result's name:
        one on the same machine, by the same interface, of the given ones or of the committed. There
        is none for a run of the baseline itself."""
        runs = [one for one in self.found.results if one.result.provenance.kernel.is_baseline]
        for path in sorted(paths.RESULTS.glob("baseline*.json")):
            runs.append(Named(path.stem, file.load(path)))

        def condition(one: Named) -> tuple[str | None, int | None]:
            return one.result.provenance.board.chip, one.result.provenance.abi

        found: dict[str, Named] = {}
        for one in self.found.results:
            fitting = [run for run in runs if condition(run) == condition(one)]
            if fitting and not one.result.provenance.kernel.is_baseline:
                found[one.name] = max(fitting, key=lambda run: len(run.result.table))
        return found

    def _chosen(self) -> list[tuple[Named, Named, ChosenPair]]:
        """Return the pairs that an editor chose, as far as both results are here, in a folder."""
        named = {one.name: one for one in self.found.results if one.name not in self.found.asked}
        return [
            (named[one.base], named[one.new], one)
            for one in choices().comparison
            if one.base in named and one.new in named
        ]

    def candidates(self) -> list[tuple[Named, Named, ChosenPair | None]]:
        """Return which results may be compared, the most wanted first: those that were given by
        name with each other; what an editor chose; those given by name with the others; and where
        nobody chose, all leading ones with each other, and those of one kernel whose opt-levels
        differ."""
        asked = self.found.asked
        of_leads = list(combinations(self.leads, 2))
        both = [pair for pair in of_leads if {one.name for one in pair} <= asked]
        one_of = [pair for pair in of_leads if {one.name for one in pair} & asked]
        others = [] if self.chosen or both else [*of_leads, *self._other_levels()]
        # Other kernels first: the baseline is none of Tock's.
        others.sort(key=lambda pair: any(is_baseline(one) for one in pair))
        every = [(*pair, None) for pair in both] + list(self.chosen)
        every += [(*pair, None) for pair in (*one_of, *others)]
        found: dict[tuple[str, str], tuple[Named, Named, ChosenPair | None]] = {}
        for base, new, choice in every:
            if (new.name, base.name) not in found:
                found.setdefault((base.name, new.name), (base, new, choice))
        return list(found.values())

    def _other_levels(self) -> Iterator[tuple[Named, Named]]:
        for one, two in combinations(self.found.results, 2):
            a, b = one.result.provenance.kernel, two.result.provenance.kernel
            same = a.name is not None and (a.name, a.commit) == (b.name, b.commit)
            if same and a.opt_level != b.opt_level:
                yield one, two

    def compare(self, step: Callable[[int, int], None]) -> None:
        """Judge pairs, the most wanted first, until there are enough."""
        wanted = self.candidates()
        for place, (base, new, choice) in enumerate(wanted):
            if len(self.pairs) == MOST:
                self.unpaired = len(wanted) - place
                break
            step(len(self.pairs), min(MOST, len(wanted)))
            pair = self.judged(base, new, choice)
            (self.pairs if pair.page else self.refused).append(pair)

    def judged(self, base: Named, new: Named, choice: ChosenPair | None = None) -> SitePair:
        """Return one pair as `tockmark compare` judges it, and as `board agree` does if one is a
        simulator's and the other a board's."""
        before, after = choice.names if choice else distinct_names([base, new])
        title = (choice.title if choice else "") or f"{after} against {before}"
        why, twins = (choice.why, choice.paired) if choice else ("", False)
        pair = SitePair(base, new, (before, after), title, why, twins)
        known = committed_spread(base.result)
        if twins:
            known = paired_spread(known, self.catalogue)
        try:
            comparison = pairs.compare(
                base.result, new.result, new.name, self.catalogue, Margins(), known
            )
        except TockmarkError as error:
            return replace(pair, refused=str(error).partition(";")[0])
        page = self.addresses.page("compare", (base.name, new.name), f"{base.name}-{new.name}")
        agreement = self._agreement(base, new)
        return replace(
            pair,
            page=page,
            comparison=comparison,
            judgement=judge_comparison(comparison),
            agreement=agreement,
        )

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
        known = catalogue.load().benchmarks
        ids = {row.id for row in named.result.table.values()} & set(known)
        return {"kernel", "app"} <= {known[id_].touches for id_ in ids} and (
            len(ids) >= WHOLE * len(known)
        )

    def _kernels(self) -> list[SiteKernel]:
        groups: dict[KernelKey, list[Named]] = {}
        for one in self.found.every:
            key = _identity(one.result.provenance.kernel, one.name)
            groups.setdefault(key, []).append(one)
        profiled: dict[KernelKey, list[StoredProfile]] = {}
        for name, profile in self.found.profiles:
            alone = _identity(profile.kernel, name)
            key = next((k for k, some in groups.items() if _is_of(profile.kernel, some)), alone)
            profiled.setdefault(key, []).append(profile)
        called_by_editor = {
            one.name: name
            for base, new, choice in self.chosen
            for one, name in zip((base, new), choice.names, strict=True)
        }
        own = self._own_pages(groups)
        kernels = []
        for key in groups | profiled:
            named, stored = groups.get(key, []), profiled.get(key, [])
            kernel = named[0].result.provenance.kernel if named else stored[0].kernel
            title = kernel.title
            if named and not kernel.name:
                title = called_by_editor.get(named[0].name) or f"{title} of {named[0].name}"
            several = sum(other[0] == key[0] for other in groups) > 1  # built in several ways
            level = kernel.opt_level or "unknown"
            called = f"{title}-opt-level-{level}" if several else title
            page = self.addresses.part(KERNELS_PAGE, key, called)
            if key in own:
                page = self.addresses.page("kernel", key, called)
            kernels.append(SiteKernel(title, key[1], page, tuple(named), tuple(stored)))
        return sorted(kernels, key=lambda one: not one.has_page)

    def _own_pages(self, groups: Mapping[KernelKey, list[Named]]) -> list[KernelKey]:
        """Return the kernels that have a page of their own: those of which there is a whole result,
        or one that was given by name, or that an editor chose. Our own has none, unless there is no
        other: it is something to compare with."""
        chosen = {one.result for one in choices().kernel}
        leading = [
            key
            for key, some in groups.items()
            if any(one in self.leads or one.name in chosen for one in some)
        ]
        others = [key for key in leading if not is_baseline(groups[key][0])]
        return (others or leading)[:KERNELS]

    def _groups(self, leads: Iterable[Named]) -> list[ColumnGroup]:
        """Return the leading results by machine, interface and language, the largest group first;
        our own kernel last in each."""
        groups: dict[tuple[str, int | None, Lang], list[tuple[Named, SiteColumn]]] = {}
        for one in sorted(leads, key=is_baseline):
            for name, result in split_by_language([(one.name, one.result)]):
                about = result.provenance
                key = (about.board.chip or "unknown machine", about.abi, result.langs[0])
                column = SiteColumn(name, result, None, self._wider(one, result))
                groups.setdefault(key, []).append((one, column))
        made = []
        for key, found in groups.items():
            results = [column.result for _, column in found]
            icache = [*common_icaches(results), *results[0].icaches][0]
            columns = tuple(replace(column, icache=icache) for _, column in found)
            made.append(ColumnGroup(*key, columns, tuple(one for one, _ in found)))
        return sorted(made, key=lambda one: (-len(one.columns), one.lang != "c"))

    def _wider(self, lead: Named, of_lang: Result) -> tuple[Result, ...]:
        """Return what was measured of the same kernel in more links. None of several leading
        results of one kernel is another's."""
        fitting = [
            one
            for one in self.in_order(self.kernel_of(lead))
            if one not in self.leads
            and one.result.links > of_lang.links
            and of_lang.langs[0] in one.result.langs
            and _condition(one.result) == _condition(of_lang)
        ]
        return tuple(one.result.of_lang(of_lang.langs[0]) for one in fitting)


def _condition(result: Result) -> tuple[object, ...]:
    """Return what two results of one kernel must have in common to be read as one."""
    about = result.provenance
    return about.board.chip, about.board.clock_hz, about.abi, about.kernel.commit


def is_baseline(named: Named) -> bool:
    """Return whether a result is of our own kernel."""
    return named.result.provenance.kernel.is_baseline


def distinct_names(named: list[Named]) -> list[str]:
    """Return names that tell results apart, in as many letters as that takes: never a letter that
    stands for a name."""
    names = short_names(named, ROOM)
    return [one.name for one in named] if names == text.letters(len(named)) else names


def _identity(kernel: Kernel, name: str) -> KernelKey:
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
