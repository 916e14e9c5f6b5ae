# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The sources of a site, and their order.

`gather` reads files and searches folders. It recognises results and profiles by their format field.
A damaged file in a folder is reported as a problem; a damaged file given by name is an error.
`Site` sorts the sources: kernels, groups of results that can be shown side by side, and pairs to
compare. A site has one page per group of benchmarks, and at most KERNELS pages of kernels and MOST
comparisons.
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
from tockmark.base.documents import source_format
from tockmark.base.errors import TockmarkError, file_name
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.compare import agree, pairs
from tockmark.compare.agree import Agreement
from tockmark.compare.limits import Margins, load_bounds
from tockmark.compare.pairs import Comparison
from tockmark.compare.spread import committed_spread, paired_spread
from tockmark.compare.verdict import Judgement, judge_comparison
from tockmark.latency import FORM as LATENCY
from tockmark.latency import report as latency
from tockmark.latency.report import StoredLatency
from tockmark.profile import file as profiles
from tockmark.profile.file import StoredProfile
from tockmark.result import file
from tockmark.result.model import Result, Row, common_icaches
from tockmark.result.provenance import Kernel
from tockmark.show.table import Named, ResultColumn, short_title, split_by_language
from tockmark.suite import catalogue
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, RowKey
from tockmark.suite.selection import screen

IGNORED = {".md", ".txt", ".svg", ".folded", ".html"}  # suffixes of documents
FORMATS = {file.FORMAT, profiles.FORMAT, LATENCY}
WHOLE = 2 / 3  # a result of the whole suite has at least this share of its benchmarks
MOST = 8  # at most this many comparisons, with a page each
KERNELS = 12  # at most this many kernels with a page each; the table has all
KERNELS_PAGE = "kernels.html"
OTHERS_PAGE = "other"  # the page of benchmarks whose group the catalogue does not have

KernelKey = tuple[str, str]  # the kernel's name and build options


class ChosenPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two results that an editor chose to compare."""

    base: str  # a result's path in the folder, without .json
    new: str
    names: tuple[str, str]  # for readers, the base first
    why: str
    paired: bool = False  # whether the links are paired
    title: str = ""  # default: made from the names


class ChosenKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result whose kernel always has its own page."""

    result: str
    why: str


class Edited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The editor's choices."""

    comparison: tuple[ChosenPair, ...]
    kernel: tuple[ChosenKernel, ...]
    groups: dict[str, tuple[str, str]]  # each group's title, and its name in a sentence
    costs: dict[str, str]  # terms of `--only`, and their names in a sentence
    aliases: dict[str, tuple[str, ...]]  # by benchmark, for the search


@cache
def choices() -> Edited:
    """Return the editor's choices."""
    path = resources.files("tockmark.site") / "templates" / "edited.toml"
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Edited)


def heading(group: str) -> str:
    """Return the title of a group; by default the group itself."""
    return choices().groups.get(group, (group, group))[0]


def group_in_sentence(group: str) -> str:
    """Return the name of a group in a sentence."""
    return choices().groups.get(group, (group, group))[1]


@dataclass
class SiteSources:
    """The sources, in the order of the arguments; a folder's files are sorted by path."""

    results: list[Named] = field(default_factory=list)
    given_by_name: set[str] = field(default_factory=set)  # names of results
    studies: list[Named] = field(default_factory=list)  # results with figures that others published
    profiles: list[tuple[str, StoredProfile]] = field(default_factory=list)
    latencies: list[tuple[str, StoredLatency]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # a line for each damaged file
    unknown_files: list[str] = field(default_factory=list)  # a line for each

    @property
    def every(self) -> list[Named]:
        """The results and the studies."""
        return [*self.results, *self.studies]

    @property
    def pageless(self) -> list[str]:
        """A line for each file without a page, with the reason."""
        return [*self.problems, *self.unknown_files]

    def add_from_folder(self, path: Path, name: str) -> None:
        """Add a file of a folder, or report that it is damaged or has an unknown format."""
        try:
            format_ = source_format(path)
            if format_ in FORMATS:
                self.add(path, name, format_)
            elif path.suffix == ".log":
                self.unknown_files.append(f"{shown(path)}: a log; `tockmark board parse` reads it")
            elif path.suffix not in IGNORED:
                self.unknown_files.append(f"{shown(path)}: {format_ or 'unknown format'}, no page")
        except TockmarkError as error:
            self.problems.append(str(error))

    def add(self, path: Path, name: str, format_: str | None) -> None:
        """Add a file. Raise TockmarkError if it cannot be read."""
        if format_ == profiles.FORMAT:
            self.profiles.append((name, profiles.load(path)))
        elif format_ == LATENCY:
            self.latencies.append((name, latency.load(path)))
        else:
            result = file.load(path)
            named = Named(self._free(name, path), result)
            published = any(row.published for row in result.rows)
            (self.studies if published else self.results).append(named)

    def _free(self, name: str, path: Path) -> str:
        """Return a unique name for a result."""
        used_names = {named.name for named in self.every}
        numbered = (f"{name} ({number})" for number in range(2, len(used_names) + 3))
        names = (name, shown(path), *numbered)
        return next(candidate for candidate in names if candidate not in used_names)


def gather(inputs: Iterable[Path]) -> SiteSources:
    """Return the results and profiles in these files and folders. Raise TockmarkError if a file
    given by name cannot be used, or if there is no result."""
    sources = SiteSources()
    seen: set[Path] = set()
    for path in inputs:
        if path.is_dir():
            for file_path in _files(path):
                if file_path.resolve() not in seen:
                    seen.add(file_path.resolve())
                    name = file_path.relative_to(path).with_suffix("").as_posix()
                    sources.add_from_folder(file_path, name)
        else:
            if path.resolve() in seen:
                raise TockmarkError(f"{shown(path)}: given twice", "give each file once")
            seen.add(path.resolve())
            before = len(sources.results)
            sources.add(path, path.stem, source_format(path))
            sources.given_by_name |= {named.name for named in sources.results[before:]}
    if not sources.every:
        for why in sources.pageless:
            raise TockmarkError(why)
        for name, _ in (*sources.latencies, *sources.profiles):
            raise TockmarkError(f"{name}: not a result", "give a result as well")
        raise TockmarkError("no files", "give result files, or folders that contain some")
    return sources


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, except hidden ones. Symbolic links to folders
    are not followed, since they may form a cycle."""
    with reading(folder):
        inside = sorted(folder.iterdir())
    for path in inside:
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


class Addresses:
    """The addresses of pages. They are unique and consist of letters, digits, dots and dashes."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, object], str] = {}

    def page(self, folder: str, key: object, name: str, suffix: str = ".html") -> str:
        """Return the path of a page from the site's root. The same key has the same path."""
        return self._free(folder, key, f"{folder}/", name, suffix)

    def part(self, page: str, key: object, name: str) -> str:
        """Return the path of a part of a page, with its id."""
        return self._free(page, key, f"{page}#", name, "")

    def _free(self, scope: str, key: object, before: str, name: str, behind: str) -> str:
        if (scope, key) not in self._of:
            # Lower case, since some file systems ignore case.
            stem = file_name(name).lower().replace("..", ".")
            path, more = f"{before}{stem}{behind}", 1
            while path in self._of.values():
                more += 1
                path = f"{before}{stem}-{more}{behind}"
            self._of[scope, key] = path
        return self._of[scope, key]


@dataclass(frozen=True)
class SiteKernel:
    """A kernel with one set of build options: its results and profiles."""

    title: str
    built: str
    page: str  # its own page, or its part of the page of all kernels
    named: tuple[Named, ...]
    profiles: tuple[StoredProfile, ...] = ()

    @property
    def has_page(self) -> bool:
        """Whether the kernel has its own page."""
        return "#" not in self.page


@dataclass(frozen=True)
class SiteColumn(ResultColumn):
    """A result in one language as a column. If the same kernel was also measured with more links,
    its rows come from there, with ranges."""

    wider: tuple[Result, ...] = ()  # results with more links; the first that has a row wins

    @cached_property
    def rows(self) -> dict[RowKey, Row]:
        rows = dict(super().rows)
        for result in reversed(self.wider):
            column = result.column(self.icache, result.langs[0])
            rows |= {key: row for key, row in column.items() if row.sound}
        return rows

    def result_of(self, key: RowKey) -> Result:
        """Return the result that gives a row."""
        row = self.rows.get(key)
        return next(
            (result for result in self.wider if row and result.table.get(row.key) is row),
            self.result,
        )


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that can be compared: of one machine, interface, language and cache setting."""

    machine: str
    abi: int | None
    lang: Lang
    columns: tuple[SiteColumn, ...]
    results: tuple[Named, ...]  # each column's result, in all its languages

    @property
    def icache(self) -> bool | None:
        return self.columns[0].icache

    @property
    def timed(self) -> bool:
        """Whether all columns have cycles."""
        return all(column.timed for column in self.columns)

    @property
    def unit(self) -> str:
        return "net cycles" if self.timed else "net instructions"

    @property
    def condition(self) -> str:
        """The conditions of all columns, in words."""
        results = [column.result for column in self.columns]
        return f"{setting(results, self.icache)}, apps in {LANGS[self.lang]}"

    @cached_property
    def names(self) -> list[str]:
        """The name of each column: its kernel with the opt-level. If several have one, the oldest
        result keeps it, so that a further result changes no name."""
        by_date = sorted(self.columns, key=lambda column: column.result.provenance.date)
        first = {kernel_name(column.result): column for column in reversed(by_date)}
        return [
            name if first[name] is column else f"{name}, {column.name}"
            for column in self.columns
            for name in [kernel_name(column.result)]
        ]

    def blocks(
        self, catalogue: Catalogue
    ) -> list[tuple[str, list[tuple[str, str, list[Row | None]]]]]:
        """Return the rows of the first screen: for each title, the rows' labels and ids, and each
        column's row."""
        blocks = []
        for title, words in screen(catalogue).items():
            lines = [
                (words_of_row, key[0], rows)
                for words_of_row, key in words.items()
                if any(rows := [column.rows.get(key) for column in self.columns])
            ]
            blocks += [(title, lines)] if lines else []
        return blocks


@dataclass(frozen=True)
class SitePair:
    """Two results with their comparison, or the reason why they cannot be compared."""

    base: Named
    new: Named
    names: tuple[str, str]  # the base first
    title: str
    why: str = ""  # the reason for an editor's choice
    paired: bool = False  # whether the links are paired
    page: str | None = None
    comparison: Comparison | None = None
    judgement: Judgement | None = None
    agreement: Agreement | None = None
    refused: str | None = None

    @property
    def icache(self) -> bool | None:
        """The cache setting that is shown first: on if both sides have it."""
        both = common_icaches([self.base.result, self.new.result])
        return [*both, *self.base.result.icaches][0]


class Site:
    """A site's content, in order. `compare` adds the comparisons, which take longest."""

    def __init__(self, sources: SiteSources, catalogue: Catalogue) -> None:
        self.sources, self.catalogue = sources, catalogue
        self.addresses = Addresses()
        # Results of the whole suite, or given by name.
        leads = [
            named
            for named in sources.results
            if named.name in sources.given_by_name or self._is_whole(named)
        ]
        self.leads = leads or sources.results
        self.chosen = self._chosen()
        self.kernels = self._kernels()
        self.groups = self._groups(self.leads or sources.studies)
        self.pairs: list[SitePair] = []  # with a page each
        self.refused: list[SitePair] = []
        self.unpaired = 0  # pairs beyond MOST

    def kernel_of(self, named: Named) -> SiteKernel:
        """Return the kernel of a result."""
        return next(kernel for kernel in self.kernels if named in kernel.named)

    def group_of(self, id_: str) -> str:
        """Return the group whose page shows a benchmark."""
        groups = {benchmark.group for benchmark in self.catalogue.benchmarks.values()}
        group = id_.partition(".")[0]
        return group if group in groups else OTHERS_PAGE

    def group_address(self, group: str) -> str:
        """Return the address of a group's page."""
        return self.addresses.page("benchmark", group, group)

    def address(self, id_: str) -> str:
        """Return the address of a benchmark's section, on the page of its group."""
        return self.addresses.part(self.group_address(self.group_of(id_)), id_, id_)

    @cached_property
    def ids_by_group(self) -> dict[str, list[str]]:
        """The benchmarks of each page."""
        ids: dict[str, list[str]] = {}
        for id_ in self.ids:
            ids.setdefault(self.group_of(id_), []).append(id_)
        return ids

    @cached_property
    def ids(self) -> list[str]:
        """The benchmarks of the catalogue, and any others that were measured."""
        rows = [id_ for named in self.sources.every for id_, *_ in named.result.table]
        return list(dict.fromkeys([*self.catalogue.benchmarks, *rows]))

    @cached_property
    def rows_by_id(self) -> dict[tuple[str, str], list[Row]]:
        """The rows of each result, by its name and the benchmark's id."""
        rows: dict[tuple[str, str], list[Row]] = {}
        for named in self.sources.every:
            for row in named.result.table.values():
                rows.setdefault((named.name, row.id), []).append(row)
        return rows

    def screens_of(self, kernel: SiteKernel) -> list[ColumnGroup]:
        """Return the column groups of a kernel, with its own columns first."""
        groups = []
        for group in self.groups:
            columns = list(zip(group.columns, group.results, strict=True))
            columns.sort(key=lambda column: column[1] not in kernel.named)
            if columns[0][1] in kernel.named:
                own, results = zip(*columns, strict=True)
                groups.append(replace(group, columns=own, results=results))
        return groups or self._groups(kernel.named)

    def in_order(self, kernel: SiteKernel) -> list[Named]:
        """Return the results of a kernel: first those that an editor compares, then by the number
        of links."""
        compared = [side.name for base, new, _ in self.chosen for side in (base, new)]
        return sorted(
            kernel.named, key=lambda named: (named.name not in compared, -named.result.links)
        )

    @cached_property
    def baselines(self) -> dict[str, Named]:
        """The baseline kernel's result to compare each result with, by the result's name. It is one
        with the same machine and interface, from the sources or committed. Results of the baseline
        itself have none."""
        runs = [
            named for named in self.sources.results if named.result.provenance.kernel.is_baseline
        ]
        for path in sorted(paths.RESULTS.glob("baseline*.json")):
            runs.append(Named(path.stem, file.load(path)))

        def condition(named: Named) -> tuple[str | None, int | None]:
            return named.result.provenance.board.chip, named.result.provenance.abi

        baselines: dict[str, Named] = {}
        for named in self.sources.results:
            fitting = [run for run in runs if condition(run) == condition(named)]
            if fitting and not named.result.provenance.kernel.is_baseline:
                baselines[named.name] = max(fitting, key=lambda run: len(run.result.table))
        return baselines

    def _chosen(self) -> list[tuple[Named, Named, ChosenPair]]:
        """Return the pairs that an editor chose and whose results are both in a given folder."""
        sources = self.sources
        named = {
            entry.name: entry
            for entry in sources.results
            if entry.name not in sources.given_by_name
        }
        return [
            (named[choice.base], named[choice.new], choice)
            for choice in choices().comparison
            if choice.base in named and choice.new in named
        ]

    def candidates(self) -> list[tuple[Named, Named, ChosenPair | None]]:
        """Return the pairs to compare, in order of priority: results given by name with each other;
        the editor's choices; results given by name with the others. If there are neither choices
        nor two results given by name: all leading results with each other, and kernels at different
        opt-levels."""
        given_by_name = self.sources.given_by_name
        of_leads = list(combinations(self.leads, 2))
        both_by_name = [pair for pair in of_leads if {side.name for side in pair} <= given_by_name]
        one_by_name = [pair for pair in of_leads if {side.name for side in pair} & given_by_name]
        others = [] if self.chosen or both_by_name else [*of_leads, *self._other_levels()]
        # Pairs with the baseline last: it is not Tock.
        others.sort(key=lambda pair: any(is_baseline(side) for side in pair))
        every = [(*pair, None) for pair in both_by_name] + list(self.chosen)
        every += [(*pair, None) for pair in (*one_by_name, *others)]
        pairs_by_names: dict[tuple[str, str], tuple[Named, Named, ChosenPair | None]] = {}
        for base, new, choice in every:
            if (new.name, base.name) not in pairs_by_names:
                pairs_by_names.setdefault((base.name, new.name), (base, new, choice))
        return list(pairs_by_names.values())

    def _other_levels(self) -> Iterator[tuple[Named, Named]]:
        for base, new in combinations(self.sources.results, 2):
            a, b = base.result.provenance.kernel, new.result.provenance.kernel
            same = a.name is not None and (a.name, a.commit) == (b.name, b.commit)
            if same and a.opt_level != b.opt_level:
                yield base, new

    def compare(self, step: Callable[[int, int], None]) -> None:
        """Judge pairs in order of priority, at most MOST."""
        wanted = self.candidates()
        for number, (base, new, choice) in enumerate(wanted):
            if len(self.pairs) == MOST:
                self.unpaired = len(wanted) - number
                break
            step(len(self.pairs), min(MOST, len(wanted)))
            pair = self.judged(base, new, choice)
            (self.pairs if pair.page else self.refused).append(pair)

    def judged(self, base: Named, new: Named, choice: ChosenPair | None = None) -> SitePair:
        """Return one pair, judged like `tockmark compare`; if one side is a simulator and the other
        a board, also like `board agree`."""
        names = kernel_name(base.result), kernel_name(new.result)
        names = names if names[0] != names[1] else (base.name, new.name)
        before, after = choice.names if choice else names
        title = (choice.title if choice else "") or f"{after} against {before}"
        why, paired = (choice.why, choice.paired) if choice else ("", False)
        pair = SitePair(base, new, (before, after), title, why, paired)
        spread = committed_spread(base.result)
        if paired:
            spread = paired_spread(spread, self.catalogue)
        try:
            comparison = pairs.compare(
                base.result, new.result, new.name, self.catalogue, Margins(), spread
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
            bounds = load_bounds(agree.machine_of(sim.result), self.catalogue)
            return agree.agree(sim.result, board.result, board.name, bounds)
        except TockmarkError:
            return None

    def _is_whole(self, named: Named) -> bool:
        """Return whether a result has most benchmarks of the suite, of both kernel and app."""
        benchmarks = catalogue.load().benchmarks
        ids = {row.id for row in named.result.table.values()} & set(benchmarks)
        return {"kernel", "app"} <= {benchmarks[id_].touches for id_ in ids} and (
            len(ids) >= WHOLE * len(benchmarks)
        )

    def _kernels(self) -> list[SiteKernel]:
        groups: dict[KernelKey, list[Named]] = {}
        for source in self.sources.every:
            key = _identity(source.result.provenance.kernel, source.name)
            groups.setdefault(key, []).append(source)
        profiled: dict[KernelKey, list[StoredProfile]] = {}
        for name, profile in self.sources.profiles:
            alone = _identity(profile.kernel, name)
            key = next((k for k, some in groups.items() if _is_of(profile.kernel, some)), alone)
            profiled.setdefault(key, []).append(profile)
        called_by_editor = {
            side.name: name
            for base, new, choice in self.chosen
            for side, name in zip((base, new), choice.names, strict=True)
        }
        own = self._own_pages(groups)
        kernels = []
        for key in groups | profiled:
            named, stored = groups.get(key, []), profiled.get(key, [])
            kernel = named[0].result.provenance.kernel if named else stored[0].kernel
            title = kernel.title
            if named and not kernel.name:
                title = called_by_editor.get(named[0].name) or f"Kernel of {named[0].name}"
            several = sum(other[0] == key[0] for other in groups) > 1  # with different options
            level = kernel.opt_level or "unknown"
            called = f"{title}-opt-level-{level}" if several else title
            page = self.addresses.part(KERNELS_PAGE, key, called)
            if key in own:
                page = self.addresses.page("kernel", key, called)
            kernels.append(SiteKernel(title, key[1], page, tuple(named), tuple(stored)))
        return sorted(kernels, key=lambda kernel: not kernel.has_page)

    def _own_pages(self, groups: Mapping[KernelKey, list[Named]]) -> list[KernelKey]:
        """Return the kernels with their own page. They have a result of the whole suite, or one
        that was given by name or chosen by an editor. The baseline has a page only if there is no
        other kernel."""
        chosen = {choice.result for choice in choices().kernel}
        leading = [
            key
            for key, some in groups.items()
            if any(named in self.leads or named.name in chosen for named in some)
        ]
        others = [key for key in leading if not is_baseline(groups[key][0])]
        return (others or leading)[:KERNELS]

    def _groups(self, leads: Iterable[Named]) -> list[ColumnGroup]:
        """Return the columns of the leading results by machine, interface and language, the largest
        group first. The baseline kernel comes last in each group."""
        groups: dict[tuple[str, int | None, Lang], list[tuple[Named, SiteColumn]]] = {}
        for named in sorted(leads, key=is_baseline):
            for name, result in split_by_language([(named.name, named.result)]):
                about = result.provenance
                key = (about.board.title, about.abi, result.langs[0])
                column = SiteColumn(name, result, None, self._wider(named, result))
                groups.setdefault(key, []).append((named, column))
        column_groups = []
        for key, members in groups.items():
            results = [column.result for _, column in members]
            icache = [*common_icaches(results), *results[0].icaches][0]
            columns = tuple(replace(column, icache=icache) for _, column in members)
            column_groups.append(ColumnGroup(*key, columns, tuple(named for named, _ in members)))
        return sorted(column_groups, key=lambda group: (-len(group.columns), group.lang != "c"))

    def _wider(self, lead: Named, of_lang: Result) -> tuple[Result, ...]:
        """Return the results of the same kernel with more links, without leading results."""
        fitting = [
            named
            for named in self.in_order(self.kernel_of(lead))
            if named not in self.leads
            and named.result.links > of_lang.links
            and of_lang.langs[0] in named.result.langs
            and _condition(named.result) == _condition(of_lang)
        ]
        return tuple(named.result.of_lang(of_lang.langs[0]) for named in fitting)


def _condition(result: Result) -> tuple[object, ...]:
    """Return what two results of one kernel must have in common to be shown as one."""
    about = result.provenance
    return about.board.chip, about.board.clock_hz, about.abi, about.kernel.commit


def setting(results: Iterable[Result], icache: bool | str | None = "") -> str:
    """Return the machines, clocks, cache settings (all, or `icache`) and interface versions of
    results, for a caption."""
    some = list(results)
    boards = dict.fromkeys(
        f"{result.provenance.board.title}, {result.provenance.board.clock}" for result in some
    )
    settings: Iterable[bool | None] = (
        [icache] if isinstance(icache, bool | None) else (i for r in some for i in r.icaches)
    )
    caches = sorted({ICACHE[cache] for cache in settings}, reverse=True)
    abis = sorted({str(result.provenance.abi or "unknown") for result in some})
    words = f"{', '.join(boards)}, i-cache {' and '.join(caches)}"
    return f"{words}, interface version {' and '.join(abis)}"


def is_baseline(named: Named) -> bool:
    """Return whether a result is of the baseline kernel."""
    return named.result.provenance.kernel.is_baseline


def kernel_name(result: Result) -> str:
    """Return the short name of a result's kernel, with its opt-level; never its file's name."""
    kernel = result.provenance.kernel
    title = short_title(kernel) if kernel.name else "unnamed kernel"
    return f"{title} ({kernel.opt_level or 'unknown opt-level'})"


def _identity(kernel: Kernel, name: str) -> KernelKey:
    """Return what identifies a kernel: its name and its build options. Without a name, its hash or
    the name of its result is used."""
    return kernel.name or kernel.sha256 or name, kernel.built


def _is_of(kernel: Kernel, results: list[Named]) -> bool:
    """Return whether a profile and these results have the same kernel: the same image, or the same
    name and opt-level, since a profile does not record flags."""
    others = [named.result.provenance.kernel for named in results]
    return any(
        (other.sha256 and other.sha256 == kernel.sha256)
        or (other.name and (other.name, other.opt_level) == (kernel.name, kernel.opt_level))
        for other in others
    )
