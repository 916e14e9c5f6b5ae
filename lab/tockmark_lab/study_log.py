# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the logs of the 2021 study: text tables under titles.

    ### RESULTS ###
    benchmark: a title, which may continue on the next lines
    description: text, which may do so as well
    Test 1: a table; a title may have several
    run, cycles, further columns
    0, 7271, …

These logs have no checksums, so only their form can be checked. The check is strict: samples count
up from 0 without a gap, rows have the columns of their heading, and each value can be a time. Other
lines are reported with their number, and their whole table is skipped. docs/trust.md has the rules;
study_log.toml maps the titles to benchmarks of the catalogue.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError, printable_text
from tockmark.base.paths import shown
from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import OVERHEAD, Catalogue, Params
from tockmark.target.log import read_log
from tockmark.wire.boots import App, Measured, MeasuredBoot
from tockmark.wire.records import MAX_SAMPLES, Problem, compress
from tockmark.wire.rows import SERIES, CounterKind, StoredRow, series_names

COUNTED = re.compile(r"_(cycles|instructions)(?=$|,|:)")
_PARAMS = re.compile(r", ([a-z][a-z_ ]*) (\d{1,9})$")
WORD = 4  # bytes that a load moves
MOST_LINES = 20  # of a title or a description, which is above each of its tables
LONGEST = 2**31 - 1  # cycles, 215 s: a larger value is a negative difference, printed unsigned
COLUMNS: dict[str, CounterKind] = {"cycles": "cycles", "instructions": "instret"}

_TITLE = re.compile(r"benchmark\s*:[\s,]*(.*)")  # commas: some logs are for a spreadsheet
_ABOUT = re.compile(r"description\s*:[\s,]*(.*)")
_TEST = re.compile(r"Test\s+\d+\s*:\s*(.*)")
_FACT = re.compile(r"[A-Z][A-Za-z ]*: *-?\d+")
_HEADING = re.compile(r"(?:[a-z_]+\s*,\s*)*run\s*,.*")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?\d[\d.]*")
_CELL = re.compile(r"0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?")
_PARAM = re.compile(r"\d{1,9}")


class TitleEntry(Part, frozen=True):
    """A title of the study, or a pattern of titles, and its benchmark."""

    title: str = msgspec.field(name="is")
    id: str
    params: Params = msgspec.field(default_factory=dict)
    samples: int | None = None
    inner: int = 1
    loaded: str | None = None
    counts: str | None = None


class StudyFacts(Part, frozen=True):
    """The contents of study_log.toml."""

    overhead: dict[str, int]
    remarks: list[str]
    benchmark: list[TitleEntry]


def facts() -> StudyFacts:
    """Read study_log.toml."""
    text = files("tockmark_lab").joinpath("study_log.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), StudyFacts)


def entry_for_title(title: str, study_facts: StudyFacts) -> TitleEntry:
    """Return the entry of a title. An unknown title gets the benchmark `study.<its words>`."""
    bare = COUNTED.sub("", title)
    for entry in study_facts.benchmark:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d{1,9})", re.escape(entry.title))
        match = re.fullmatch(pattern, bare)
        if match:
            numbers = {key: int(value) for key, value in match.groupdict().items()}
            return replace(entry, params={**entry.params, **numbers})
    params: Params = {}
    while match := _PARAMS.search(bare):
        bare = bare[: match.start()]
        params = {match[1].replace(" ", "_"): int(match[2]), **params}
    slug = re.sub(r"[^a-z0-9]+", "_", bare.lower())[:80].strip("_")
    return TitleEntry(title, f"study.{slug or 'untitled'}", params)


@dataclass
class StudyTable:
    """One table of a log: the columns that count something, sample by sample."""

    title: str
    about: str  # its description
    line: int
    columns: list[str]
    broken: bool  # a line does not fit: it is reported, and the table is skipped
    params: list[str]  # the cells in front of `run`, equal in each row
    series: dict[str, list[int]] = field(default_factory=dict)
    loaded: dict[str, list[int]] = field(default_factory=dict)  # bytes, by column
    without_cold: list[str] = field(default_factory=list)  # columns with an impossible first sample
    impossible: list[str] = field(default_factory=list)  # messages about impossible samples
    rows: int = 0
    separators: list[str] | None = None  # between its cells, equal in every row

    @property
    def before_run(self) -> int:
        """The number of columns in front of the sample number."""
        return self.columns.index("run") if "run" in self.columns else 0


def recognise(text: str) -> bool:
    """Return whether a text is such a log: it has a title, and no line of our protocol."""
    titled = re.search(r"^[ \t]*benchmark[ \t]*:", text, re.MULTILINE)
    return titled is not None and "#tm " not in text


def _is_row(text: str) -> bool:
    """Return whether a line is a sample: a whole number, then numbers or addresses, with commas or
    tabs between them. A single regular expression would try every way to distribute the blanks."""
    cells, separators = _NUMBER.findall(text), _NUMBER.split(text)
    return (
        len(cells) > 1
        and separators.pop(0) == ""
        and separators.pop() in ("", ",")
        and cells[0].lstrip("-").isdecimal()
        and all(_CELL.fullmatch(cell) for cell in cells)
        and all(part.strip() == "," or (part.isspace() and "\t" in part) for part in separators)
    )


class Reader:
    """Reads a log line by line and makes tables of it."""

    def __init__(self, study_facts: StudyFacts) -> None:
        self.tables: list[StudyTable] = []
        self.problems: list[Problem] = []
        remarks = map(re.escape, study_facts.remarks)
        self._remarks = [re.sub(r"\\{\w+\\}", r"-?\\d+", remark) for remark in remarks]
        self._loaded = {entry.loaded for entry in study_facts.benchmark} - {None}
        self._title: list[str] | None = None  # None before the first title
        self._about: list[str] = []
        self._test = ""
        self._continued: list[str] | None = None  # the title or text that a plain line continues
        self._table: StudyTable | None = None
        self._number = 0

    def feed(self, raw: str) -> None:
        """Process one line."""
        self._number += 1
        text = raw.strip()
        if not text:
            return
        if text == "### RESULTS ###":
            self._begin(None)
        elif match := _TITLE.fullmatch(text):
            self._begin([match[1]])
        elif _TITLE.search(text):  # after other text: the tables below may be of either
            self._break_open(f"a title within the line {text[:40]!r}")
            self._begin(None)
        elif match := _ABOUT.fullmatch(text):
            self.finish()
            self._about = self._continued = [match[1]]
        elif _is_row(text) and raw.endswith(text):  # a blank at the end may have been a digit
            self._row(text)
        elif match := _TEST.fullmatch(text):
            self.finish()
            self._test, self._continued = match[1], None
        elif _HEADING.fullmatch(text):
            self._heading(text)
        elif self._continued is not None and not _FACT.fullmatch(text):
            if len(self._continued) < MOST_LINES:
                self._continued.append(text)
        elif self._continued is None and re.search(
            r"\d", text
        ):  # not a fact like "Run length: 7936"
            self._out_of_place(text)

    def _begin(self, title: list[str] | None) -> None:
        """Start the part under a title. None: there is no title yet, or it was lost."""
        self.finish()
        self._title, self._about, self._test, self._continued = title, [], "", title

    def _out_of_place(self, text: str) -> None:
        """Report a line with a number that is not known, unless it is a remark or is before the
        first benchmark, where the kernel prints."""
        if self._title is None and not self.tables:
            return
        if any(re.fullmatch(pattern, text) for pattern in self._remarks):
            return
        if text[0].isalpha() or not self._break_open(f"{text[:40]!r} is not a sample"):
            self._problem(f"unexpected line {text[:60]!r}; delete it if it measures nothing")

    def _heading(self, text: str) -> None:
        self.finish()
        self._continued = None
        columns = [column.strip().lower() for column in text.split(",")]
        counted = [column for column in columns if column in COLUMNS]
        table = self._open(columns)
        if not counted or len(set(counted)) != len(counted):
            self._break(f"the heading {text[:60]!r} must name cycles or instructions, each once")
        suffix = COUNTED.search(table.title)
        if suffix and counted and suffix[1] not in counted:
            self._break(f"the title counts {suffix[1]}, but the heading {', '.join(counted)}")

    def _row(self, text: str) -> None:
        self._continued = None
        cells, separators = _NUMBER.findall(text), _NUMBER.split(text)
        table = self._table or self._open([])
        if (at := table.before_run) and len(cells) == len(table.columns):
            table = self._table_with_params(table, cells[:at])
        if table.broken:
            return
        if not table.columns:
            if len(cells) != 2:
                self._break(f"{len(cells)} columns without a heading like 'run, cycles'")
                return
            table.columns = ["run", ""]
        if len(cells) != len(table.columns):
            self._break(f"{len(cells)} columns, but {len(table.columns)} in the rows or heading")
        elif separators != (table.separators or separators):
            self._break(f"{text[:40]!r} has other separators than the samples above")
        elif (run := cells[table.before_run]) != str(table.rows):
            self._break(f"sample {table.rows} expected, but sample {run[:20]} found")
        elif table.rows >= MAX_SAMPLES:
            self._break(f"more than {MAX_SAMPLES} samples in one table")
        else:
            table.separators = separators
            self._sample(table, cells)

    def _table_with_params(self, table: StudyTable, params: list[str]) -> StudyTable:
        """Return the table with these parameters in front of `run`: this table, or a new one with
        the same heading."""
        if params == table.params:
            return table
        if table.rows:
            self.finish()
        new = self._open(table.columns, params)
        if not all(map(_PARAM.fullmatch, params)):
            self._break(f"{', '.join(params)[:40]!r} cannot be the parameters of a table")
        return new

    def _sample(self, table: StudyTable, cells: list[str]) -> None:
        first = table.before_run + 1
        for column, cell in zip(table.columns[first:], cells[first:], strict=True):
            loaded = column in self._loaded
            if column and column not in COLUMNS and not loaded:
                continue
            if not cell.lstrip("-").isdecimal() or len(cell) > 20:
                self._break(f"{cell[:30]} is not a whole number of {column or 'anything'}")
                return
            value = int(cell)
            if loaded:
                table.loaded.setdefault(column, []).append(value)
            elif 0 <= value <= LONGEST:
                table.series.setdefault(column, []).append(value)
            else:
                cold = ", the cold one" if table.rows == 0 else ""
                table.without_cold += [column] * (table.rows == 0)
                table.impossible.append(
                    f"sample {table.rows}{cold}, is {value}: not a time, but a counter minus"
                    " something that was never set; it is skipped"
                )
        table.rows += 1

    def _open(self, columns: list[str], params: Sequence[str] = ()) -> StudyTable:
        if self._title is None:
            self._problem("a table without a title; put 'benchmark: <what it is>' above it")
            title = ""
        else:
            title = " ".join(filter(None, self._title)) + (f": {self._test}" if self._test else "")
            title += "".join(
                f", {key} {value}" for key, value in zip(columns, params, strict=False)
            )
        about, broken = " ".join(self._about), self._title is None
        self._table = StudyTable(title, about, self._number, columns, broken, list(params))
        return self._table

    def cut(self) -> None:
        """Report that the last line has no line end: if it is a sample, digits may be missing."""
        self._break_open("the last line has no line end; add one if nothing is missing")

    def finish(self) -> None:
        """End the table, and keep it if all its lines fit."""
        table, self._table = self._table, None
        if table is not None and not table.broken and table.rows == 0:
            self._problem(f"no samples under {table.title[:60]!r}", table.line)
        elif table is not None and not table.broken:
            self.tables.append(table)

    def _break_open(self, problem: str) -> bool:
        """Mark the current table as broken. Return False without one, or if it already was."""
        if self._table is None or self._table.broken:
            return False
        self._break(problem)
        return True

    def _break(self, problem: str) -> None:
        assert self._table is not None
        title = self._table.title[:60]
        self._problem(f"{problem}; the table {title!r} of line {self._table.line} is skipped")
        self._table.broken = True

    def _problem(self, problem: str, line: int | None = None) -> None:
        self.problems.append(Problem(None, problem, line or self._number))


def measured(text: str, log: str, own: bool = False) -> Measured:
    """Return the rows of a log as one boot of one app, named after the log. `own`: the study took
    it, with the cache off. If such a log has no time.read, it gets the time.read of the study's
    time.log, so that its figures are net."""
    study_facts = facts()
    reader = Reader(study_facts)
    if text.count("\r\n") == text.count("\n"):  # some terminals write all line ends so
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    for line in lines:
        reader.feed(line)
    if lines[-1].strip():
        reader.cut()
    reader.finish()
    begin = {"apps": "1", "format": "log of the 2021 study"}
    app = App(log, begin)
    boot = MeasuredBoot(f"study-{log}", False if own else None, apps={log: app})
    parsed = Measured([boot], reader.problems)
    for table in reader.tables:
        try:
            _add_table(table, app, entry_for_title(table.title, study_facts))
        except ValueError as error:
            parsed.add_problem(None, str(error), table.line)
    if app.rows and not any(row.id == OVERHEAD for row in app.rows):
        if own:
            begin["overhead"] = "that of the study's time.log"
            runs = {f"{name}_runs": f"{cost}*2" for name, cost in study_facts.overhead.items()}
            reading = StoredRow(OVERHEAD, log, 2, **runs)  # type: ignore[arg-type]
            app.rows_by_key = {reading.key: reading, **app.rows_by_key}
        else:
            begin["overhead"] = "unknown"
            parsed.add_problem(
                None,
                "the log does not have the cost of reading the counters, so no figure is net; add"
                " the tables of timing_overhead, or give --study if the study of 2021 took the log",
            )
    unknown_ids = [row.id for row in app.rows if row.id.startswith("study.")]
    if unknown_ids:
        begin["unknown_titles"] = ", ".join(dict.fromkeys(unknown_ids))
    return parsed


def _add_table(table: StudyTable, app: App, entry: TitleEntry) -> None:
    """Add a table to its row, or to a new row. ValueError if that is impossible."""
    runs = {}
    without_cold = set()
    for column, samples in table.series.items():
        counted = column or entry.counts or _counted(table)
        if counted is None:
            raise ValueError(
                f"{table.title[:60]!r} does not name its counter;"
                " put 'run, cycles' or 'run, instructions' above its samples"
            )
        runs[f"{COLUMNS[counted]}_runs"] = compress(samples)
        without_cold |= {COLUMNS[counted]} if column in table.without_cold else set()
    if entry.samples is not None and table.rows != entry.samples:
        raise ValueError(
            f"{table.title[:60]!r} has {table.rows} samples, the study took {entry.samples};"
            " it is skipped: capture the log again"
        )
    new = StoredRow(entry.id, app.name, table.rows, entry.params, inner=_inner(table, entry))
    row = app.rows_by_key.get(new.key, new)
    if any(getattr(row, name) is not None for name in runs):
        raise ValueError(f"{table.title[:60]!r} was measured before; the first is kept")
    without_cold |= set(row.without_cold)
    app.rows_by_key[row.key] = replace(
        row,
        **runs,
        without_cold=tuple(name for name in SERIES if name in without_cold),
        faults=(*row.faults, *table.impossible),
    )


def _inner(table: StudyTable, entry: TitleEntry) -> int:
    """Return the operations per sample. If a column has the bytes that each sample loaded, these
    are the loads of the median sample. ValueError if that column is missing."""
    if entry.loaded is None:
        return entry.inner
    sizes = sorted(table.loaded.get(entry.loaded, ()))
    loads = sizes[len(sizes) // 2] // WORD if sizes else 0
    if loads < 1:
        raise ValueError(
            f"{table.title[:60]!r} does not show how much a sample loads;"
            f" its heading needs a column {entry.loaded}, in bytes"
        )
    return loads


def _counted(table: StudyTable) -> str | None:
    """Return the counter of a table without a heading, if title or description name only one."""
    suffix = COUNTED.search(table.title)
    if suffix:
        return suffix[1]
    words = set(re.findall(r"[a-z]+", f"{table.title} {table.about}".lower())) & COLUMNS.keys()
    return words.pop() if len(words) == 1 else None


STUDY = Context(
    kernel=Kernel(name="Tock 1.x (study 2021)"),
    board=Board(name="nexysvideo", machine="nexysvideo", clock_hz=10_000_000, timing="hardware"),
    abi=1,
)


def parse(log: Path, catalogue: Catalogue, own: bool = False) -> Result:
    """Read a log and return its result. `own`: the study took it. TockmarkError if it has no such
    tables, or if none of them can be used."""
    text = read_log(log)
    if not recognise(text):
        raise TockmarkError(
            f"{shown(log)} is not a log of the 2021 study",
            "use `tockmark board parse` for other logs",
        )
    parsed = measured(text, printable_text(log.stem), own)
    if not any(series_names(row) for _, app in parsed.each() for row in app.rows):
        why = f": {parsed.problems[0]}" if parsed.problems else ""
        raise TockmarkError(
            f"nothing in {printable_text(log.stem)} can be used{printable_text(why)}",
            "see the format in docs/trust.md",
        )
    return build(parsed, catalogue, STUDY if own else None)
