# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The logs of the 2021 study: text tables under titles, to measured rows.

    ### RESULTS ###
    benchmark: a title, which may go on
               over several lines
    description: text, likewise
    Test 1: one of several tables under the title
    run, cycles, further columns
    0, 7271, …

These logs carry no checksums, so the form is all that can be checked, and it is checked strictly:
samples count up from 0 without a gap, rows have the columns of their heading, values can be a time.
What does not fit is named with its line and left out, with the whole table that it stands in.
docs/study.md has the rules; study.toml says which title is which benchmark of the catalogue.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

import msgspec

from tockmark.log.measured import App, Booted, Measured, RawRow
from tockmark.log.protocol import MAX_SAMPLES, Problem
from tockmark.suite.catalogue import OVERHEAD, Params

MOST_LINES = 20  # of a title or a description: it stands above each of its tables
LONGEST = 2**31 - 1  # cycles, 215 s: more is a difference below zero, printed unsigned
COLUMNS = {"cycles": "cycles", "instructions": "instret"}

_TITLE = re.compile(r"benchmark\s*:\s*(.*)")
_ABOUT = re.compile(r"description\s*:\s*(.*)")
_TEST = re.compile(r"Test\s+\d+\s*:\s*(.*)")
_FACT = re.compile(r"[A-Z][A-Za-z ]*: *-?\d+")
_HEADING = re.compile(r"(?:[a-z_]+\s*,\s*)*run\s*,.*")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?\d[\d.]*")
_CELL = re.compile(r"0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?")
_PARAM = re.compile(r"\d{1,9}")
_COUNTED = re.compile(r"_(cycles|instructions)(?=$|,|:)")
_PARAMS = re.compile(r", ([a-z][a-z_ ]*) (\d{1,9})$")


@dataclass
class Table:
    """One table of a log: the columns that count something, sample by sample."""

    title: str
    about: str  # the description that goes with it
    line: int
    columns: list[str]
    params: list[str] = field(
        default_factory=list
    )  # what stands before `run`, the same in each row
    series: dict[str, list[int]] = field(default_factory=dict)
    impossible: list[str] = field(default_factory=list)  # samples that cannot be, in words
    rows: int = 0
    between: list[str] | None = None  # its cells, the same in every row
    broken: bool = False  # something in it does not fit: it is named, and the table left out

    @property
    def before_run(self) -> int:
        """How many columns stand before the number of the sample."""
        return self.columns.index("run") if "run" in self.columns else 0


@dataclass(frozen=True)
class Name:
    """What a title is called here."""

    id: str
    params: Params
    samples: int | None = None
    inner: int = 1
    counts: str | None = None
    note: str | None = None


class Titled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A title of the study's, or a pattern of titles, and what is behind it."""

    title: str = msgspec.field(name="is")
    id: str
    samples: int | None = None
    inner: int = 1
    counts: str | None = None
    note: str | None = None


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What study.toml says."""

    overhead: dict[str, int]
    remarks: list[str]
    benchmark: list[Titled]


def facts() -> Facts:
    """The same, read."""
    text = files("tockmark.log").joinpath("study.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Facts)


def recognise(text: str) -> bool:
    """Whether a text is such a log: it has a title, and no line of our protocol."""
    titled = re.search(r"^[ \t]*benchmark[ \t]*:", text, re.MULTILINE)
    return titled is not None and "#tm " not in text


def name(title: str, known: Facts) -> Name:
    """The benchmark of a title; a title that is not known becomes `study.<its words>`."""
    bare = _COUNTED.sub("", title)
    for entry in known.benchmark:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d{1,9})", re.escape(entry.title))
        match = re.fullmatch(pattern, bare)
        if match:
            params: Params = {key: int(value) for key, value in match.groupdict().items()}
            return Name(entry.id, params, entry.samples, entry.inner, entry.counts, entry.note)
    found: Params = {}
    while match := _PARAMS.search(bare):
        bare = bare[: match.start()]
        found = {match[1].replace(" ", "_"): int(match[2]), **found}
    slug = re.sub(r"[^a-z0-9]+", "_", bare.lower())[:80].strip("_")
    return Name(f"study.{slug or 'untitled'}", found)


def _is_row(text: str) -> bool:
    """Whether a line is a sample: whole numbers, and from the second on others and addresses, too,
    with a comma or a tab between them. No one regular expression: it would try each way to share
    out blanks."""
    cells, between = _NUMBER.findall(text), _NUMBER.split(text)
    return (
        len(cells) > 1
        and between.pop(0) == ""
        and between.pop() in ("", ",")
        and cells[0].lstrip("-").isdecimal()
        and all(_CELL.fullmatch(cell) for cell in cells)
        and all(part.strip() == "," or (part.isspace() and "\t" in part) for part in between)
    )


class Reader:
    """Takes a log line by line and makes tables of it."""

    def __init__(self, remarks: list[str]) -> None:
        self.tables: list[Table] = []
        self.problems: list[Problem] = []
        self._remarks = [re.sub(r"\\{\w+\\}", r"-?\\d+", re.escape(r)) for r in remarks]
        self._title: list[str] | None = None  # None until the first one
        self._about: list[str] = []
        self._test = ""
        self._mode = ""  # what a line of plain text continues: title, about, or nothing
        self._table: Table | None = None
        self._number = 0

    def feed(self, raw: str) -> None:
        """Take one line."""
        self._number += 1
        text = raw.strip()
        if not text:
            return
        if text == "### RESULTS ###":
            self.finish()
            self._title, self._about, self._test, self._mode = None, [], "", ""
        elif match := _TITLE.fullmatch(text):
            self.finish()
            self._title, self._about, self._test, self._mode = [match[1]], [], "", "title"
        elif _TITLE.search(text):
            self._torn_title(text)
        elif match := _ABOUT.fullmatch(text):
            self.finish()
            self._about, self._mode = [match[1]], "about"
        elif _is_row(text) and raw.endswith(text):  # a blank behind may have been a digit
            self._row(text)
        elif match := _TEST.fullmatch(text):
            self.finish()
            self._test, self._mode = match[1], ""
        elif _HEADING.fullmatch(text):
            self._heading(text)
        else:
            self._text(text)

    def _text(self, text: str) -> None:
        """A line that is none of the known: part of a title, a remark, or out of place."""
        if self._mode and not _FACT.fullmatch(text):
            part = self._title if self._mode == "title" else self._about
            if part is not None and len(part) < MOST_LINES:
                part.append(text)
        elif self._mode or not re.search(r"\d", text):
            return  # a fact like "Run length: 7936", or words
        elif self._title is None and not self.tables:
            return  # what the kernel says before the first benchmark
        elif any(re.fullmatch(pattern, text) for pattern in self._remarks):
            return
        elif self._table is not None and not self._table.broken and not text[0].isalpha():
            self._break(f"{text[:40]!r} is no sample")
        else:
            self._problem(f"cannot place {text[:60]!r}; take the line out if it measures nothing")

    def _torn_title(self, text: str) -> None:
        """A title behind the rest of another line: whose tables follow is not known."""
        if self._table is not None and not self._table.broken:
            self._break(f"a title within the line {text[:40]!r}")
        self.finish()
        self._title, self._about, self._test, self._mode = None, [], "", ""

    def _heading(self, text: str) -> None:
        self.finish()
        self._mode = ""
        columns = [column.strip().lower() for column in text.split(",")]
        counted = [column for column in columns if column in COLUMNS]
        self._open(columns)
        if self._table is None:
            return
        if not counted or len(set(counted)) != len(counted):
            self._break(f"the heading {text[:60]!r} must name cycles or instructions, each once")
        said = _COUNTED.search(self._table.title)
        if said and counted and said[1] not in counted:
            self._break(f"the title counts {said[1]}, but the heading {', '.join(counted)}")

    def _row(self, text: str) -> None:
        self._mode = ""
        cells = _NUMBER.findall(text)
        if self._table is None:
            self._open([])
        table = self._table
        if table is not None and (at := table.before_run) and len(cells) == len(table.columns):
            table = self._of_params(table, cells[:at])
        if table is None or table.broken:
            return
        if not table.columns:
            if len(cells) != 2:
                self._break(f"{len(cells)} columns without a heading like 'run, cycles'")
                return
            table.columns = ["run", ""]
        if len(cells) != len(table.columns):
            self._break(f"{len(cells)} columns, but {len(table.columns)} in the rows or heading")
        elif (between := _NUMBER.split(text)) != (table.between or between):
            self._break(f"{text[:40]!r} has other separators than the samples above")
        elif (run := cells[table.before_run]) != str(table.rows):
            self._break(f"sample {table.rows} expected, but sample {run[:20]} found")
        elif table.rows >= MAX_SAMPLES:
            self._break(f"more than {MAX_SAMPLES} samples in one table")
        else:
            table.between = between
            self._sample(table, cells)

    def _of_params(self, table: Table, params: list[str]) -> Table | None:
        """The table with these parameters, which stand before `run`: this one, or a new one of the
        same heading."""
        if params == table.params:
            return table
        if table.rows:
            self.finish()
        self._open(table.columns, params)
        if not all(map(_PARAM.fullmatch, params)):
            self._break(f"{', '.join(params)[:40]!r} is not what a table can be of")
        return self._table

    def _sample(self, table: Table, cells: list[str]) -> None:
        first = table.before_run + 1
        for column, cell in zip(table.columns[first:], cells[first:], strict=True):
            if column and column not in COLUMNS:
                continue
            if not cell.lstrip("-").isdecimal() or len(cell) > 20:
                self._break(f"{cell[:30]} is not a whole number of {column or 'anything'}")
                return
            value = int(cell)
            if 0 <= value <= LONGEST:
                table.series.setdefault(column, []).append(value)
            else:
                cold = ", the cold one" if table.rows == 0 else ""
                table.impossible.append(
                    f"sample {table.rows}{cold}, is {value}: no time, but a counter less something"
                    " never set; it is left out"
                )
        table.rows += 1

    def _open(self, columns: list[str], params: Sequence[str] = ()) -> None:
        if self._title is None:
            self._problem("a table without a title; put 'benchmark: <what it is>' above it")
            title, broken = "", True
        else:
            title, broken = " ".join(part for part in self._title if part), False
            title = f"{title}: {self._test}" if self._test else title
            title += "".join(
                f", {name} {value}" for name, value in zip(columns, params, strict=False)
            )
        about = " ".join(self._about)
        self._table = Table(title, about, self._number, columns, list(params), broken=broken)

    def cut(self) -> None:
        """The last line has no end: if it is a sample, some of its digits may be missing."""
        if self._table is not None and not self._table.broken:
            self._break("the last line has no line end; add one if nothing is missing")

    def finish(self) -> None:
        """The table is over: keep it if all of it fits."""
        table, self._table = self._table, None
        if table is None or table.broken:
            return
        if table.rows == 0:
            self._problem(f"no samples under {table.title[:60]!r}", table.line)
            return
        self.tables.append(table)

    def _break(self, what: str) -> None:
        assert self._table is not None
        title = self._table.title[:60]
        self._problem(f"{what}; the table {title!r} of line {self._table.line} is left out")
        self._table.broken = True

    def _problem(self, what: str, line: int | None = None) -> None:
        self.problems.append(Problem(None, what, line or self._number))


def measured(text: str, log: str) -> Measured:
    """The rows of a log, as one boot of one app named after it. A log that has no time.read gets
    the study's own, taken from its time.log, so that it can be subtracted."""
    known = facts()
    reader = Reader(known.remarks)
    if text.count("\r\n") == text.count("\n"):  # all of them, as some terminals write them
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    for line in lines:
        reader.feed(line)
    if lines[-1].strip():
        reader.cut()
    reader.finish()
    app = App(log, {"apps": "1", "format": "log of the 2021 study"})
    found = Measured([Booted(f"study-{log}", False, apps={log: app})], reader.problems)
    for table in reader.tables:
        try:
            row = _place(table, app, name(table.title, known))
        except ValueError as error:
            found.problems.append(Problem(None, str(error), table.line))
        else:
            row.faults += table.impossible
    if app.rows and not any(row.id == OVERHEAD for row in app.rows) and app.begin:
        read = {name: [cost, cost] for name, cost in known.overhead.items()}
        reading = RawRow(app.name, OVERHEAD, {}, 1, 2, series=read)
        app.found = {reading.key(): reading, **app.found}
        app.begin["overhead"] = "that of the study's time.log"
    strangers = [row.id for row in app.rows if row.id.startswith("study.")]
    if strangers and app.begin:
        app.begin["unknown_titles"] = ", ".join(dict.fromkeys(strangers))
    return found


def _place(table: Table, app: App, named: Name) -> RawRow:
    """Add a table to the row that it belongs to, or make one."""
    series = {}
    for column, samples in table.series.items():
        counted = column or named.counts or _said(table)
        if counted is None:
            raise ValueError(
                f"{table.title[:60]!r} does not say what it counts;"
                " put 'run, cycles' or 'run, instructions' above its samples"
            )
        series[COLUMNS[counted]] = samples
    if named.samples is not None and table.rows != named.samples:
        raise ValueError(
            f"{table.title[:60]!r} has {table.rows} samples, the study took {named.samples};"
            " it is left out: capture the log again"
        )
    row = RawRow(app.name, named.id, named.params, named.inner, table.rows, series=series)
    same = app.found.setdefault(row.key(), row)
    if same is row:
        return row
    if series.keys() & same.series.keys():
        raise ValueError(f"{table.title[:60]!r} was measured before; the first is kept")
    same.series |= series
    return same


def _said(table: Table) -> str | None:
    """What a table without a heading counts, if its title or description says just one thing."""
    suffix = _COUNTED.search(table.title)
    if suffix:
        return suffix[1]
    words = set(re.findall(r"[a-z]+", f"{table.title} {table.about}".lower())) & COLUMNS.keys()
    return words.pop() if len(words) == 1 else None
