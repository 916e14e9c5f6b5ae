# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which rows a user means: the one matcher behind every `--only`, and behind limits and margins.

Terms stand between commas; a row is meant if one of them fits it. A term is

    kernel, app            what the catalogue says that a benchmark touches
    syscall                a group
    syscall.command        an id, or a pattern such as 'mem.*'
    call.args:n=3          one with its parameters, some or all: icache.nops:width=2,size=1024
    'call.args n=?'        the same as tables write it, also with the cache: '* icache=off'
    '* lang=rust'          and with the language, which is c or rust: 'syscall:lang=rust'
    round trip             a label of the first screen, or its beginning: 'token hop'
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache

from tockmark.base.errors import TockmarkError
from tockmark.suite.catalogue import (
    LANGS,
    OF_BOOT,
    Boot,
    Catalogue,
    Lang,
    Params,
    RowKey,
    RowName,
    named,
    row_key,
)

TOUCHES = ("kernel", "app")
SETTINGS = [(icache, lang) for icache in (True, False, None) for lang in LANGS]
NEAR, SHOWN = 3, 12  # suggestions: of other names, of rows of the same name


@dataclass(frozen=True)
class Selection:
    """Terms, and the catalogue that knows what they mean. Without terms all rows are meant."""

    catalogue: Catalogue
    terms: tuple[str, ...] = ()
    no_app: bool = False  # none that touches the app only
    within: Mapping[Lang, "Selection"] = field(default_factory=dict)  # and of these languages this

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(
        self, id_: str, params: Params, icache: bool | None = None, lang: Lang = "c"
    ) -> bool:
        """Return whether a row is meant."""
        if lang in self.within and not self.within[lang].matches(id_, params, icache, lang):
            return False
        known = self.catalogue.benchmarks.get(id_)
        if self.no_app and known is not None and known.touches == "app":
            return False
        return not self.terms or any(
            self._fits(term, id_, params, icache, lang) for term in self.terms
        )

    def includes(self, row: RowName) -> bool:
        """Return whether a row of a result, or of a history, is meant."""
        return self.matches(row.id, row.params, row.icache, row.lang)

    def _fits(self, term: str, id_: str, params: Params, icache: bool | None, lang: Lang) -> bool:
        head, *pairs = _words(term) or ("",)
        known = self.catalogue.benchmarks.get(id_)
        if head in TOUCHES:
            meant = known is not None and known.touches == head
        else:
            meant = head == id_.partition(".")[0] or fnmatchcase(id_, head)
        if not meant or not pairs:  # of most rows this is all that has to be asked
            return meant
        said = {*named(id_, params, icache, lang).split(" ")[1:], f"lang={lang}"}
        return all(any(fnmatchcase(text, pair) for text in said) for pair in pairs)

    def for_further_layouts(self) -> "Selection":
        """Return what layouts beyond the first are run for: rows that touch the app only are
        measured in the first."""
        return replace(self, no_app=True)

    def rows(self, langs: Iterable[Lang] = LANGS) -> list[tuple[str, Params]]:
        """Return the rows of the catalogue that are meant in one of these languages, with whichever
        cache setting."""
        langs = set(langs)
        settings = [(icache, lang) for icache, lang in SETTINGS if lang in langs]
        every = self.catalogue.rows(self.catalogue.benchmarks)
        return [
            (i, params) for i, params in every if any(self.matches(i, params, *s) for s in settings)
        ]

    def ids(self, langs: Iterable[Lang] = LANGS) -> list[str]:
        """Return the benchmarks of which some row is meant, in the catalogue's order."""
        return list(dict.fromkeys(id_ for id_, _ in self.rows(langs)))

    def boots(self, lang: Lang, icaches: Iterable[bool | None] = (True, False, None)) -> list[Boot]:
        """Return the boots that give some row which is meant, in this language with one of these
        cache settings; of their benchmarks those alone that do."""
        found = []
        for boot in self.catalogue.boots():
            own: list[tuple[str, Params]] = [(id_, {}) for id_ in boot.measures if id_ in OF_BOOT]
            ids = {
                id_
                for id_, params in (*own, *self.catalogue.rows_given(boot))
                if any(self.matches(id_, params, icache, lang) for icache in icaches)
            }
            # A program of another catalogue has no app in a language that it is not written in.
            known = self.catalogue.benchmarks
            own_ids = ids - OF_BOOT if self.catalogue.name else set()
            if own_ids and all(known[id_].skipped_in(lang) for id_ in own_ids):
                continue
            if ids:
                found.append(self.catalogue.narrowed(boot, ids))
        return found


def select(
    catalogue: Catalogue, text: str | None, others: Iterable[tuple[str, Params]] = ()
) -> Selection:
    """Return what --only means; None means all rows. A term that fits no row of the catalogue, nor
    of the `others` that results have besides, is refused with a suggestion."""
    terms = tuple(one for term in _split(text or "") for one in _of_label(term, catalogue))
    if text is not None and not terms:
        raise TockmarkError(f"'{text}' names nothing", HELP)
    there = [*catalogue.rows(catalogue.benchmarks), *others]
    for before, term in zip(("", *terms), terms, strict=False):
        one = Selection(catalogue, (term,))
        if not any(one.matches(id_, params, *s) for id_, params in there for s in SETTINGS):
            raise TockmarkError(f"'{term}' names no row", _suggest(term, catalogue, there, before))
    return Selection(catalogue, terms)


HELP = "give ids, groups, patterns or labels, separated by commas; `tockmark list` shows all"


def _of_label(term: str, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the terms of the labels of the first screen that begin with these words; the term
    itself if it is a group or an id, or begins no label."""
    words = term.lower()
    if words in (*catalogue.benchmarks, *catalogue.groups(), *TOUCHES):
        return (term,)
    meant = tuple(row for label, row in LABELS.items() if f"{label} ".startswith(f"{words} "))
    return (LABELS[words],) if words in LABELS else meant or (term,)


def single_row(catalogue: Catalogue, text: str) -> tuple[str, Params]:
    """Return the one row that a term names, with all its parameters."""
    rows = select(catalogue, text).rows()
    if len(rows) != 1:
        shown = ", ".join(_as_term(id_, params) for id_, params in rows)
        raise TockmarkError(f"'{text}' names {len(rows)} rows", f"choose one of: {shown}")
    return rows[0]


def _split(text: str) -> tuple[str, ...]:
    """Split at the commas; what only adds a parameter to the term before belongs to that."""
    terms: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if terms and len(_words(terms[-1])) > 1 and re.fullmatch(r"\w+=\S+", part):
            terms[-1] += f",{part}"
        else:
            terms.append(part)
    return tuple(terms)


@cache
def _words(term: str) -> tuple[str, ...]:
    """Return the id or group, and the parameters."""
    return tuple(word for word in re.split("[:, ]", term) if word)


def _as_term(id_: str, params: Params) -> str:
    return ":".join(filter(None, [id_, ",".join(f"{n}={v}" for n, v in params.items())]))


def _suggest(term: str, catalogue: Catalogue, there: list[tuple[str, Params]], before: str) -> str:
    """Return what may have been meant."""
    head, *pairs = _words(before) or [""]
    if pairs:  # another value of its last parameter
        pairs[-1] = f"{pairs[-1].partition('=')[0]}={term}"
        other = f"{head}:{','.join(pairs)}"
        if any(Selection(catalogue, (other,)).matches(id_, params) for id_, params in there):
            return f"a parameter has one value: write '{before},{other}'"
    head = (_words(term) or [""])[0]
    one = Selection(catalogue, (head,))
    rows = list(
        dict.fromkeys(_as_term(id_, params) for id_, params in there if one.matches(id_, params))
    )
    if rows:  # the parameters are wrong
        more = f", and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        return f"'{head}' has {', '.join(rows[:SHOWN])}{more}"
    ids = dict.fromkeys(id_ for id_, _ in there)
    names = [*ids, *catalogue.groups(), *TOUCHES]
    begun = {label[: len(term)]: label for label in reversed(LABELS)}
    near = similar_names(head, names) or [begun[one] for one in similar_names(term, begun)]
    if not near:  # the part behind the dot may be right
        near = [name for name in ids if head.rpartition(".")[2] in name.split(".")][:NEAR]
    return f"did you mean {' or '.join(near)}?" if near else HELP


def similar_names(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that are written much like a word."""
    return difflib.get_close_matches(word.lower(), list(names), NEAR, 0.6)


def split_names(what: str, text: str | None, names: Iterable[str]) -> list[str]:
    """Return the names that stand between commas in an option's value, in their own order; all if
    it is not given."""
    every = list(names)
    if text is None:
        return every
    given = [name for part in text.split(",") if (name := part.strip())]
    for name in given:
        if name not in every:
            near = similar_names(name, every)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(every)}"
            raise TockmarkError(f"there is no {what} '{name}'", hint)
    if not given:
        raise TockmarkError(f"--{what} '{text}' names nothing", f"there are {', '.join(every)}")
    return [name for name in every if name in given]


Blocks = dict[str, dict[str, RowKey]]  # a heading; below it words, and the row that they stand for

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


def screen(catalogue: Catalogue) -> Blocks:
    """Return the rows that people ask for first: those of the first screen."""
    return {
        title: {words: row_key(*single_row(catalogue, term)) for words, term in rows.items()}
        for title, rows in SCREEN.items()
    }


def short(catalogue: Catalogue) -> Selection:
    """Return what tells languages apart, for `--short`: the rows of the first screen, and those
    whose body a compiler makes."""
    compiled = [
        one.id
        for one in catalogue.benchmarks.values()
        if not (one.bodies or one.alike or one.by == "mark" or one.id in OF_BOOT)
    ]
    return Selection(catalogue, (*LABELS.values(), *compiled))
