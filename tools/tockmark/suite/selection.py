# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Selection of rows for `--only`, limits and margins.

Terms are separated by commas. A row is selected if it matches one of them. A term that matches no
row is an error with a suggestion. A term is

    kernel, app            what a benchmark touches, by the catalogue
    syscall                a group
    syscall.command        an id, or a pattern such as 'mem.*'
    call.args:n=3          an id with some or all parameters: icache.nops:width=2,size=1024
    'call.args n=?'        the form that tables print, also with the cache: '* icache=off'
    '* lang=rust'          with the language, c or rust: 'syscall:lang=rust'
    round trip             a label of the first screen, or its first words: 'token hop'
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache

from tockmark.base.errors import TockmarkError
from tockmark.suite.catalogue import (
    HARNESS_ROWS,
    LANGS,
    Boot,
    Catalogue,
    Lang,
    Params,
    RowKey,
    RowName,
    row_key,
    row_name,
)

TOUCHES = ("kernel", "app")
SETTINGS = [(icache, lang) for icache in (True, False, None) for lang in LANGS]
MAX_NAMES, MAX_ROWS = 3, 12  # similar names, and rows of one name, in a suggestion


@dataclass(frozen=True)
class Selection:
    """Terms and their catalogue. Without terms it includes all rows."""

    catalogue: Catalogue
    terms: tuple[str, ...] = ()
    no_app: bool = False  # excludes rows that touch only the app
    within: Mapping[Lang, "Selection"] = field(default_factory=dict)  # applied also, by language

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(
        self, id_: str, params: Params, icache: bool | None = None, lang: Lang = "c"
    ) -> bool:
        """Return whether a row is selected."""
        if lang in self.within and not self.within[lang].matches(id_, params, icache, lang):
            return False
        benchmark = self.catalogue.benchmarks.get(id_)
        if self.no_app and benchmark is not None and benchmark.touches == "app":
            return False
        return not self.terms or any(
            self._matches_term(term, id_, params, icache, lang) for term in self.terms
        )

    def includes(self, row: RowName) -> bool:
        """Return whether a row of a result or a history is selected."""
        return self.matches(row.id, row.params, row.icache, row.lang)

    def _matches_term(
        self, term: str, id_: str, params: Params, icache: bool | None, lang: Lang
    ) -> bool:
        head, *pairs = _words(term) or ("",)
        benchmark = self.catalogue.benchmarks.get(id_)
        if head in TOUCHES:
            matches = benchmark is not None and benchmark.touches == head
        else:
            matches = head == id_.partition(".")[0] or fnmatchcase(id_, head)
        if not matches or not pairs:  # the quick answer for most rows
            return matches
        values = {*row_name(id_, params, icache, lang).split(" ")[1:], f"lang={lang}"}
        return all(any(fnmatchcase(text, pair) for text in values) for pair in pairs)

    def for_further_layouts(self) -> "Selection":
        """Return the selection for further layouts, without rows that touch only the app."""
        return replace(self, no_app=True)

    def rows(self, langs: Iterable[Lang] = LANGS) -> list[tuple[str, Params]]:
        """Return the selected rows of the catalogue in these languages, with any cache setting."""
        langs = set(langs)
        settings = [(icache, lang) for icache, lang in SETTINGS if lang in langs]
        every = self.catalogue.rows(self.catalogue.benchmarks)
        return [
            (i, params) for i, params in every if any(self.matches(i, params, *s) for s in settings)
        ]

    def ids(self, langs: Iterable[Lang] = LANGS) -> list[str]:
        """Return the benchmarks with a selected row, in the catalogue's order."""
        return list(dict.fromkeys(id_ for id_, _ in self.rows(langs)))

    def boots(self, lang: Lang, icaches: Iterable[bool | None] = (True, False, None)) -> list[Boot]:
        """Return the boots with selected rows in this language and these cache settings, each
        reduced to the benchmarks with selected rows."""
        boots = []
        for boot in self.catalogue.boots():
            own: list[tuple[str, Params]] = [
                (id_, {}) for id_ in boot.measures if id_ in HARNESS_ROWS
            ]
            ids = {
                id_
                for id_, params in (*own, *self.catalogue.measured_rows(boot))
                if any(self.matches(id_, params, icache, lang) for icache in icaches)
            }
            # Another catalogue may have no app in this language.
            benchmarks = self.catalogue.benchmarks
            own_ids = ids - HARNESS_ROWS if self.catalogue.name else set()
            if own_ids and all(benchmarks[id_].skipped_in(lang) for id_ in own_ids):
                continue
            if ids:
                boots.append(self.catalogue.narrowed(boot, ids))
        return boots


def select(
    catalogue: Catalogue, text: str | None, others: Iterable[tuple[str, Params]] = ()
) -> Selection:
    """Return the selection of --only; None selects all rows.

    TockmarkError with a suggestion if a term matches no row of the catalogue or of `others`."""
    terms = tuple(t for term in _split(text or "") for t in _expand_label(term, catalogue))
    if text is not None and not terms:
        raise TockmarkError(f"'{text}' names nothing", HELP)
    rows = [*catalogue.rows(catalogue.benchmarks), *others]
    for previous, term in zip(("", *terms), terms, strict=False):
        selection = Selection(catalogue, (term,))
        if not any(selection.matches(id_, params, *s) for id_, params in rows for s in SETTINGS):
            raise TockmarkError(f"'{term}' names no row", _suggest(term, catalogue, rows, previous))
    return Selection(catalogue, terms)


HELP = "give ids, groups, patterns or labels, separated by commas; `tockmark list` shows all"


def _expand_label(term: str, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the terms of the labels of the first screen that start with this term; the term itself
    if no label does, or if it is a group or an id."""
    words = term.lower()
    if words in (*catalogue.benchmarks, *catalogue.groups(), *TOUCHES):
        return (term,)
    rows = tuple(row for label, row in LABELS.items() if f"{label} ".startswith(f"{words} "))
    return (LABELS[words],) if words in LABELS else rows or (term,)


def single_row(catalogue: Catalogue, text: str) -> tuple[str, Params]:
    """Return the only row that a term selects. TockmarkError if there is not exactly one."""
    rows = select(catalogue, text).rows()
    if len(rows) != 1:
        shown = ", ".join(_as_term(id_, params) for id_, params in rows)
        raise TockmarkError(f"'{text}' names {len(rows)} rows", f"choose from: {shown}")
    return rows[0]


def _split(text: str) -> tuple[str, ...]:
    """Split at commas, except those between the parameters of one term."""
    terms: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if terms and len(_words(terms[-1])) > 1 and re.fullmatch(r"\w+=\S+", part):
            terms[-1] += f",{part}"
        else:
            terms.append(part)
    return tuple(terms)


@cache
def _words(term: str) -> tuple[str, ...]:
    """Return the parts of a term: id or group, then the parameters."""
    return tuple(word for word in re.split("[:, ]", term) if word)


def _as_term(id_: str, params: Params) -> str:
    return ":".join(filter(None, [id_, ",".join(f"{n}={v}" for n, v in params.items())]))


def _suggest(term: str, catalogue: Catalogue, rows: list[tuple[str, Params]], previous: str) -> str:
    """Return a suggestion for a term that matches none of these rows."""
    head, *pairs = _words(previous) or [""]
    if pairs:  # another value of its last parameter
        pairs[-1] = f"{pairs[-1].partition('=')[0]}={term}"
        other = f"{head}:{','.join(pairs)}"
        if any(Selection(catalogue, (other,)).matches(id_, params) for id_, params in rows):
            return f"a parameter has one value: write '{previous},{other}'"
    head = (_words(term) or [""])[0]
    selection = Selection(catalogue, (head,))
    terms = list(dict.fromkeys(_as_term(*row) for row in rows if selection.matches(*row)))
    if terms:  # the parameters are wrong
        more = f", and {len(terms) - MAX_ROWS} more" if len(terms) > MAX_ROWS else ""
        return f"'{head}' has {', '.join(terms[:MAX_ROWS])}{more}"
    ids = dict.fromkeys(id_ for id_, _ in rows)
    names = [*ids, *catalogue.groups(), *TOUCHES]
    starts = {label[: len(term)]: label for label in reversed(LABELS)}
    near = similar_names(head, names) or [starts[start] for start in similar_names(term, starts)]
    if not near:  # perhaps the part after the dot is right
        near = [name for name in ids if head.rpartition(".")[2] in name.split(".")][:MAX_NAMES]
    return f"did you mean {' or '.join(near)}?" if near else HELP


def similar_names(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that are similar to a word."""
    return difflib.get_close_matches(word.lower(), list(names), MAX_NAMES, 0.6)


def split_names(option: str, text: str | None, names: Iterable[str]) -> list[str]:
    """Return the names in an option's comma-separated value, in the order of `names`.

    Without a value return all names. TockmarkError for an unknown name."""
    every = list(names)
    choices = f"choose from: {', '.join(every)}"
    if text is None:
        return every
    chosen = [name for part in text.split(",") if (name := part.strip())]
    for name in chosen:
        if name not in every:
            near = similar_names(name, every)
            todo = f"did you mean {' or '.join(near)}?" if near else choices
            raise TockmarkError(f"--{option}: there is no '{name}'", todo)
    if not chosen:
        raise TockmarkError(f"--{option} '{text}' names nothing", choices)
    return [name for name in every if name in chosen]


Blocks = dict[str, dict[str, RowKey]]  # by heading: labels and their rows

SCREEN = {
    "System calls": {
        "command": "syscall.command",
        "command to no driver": "syscall.command_absent",
        "yield-no-wait": "syscall.yield_no_wait",
        "subscribe": "syscall.subscribe",
        "allow-ro 64 B": "syscall.allow_ro:size=64",
        "allow-rw 64 B": "syscall.allow_rw:size=64",
        "memop": "syscall.memop",
        "sbrk": "syscall.sbrk",
        "console write 64 B": "console.write:size=64",
    },
    "Upcalls, switching, latency": {
        "upcall": "upcall.yield_wait",
        "token hop 2 processes": "ctx.ring:processes=2,kib=0",
        "token hop 4 with 4 KiB": "ctx.ring:processes=4,kib=4",
        "irq to upcall asleep": "irq.upcall:core=asleep",
        "irq to upcall busy": "irq.upcall:core=busy",
        "reset to first app": "boot.per_process:apps=1",
    },
    "IPC": {
        "one way": "ipc.client_to_server",
        "round trip": "ipc.round_trip",
        "discover": "ipc.discover_hit:part=all",
        "share": "ipc.share",
        "message of 4 KiB": "ipc.bandwidth:size=4096",
    },
    "Processor and memory (no kernel)": {
        "procedure call": "call.void",
        "loop iteration": "loop.empty",
        "list node in RAM": "mem.latency:stride=64",
        "memcpy 4 KiB": "mem.copy_memcpy:size=4096",
        "chained flash load": "flash.latency:to=next",
    },
}


LABELS = {label: term for rows in SCREEN.values() for label, term in rows.items()}


@cache
def screen(catalogue: Catalogue) -> Blocks:
    """Return the rows of the first screen."""
    return {
        title: {words: row_key(*single_row(catalogue, term)) for words, term in rows.items()}
        for title, rows in SCREEN.items()
    }


def short_selection(catalogue: Catalogue) -> Selection:
    """Return the rows of `--short`: the first screen, and the rows whose body is compiled, so that
    it differs between languages."""
    compiled = [
        b.id
        for b in catalogue.benchmarks.values()
        if not (b.bodies or b.alike or b.by == "mark" or b.id in HARNESS_ROWS)
    ]
    return Selection(catalogue, (*LABELS.values(), *compiled))
