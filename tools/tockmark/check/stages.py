# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the log of a bundle shows of a board, by stage, and the report on it.

reached    each boot was loaded and said its begin
readable   no line of a boot is torn, lost or said anew after a reset
complete   each boot gave all its rows
counts     rows have the simulator's instructions
times      rows are within the bounds that the simulator claims (boards/earlgrey-sim/bounds.toml)

The simulator runs the very images of the bundle; what it ran before comes from the cache. A stage
before which nothing was left to look at is not known.
"""

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec

from tockmark import paths
from tockmark.compare.agree import Agreement, AgreePair, agree
from tockmark.compare.limits import load_bounds
from tockmark.errors import INCOMPLETE, OK, TockmarkError, one_line
from tockmark.log.protocol import BootMark, Cut, decode
from tockmark.log.rows import assemble
from tockmark.result.build import result_of
from tockmark.result.model import Result
from tockmark.rig import board as boards
from tockmark.rig import run
from tockmark.rig.board import BoardProfile
from tockmark.rig.boot_watcher import Watch, decode_line
from tockmark.rig.bundle import Bundle
from tockmark.rig.capture import ENDED, Captured, CaptureLine, Loading, captured
from tockmark.rig.image import AppBuild
from tockmark.rig.image_folder import LaidBoot
from tockmark.rig.kernel import run_layouts
from tockmark.rig.kinds.file import FileTarget, read
from tockmark.show import comparison
from tockmark.show import text as words
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import ICACHE, Catalogue
from tockmark.suite.selection import Selection

HOLDS = {True: "yes", False: "NO", None: "not known"}
UNSAID = "not said"
FIRST = 5  # lines of a board before its apps speak
MOST = 20  # faults of a stage that are shown; JSON has them all
_LEFT = TableColumn(left=True)


@dataclass(frozen=True)
class HeardBoot:
    """One boot of the bundle, and what the log has of it."""

    laid: LaidBoot
    loading: Loading | None  # None: the log does not say that it was loaded
    watch: Watch
    problems: tuple[str, ...]  # torn, lost, said anew
    intact: int  # lines of the protocol
    torn: int
    note: str | None  # why it is not whole

    @property
    def name(self) -> str:
        """What the script calls it."""
        return f"{self.laid.lang}/{self.laid.name}"

    @property
    def silent(self) -> str | None:
        """Why it was not reached, if so."""
        watch, loading = self.watch, self.loading
        if watch.began:
            return None
        if loading is not None and loading.failed:
            return f"not loaded: {loading.failed}"
        if watch.other is not None:
            return f"the boot {watch.other} spoke, of another image"
        if watch.noise > watch.messages:
            return "only noise came: was the rate of the port right?"
        if watch.messages:
            return "only the kernel spoke"
        return "loaded, and said nothing" if loading else "it is not in the log"


@dataclass(frozen=True)
class BoardStage:
    """One stage: whether it holds, in counts, and what does not."""

    name: str
    good: bool | None  # None: there was nothing to look at
    told: str
    faults: tuple[str, ...] = ()
    rows: tuple[AgreePair, ...] = ()  # those that are not as they should be


@dataclass(frozen=True)
class Staged:
    """A log, held against its bundle and the simulator."""

    bundle: Bundle
    log: str
    held: Captured
    heard: tuple[HeardBoot, ...]
    board: Result
    sim: Result
    agreement: Agreement | None  # None: no row can be compared

    @cached_property
    def stages(self) -> tuple[BoardStage, ...]:
        """The stages, in their order."""
        return self._reached(), self._readable(), self._complete(), self._counts(), self._times()

    @property
    def exit_code(self) -> int:
        """0 if all stages hold."""
        return OK if all(stage.good for stage in self.stages) else INCOMPLETE

    @property
    def headline(self) -> str:
        """How far the board agrees, in one line."""
        bad = [stage.name for stage in self.stages if not stage.good]
        name, many = self.bundle.about.board, len(self.stages)
        if not bad:
            return f"{name} agrees with the simulator: all {many} stages hold"
        return f"{name}: {many - len(bad)} of {many} stages hold; not {', '.join(bad)}"

    @property
    def again(self) -> str | None:
        """What the person at the board may do about boots that are not whole."""
        bad = [one.name for one in self.heard if one.silent or one.problems or one.note]
        return f"python3 run.py --port PORT --resume --boots {','.join(bad)}" if bad else None

    def _reached(self) -> BoardStage:
        silent = tuple(f"{one.name}: {one.silent}" for one in self.heard if one.silent)
        many = len(self.heard)
        told = f"{many - len(silent)} of {many} boots were loaded and spoke"
        again = [one for one in self.heard if one.loading and one.loading.said.attempt != 1]
        retried = sum(not one.silent for one in again)
        told += f"; {retried} not at the first attempt" if retried else ""
        return BoardStage("reached", not silent, told, silent)

    def _readable(self) -> BoardStage:
        reached = [one for one in self.heard if not one.silent]
        intact, torn = (sum(getattr(one, name) for one in reached) for name in ("intact", "torn"))
        faults = tuple(f"{one.name}: {what}" for one in reached for what in one.problems)
        told = f"{intact:,} of {intact + torn:,} lines came whole"
        return BoardStage("readable", not (faults or torn) if reached else None, told, faults)

    def _complete(self) -> BoardStage:
        board = self.board
        wrong = [
            *(f"{row.name} of {row.boot}: {row.unsound}" for row in board.rows if row.unsound),
            *(f"{one.name} of {one.boot}: {one.why or 'failed'}" for one in board.failed),
            *(f"{one.name} of {one.boot}: missing" for one in board.missing),
        ]
        sound = sum(row.sound for row in board.rows)
        told = f"{sound:,} of {sound + len(wrong):,} rows came, readings and controls among them"
        told += f"; {len(board.skipped)} skipped" if board.skipped else ""
        notes = [f"{one.name}: {one.note}" for one in self.heard if one.note and not one.silent]
        reached = any(not one.silent for one in self.heard)
        good = not (wrong or notes) if reached else None
        return BoardStage("complete", good, told, (*notes, *wrong))

    def _counts(self) -> BoardStage:
        counted = [pair for pair in self._pairs if pair.instructions is not None]
        equal = [pair for pair in counted if not pair.instructions]
        off = tuple(pair for pair in counted if abs(pair.instructions or 0) > _unsure(pair))
        told = f"{len(equal):,} of {len(counted):,} rows have the simulator's instructions"
        within = len(counted) - len(equal) - len(off)
        told += f"; {within} within what the counter may be off" if within else ""
        alone = self.agreement.lone["only_board"] if self.agreement else []
        faults = [f"{one.name}: not on the simulator: {one.why}" for one in alone]
        faults += [f"on the simulator: {why}" for why in self.sim.incomplete]
        good = not (off or faults) if counted else None
        return BoardStage("counts", good, told, tuple(faults), off)

    def _times(self) -> BoardStage:
        pairs = self._pairs
        equal = [pair for pair in pairs if not pair.off]
        unstated = [pair for pair in pairs if pair.off and pair.allowed is None]
        outside = tuple(
            pair for pair in pairs if pair.allowed is not None and abs(pair.off) > pair.allowed
        )
        within = len(pairs) - len(equal) - len(unstated) - len(outside)
        told = (
            f"{len(equal):,} of {len(pairs):,} rows take the simulator's cycles"
            f" ({sum(pair.same_samples for pair in equal):,} in every sample); {within} within"
            f" their bound, {len(outside)} outside, {len(unstated)} without one"
        )
        shown = (*outside, *unstated)
        return BoardStage("times", not outside if pairs else None, told, rows=shown)

    @property
    def _pairs(self) -> Sequence[AgreePair]:
        return self.agreement.pairs if self.agreement else ()


def _unsure(pair: AgreePair) -> int:
    return pair.bound.instructions if pair.bound else 0


def staged(bundle: Bundle, log: Path, known: Catalogue) -> Staged:
    """Hold a log against its bundle. TockmarkError if it is of another one, or if this tockmark's
    rows are others."""
    if bundle.laid.manifest.catalogue_sha256 != known.sha256:
        raise TockmarkError(
            f"the bundle for {bundle.about.board} has rows of another catalogue than this tockmark",
            f"use the one that packed it: {bundle.about.tockmark}, commit {bundle.about.commit}",
        )
    held = captured(read(log).split("\n"))
    for begin in held.begins:
        if begin.bundle != bundle.id:
            raise TockmarkError(
                f"{paths.shown(log)} was captured with another bundle than this one, for"
                f" {one_line(begin.board)}",
                "give the archive that was sent",
            )
    icache = bundle.board.target.icache
    captive = msgspec.structs.replace(bundle.board, kind="file", target=FileTarget(log, icache))
    ran, board = _run(bundle, captive, known)
    _, sim = _run(bundle, _model(bundle.board), known)
    name, found = paths.shown(log), None
    if any(row.sound for row in board.rows):
        found = agree(sim, board, name, load_bounds(bundle.board.machine, known))
    return Staged(bundle, name, held, tuple(_heard(bundle, held, ran)), board, sim, found)


def _model(board: BoardProfile) -> BoardProfile:
    """Return the simulated machine, whose UART keeps the board's pace."""
    pace = board.target.provenance(board.clock_hz)["uart_cycles_per_byte"]
    model = boards.load(boards.simulated(board.machine, by_model=True))
    return model.configured({"uart-cycles": pace})


def _run(bundle: Bundle, board: BoardProfile, known: Catalogue) -> tuple[run.Ran, Result]:
    """Run all boots of a bundle on a board, or what stands in its place."""
    laid, manifest, wanted = bundle.laid, bundle.laid.manifest, Selection(known)
    there = {(one.name, one.lang) for one in manifest.boots}
    suites = tuple(
        run.Suite(
            AppBuild(paths.APPS, manifest.abi, lang),  # nothing is linked anew
            [boot for boot in known.boots() if (boot.name, lang) in there],
            [],
        )
        for lang in laid.langs
    )
    asked = run.RunOptions(
        layouts=run_layouts([laid.kernel()], 1),
        board=board,
        suites=suites,
        catalogue=known,
        icaches=[bundle.board.target.icache],
        all_samples=manifest.samples is None,
        samples=manifest.samples,
        jobs=os.cpu_count() or 1,
        laid=laid,
    )
    ran = run.run(asked)
    if ran.interrupted:
        raise KeyboardInterrupt
    return ran, result_of(ran, asked, wanted)[0]


def _heard(bundle: Bundle, held: Captured, ran: run.Ran) -> Iterable[HeardBoot]:
    """Return what came of each boot, in the bundle's order."""
    jobs = {(job.boot.name, job.apps.lang): job for job in ran.jobs[0]}
    for laid in bundle.laid.manifest.boots:
        job = jobs[laid.name, laid.lang]
        watch = getattr(job.session, "watch", None) or Watch()
        mark = BootMark(laid.name, job.icache, job.boot.group, lang=laid.lang)
        marks = mark.encode(), replace(mark, ends=True).encode()
        read_ = assemble(decode([marks[0], *job.lines, marks[1]])) if job.lines else None
        # That it has no end is told by the job, and makes no line unreadable.
        lost = (one for one in read_.problems if not isinstance(one, Cut)) if read_ else ()
        problems = tuple(replace(one, line=None) for one in lost)
        lines = [line for line in job.lines if "#tm " in line]
        intact = sum(decode_line(line) is not None for line in lines)
        yield HeardBoot(
            laid,
            held.of_image(laid.image),
            watch,
            tuple(map(str, problems)),
            intact,
            len(lines) - intact,
            job.note,
        )


# The report.


def text(found: Staged, known: Catalogue, every: bool) -> str:
    """Show the stages, and below each what does not hold."""
    lines = [found.headline, ""]
    for stage in found.stages:
        colour = words.good if stage.good else words.bad
        holds = colour(f"{HOLDS[stage.good]:9}")
        lines += words.wrap(f"{stage.name:9} {holds}  {stage.told}", indent=" " * 21)
        for what in _some(stage.faults):
            lines += words.wrap(f"    {one_line(what)}", indent="        ")
        if stage.rows:
            table = comparison.agree_table((pair.sim.name, pair) for pair in stage.rows)
            lines += ["", *table.text(), ""]
    if every and found.agreement:
        lines += ["", *_every_row(found.agreement).text()]
    lines += [""]
    for name, value in conditions(found, known):
        lines += words.wrap(f"{name:10} {one_line(value)}", indent=" " * 11)
    if found.again:
        lines += [f"{'again':10} {found.again}"]
    return "\n".join(lines) + "\n"


def markdown(found: Staged, known: Catalogue, every: bool) -> str:
    """Write the report that can be published: stages, conditions, boots, and what does not hold."""
    columns = [TableColumn(name, left=True) for name in ("stage", "holds", "counts")]
    rows = [(stage.name, HOLDS[stage.good], stage.told) for stage in found.stages]
    heads = [TableColumn(name, left=True) for name in ("conditions", "")]
    lines = [f"# {words.prose(found.headline)}", "", *Table(columns, rows).markdown()]
    for stage in found.stages:
        if stage.faults or stage.rows:
            lines += [f"## {words.sentence(stage.name)}: what does not hold", ""]
        lines += [f"- {words.prose(one_line(what))}" for what in _some(stage.faults)]
        lines += [""] * bool(stage.faults)
        lines += comparison.agree_table((one.sim.name, one) for one in stage.rows).markdown()
    lines += ["## Conditions", "", *Table(heads, conditions(found, known)).markdown()]
    lines += ["## Boots", "", *_boots(found).markdown()]
    if found.agreement and every:
        lines += ["## Rows", "", *_every_row(found.agreement).markdown()]
    if found.agreement:
        lines += ["## Bounds", "", "The board's own spread is added to each.", ""]
        lines += [f"- {words.prose(line)}" for line in comparison.bounds_used(found.agreement)]
    return "\n".join(lines).rstrip() + "\n"


def _some(faults: Sequence[str]) -> list[str]:
    """Return the first of many faults, and how many more there are."""
    more = [f"and {len(faults) - MOST} more"] if len(faults) > MOST else []
    return [*faults[:MOST], *more]


def _every_row(found: Agreement) -> Table:
    return comparison.agree_table((pair.sim.name, pair) for pair in found.pairs)


def conditions(found: Staged, known: Catalogue) -> list[tuple[str, str]]:
    """Return under which conditions the board was heard, as far as anybody said."""
    bundle, sim, manifest = found.bundle, found.sim.provenance, found.bundle.laid.manifest
    begins = found.held.begins or [CaptureLine(0)]
    kernel, board = sim.kernel, bundle.board
    pace = sim.board.uart_cycles_per_byte
    left = sorted({id_ for one in manifest.left_out for id_ in one.rows})

    def said(name: str) -> str:
        each = dict.fromkeys(str(getattr(begin, name) or UNSAID) for begin in begins)
        return ", ".join(each)

    at = [f"{begin.at} ({begin.system}, Python {begin.python}, {begin.reader})" for begin in begins]
    return [
        ("board", f"{board.name}: {board.description}; timing: {board.timing}"),
        ("seen by", said("by")),
        ("note", said("note")),
        ("on", ", ".join(at) if found.held.begins else UNSAID),
        ("loader", ", ".join(_loaders(begins))),
        ("it said", "; ".join(_first_words(found.held)) or "nothing before its apps"),
        ("kernel", f"{kernel.title}, sha256 {kernel.sha256}; {kernel.built}"),
        (
            "images",
            f"{len(found.heard)} of tockmark {manifest.tockmark}, version {manifest.abi} of the"
            f" interface, {manifest.samples or 'all'} samples; bundle {bundle.id}",
        ),
        ("left out", ", ".join(left) or "nothing"),
        ("i-cache", f"{ICACHE[board.target.icache]}, as the board's profile has it"),
        (
            "simulator",
            f"{sim.board.machine}, {sim.board.timing}, sha256 {sim.board.simulator_sha256};"
            f" its UART takes {pace} cycles a byte; held against it by tockmark"
            f" {sim.tool.version}, commit {sim.tool.commit or 'unknown'}",
        ),
    ]


def _loaders(begins: Sequence[CaptureLine]) -> dict[str, None]:
    """Return the loaders' words, each once."""
    loads = (begin.load or UNSAID for begin in begins)
    return dict.fromkeys(one if isinstance(one, str) else " ".join(one) for one in loads)


def _first_words(held: Captured) -> list[str]:
    """Return what the board said before its apps did, which may name ROM, bitstream and kernel:
    each line once, and no noise."""
    found: dict[str, None] = {}
    for loading in held.loadings:
        for line in itertools.takewhile(lambda one: "#tm " not in one, loading.lines):
            if line.strip() and line.strip().isascii() and line.strip().isprintable():
                found[line.strip()] = None
    return list(found)[:FIRST]


def _boots(found: Staged) -> Table:
    """Say of each boot which image it was and how it went."""
    names = ("boot", "image", "sha256", "loaded in", "attempts", "how it ended", "port gone")
    table = Table([TableColumn(name, left=True) for name in names])
    for one in found.heard:
        own = one.loading
        ended = "not known" if own is None else own.over or own.failed or "it was cut off"
        table.add(
            one.name,
            one.laid.image,
            one.laid.sha256[:12],
            words.NONE if own is None or own.seconds is None else f"{own.seconds} s",
            str(own.said.attempt or words.NONE) if own else words.NONE,
            "its end came" if ended == ENDED else ended,
            str(own.gone) if own else words.NONE,
        )
    return table


def as_json(found: Staged) -> object:
    """Return all as JSON has it."""
    names = (str(found.sim.provenance.board.machine), found.log)
    return words.as_json(
        {
            "told": found.headline,
            "exit_code": found.exit_code,
            "stages": [
                {
                    "name": stage.name,
                    "holds": stage.good,
                    "told": stage.told,
                    "faults": stage.faults,
                    "rows": [pair.sim.name for pair in stage.rows],
                }
                for stage in found.stages
            ],
            "bundle": found.bundle.id,
            "begins": found.held.begins,
            "boots": _boots(found).records(),
            "again": found.again,
            "agreement": found.agreement and comparison.agree_json(names, found.agreement),
        }
    )
