# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study isolation: what a kernel does while a whole program runs, and who uses the cycles.

It counts traps, process switches, upcalls and PMP writes in the instruction trace of one steady
run, from the program's first instruction to its last, without the counter reads around it. Each
cycle belongs to the instruction that left the decode stage at its end: the program's, another
app's, or the kernel's. The three add up to the run.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from typer import Option

from tockmark.base import documents, paths
from tockmark.base.documents import Part
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import ICache, KernelClaims, KernelFile
from tockmark.profile.run import (
    Codes,
    ProfileOptions,
    load_kernel_program,
    run_both,
    runs_of,
    simulators,
)
from tockmark.profile.sample import (
    INSN,
    MODE,
    PC,
    PHASES,
    S4,
    Sampler,
    Step,
    find_contexts,
    parse,
    writes_pmp,
)
from tockmark.profile.symbols import Program
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import HARNESS_ROWS, ICACHE, Boot, Catalogue, Lang, Params, row_name
from tockmark.suite.selection import Selection, select
from tockmark.target import board as boards
from tockmark.target import results
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild, build_image, with_early_stop
from tockmark.target.kernel import KernelElf
from tockmark.target.run import default_samples
from tockmark.target.rv32 import ECALL
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode
from tockmark_lab.folders import STUDIES

FORM, VERSION = "tockmark-isolation", 1
MCYCLE = slice(11, 21)  # columns of the core's counter in a line of the trace
TRAP, HANDLER = " trap", " handler"  # effects in the trace


class ProgramActivity(Part, frozen=True):
    """One run of a program, and what happened during it."""

    id: str
    params: Params
    lang: Lang
    icache: bool
    traps: int  # entries into the kernel, including interrupts
    interrupts: int
    switches: int  # from one app to another, by the order of the apps' instructions
    upcalls: int  # of any app
    pmp_writes: int
    program: int  # cycles of the program itself
    others: int  # of other apps
    kernel: int
    phases: dict[str, int]  # the kernel's cycles by phase; empty without line tables

    @property
    def cycles(self) -> int:
        """The cycles of the run."""
        return self.program + self.others + self.kernel


COUNTED = ("traps", "interrupts", "switches", "upcalls", "pmp_writes")
SPENT = ("program", "others", "kernel")


class StoredIsolation(Part, frozen=True):
    """The file of one kernel."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    rows: tuple[ProgramActivity, ...]


@dataclass
class _Run:
    """The counts of one run."""

    counted: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPENT, 0))
    # The kernel's instructions with their cycles, and the apps' instructions before and after them.
    steps: list[tuple[Step, int]] = field(default_factory=list)
    cycles: int = 0  # as the app computed them, with the counter reads

    def phases(self, codes: Codes) -> dict[str, int]:
        """Return the kernel's cycles by phase."""
        if not self.steps:
            return {}
        steps = [step for step, _ in self.steps]
        codes.look_up((step.user, step.pc) for step in steps)
        located = find_contexts(
            steps,
            lambda step: codes.code_of(step)[1].frames(step.pc),
            lambda step: codes.code_of(step)[0],
        )
        by_phase: Counter[str] = Counter()
        for (step, cycles), place in zip(self.steps, located, strict=True):
            if not step.user:
                by_phase[place.phase] += cycles
        return {phase: by_phase[phase] for phase in PHASES if by_phase[phase]}


class Watcher:
    """Follows a trace and counts in each run of tm_sample, between its two counter reads."""

    def __init__(self, sampler: Sampler, owner: Callable[[bool, int], int]) -> None:
        """`owner` returns the app whose code is at an address."""
        self.runs: list[_Run] = []
        self._sampler = sampler
        self._app = partial(owner, True)
        self._own = self._app(sampler.start)

    def watch(self, lines: Iterable[str]) -> None:
        """Process a whole trace."""
        first, last = self._sampler.ecalls
        opens, closes, reports = (f"{at:08x}" for at in (first + 4, last, last + 4))
        now: _Run | None = None
        done = _Run()
        since = 0  # the core's counter at the previous line of a run
        app = self._own  # the app that ran last
        left: dict[int, str] = {}  # the last line of each app before it was left
        before, was_user = "", False
        for line in lines:
            user = line[MODE] == "U"
            if user and not was_user:
                new = self._app(int(line[PC], 16))
                if now is not None:
                    now.counted["switches"] += new != app
                    now.counted["upcalls"] += _is_upcall(left.get(new), line)
                    now.steps.append((parse(line), 0))
                app = new
            elif was_user and not user:
                left[app] = before
                if now is not None:
                    now.steps.append((parse(before), 0))
            if user and app == self._own:
                pc = line[PC]
                if pc == opens:
                    now, since = _Run(), int(before[MCYCLE])
                elif pc == closes and now is not None:
                    done, now = now, None
                elif pc == reports and (step := parse(line)).rd == S4:
                    done.cycles = step.value
                    self.runs.append(done)
            if now is not None:
                mcycle = int(line[MCYCLE])
                cycles, since = mcycle - since, mcycle
                program = "program" if app == self._own else "others"
                now.spent[program if user else "kernel"] += cycles
                if not user:
                    now.steps.append((parse(line), cycles))
                    if HANDLER in line:
                        now.counted["traps"] += 1
                        now.counted["interrupts"] += TRAP not in before
                    now.counted["pmp_writes"] += writes_pmp(int(line[INSN], 16))
            before, was_user = line, user


def _is_upcall(left: str | None, line: str) -> bool:
    """Return whether an app continues neither at its system call nor behind it."""
    if left is None or int(left[INSN], 16) != ECALL:
        return False
    at = int(left[PC], 16)
    return int(line[PC], 16) not in (at, at + 4)


def boots(selection: Selection, lang: Lang) -> list[Boot]:
    """Return the selected boots of whole programs, alone and next to an app's alarm."""
    benchmarks = selection.catalogue.benchmarks
    selected = selection.boots(lang)
    return [
        boot
        for boot in selected
        if all("beside" in benchmarks[id_].params for id_ in boot.measures)
    ]


def measure_activity(
    kernel: KernelElf,
    board: BoardProfile,
    apps: AppBuild,
    icache: bool,
    catalogue: Catalogue,
    boot: Boot,
) -> Iterator[ProgramActivity]:
    """Yield the activity in a steady run of each program of a boot, with the image of `run`'s first
    layout. TockmarkError if the kernel does not run it."""
    out = paths.WRITTEN / "isolation" / kernel.sha256[:8]
    words = {"tm_most_samples": default_samples(boot, catalogue)}
    image = build_image(boot, apps, kernel, board, out, words)
    if not icache:
        image = with_early_stop(image, board, out / f"{boot.name}.early.flash")
    options = ProfileOptions(kernel, board, apps, icache, boot.name, {}, out)
    code = load_kernel_program(kernel)
    codes = Codes(code, image)
    app = next(Program(Path(slot.elf)) for slot in image.slots if "tm_sample" in slot.symbols)
    watcher = Watcher(Sampler.in_app(app), codes.owner)
    log = run_both(options, simulators(board), image.flash, watcher.watch, None)
    all_boots = assemble(decode(log.split("\n"))).each()
    rows, why = next(
        ((booted.rows, booted.absent_rows) for _, booted in all_boots if booted.name == boot.group),
        ((), ()),
    )
    for at, row in enumerate(rows):
        if row.id in HARNESS_ROWS:
            continue
        steady = watcher.runs[
            runs_of(rows[: at + 1], [watched.cycles for watched in watcher.runs])
        ][-1]
        phases = steady.phases(codes)
        yield ProgramActivity(
            row.id,
            row.params,
            apps.lang,
            icache,
            **steady.counted,
            **steady.spent,
            phases=phases if code.lines else {},
        )
    if why or not rows:
        reason = why[0][1].why if why else "its app said nothing"
        raise TockmarkError(
            f"{boot.name} was not measured: {reason}", "run it with `tockmark run`", INCOMPLETE
        )


def file_text(rows: Sequence[ProgramActivity], kernel: KernelElf, board: BoardProfile) -> str:
    """Return the content of the file with these rows."""
    kept = StoredIsolation(
        FORM,
        VERSION,
        results.kernel_provenance(kernel, None),
        board.name,
        results.simulator_provenance(board),
        paths.commit_of_checkout(),
        tuple(rows),
    )
    return documents.text_of(kept, ("rows",))


def load(path: Path) -> StoredIsolation:
    """Read such a file. TockmarkError if it is not one."""
    return documents.read(
        path, StoredIsolation, FORM, VERSION, "give a file that `tockmark-lab isolation` made"
    )


HEADS = {
    "traps": 7,
    "interrupts": 11,
    "switches": 9,
    "upcalls": 8,
    "PMP writes": 11,
    "program": 12,
    "others": 9,
    "kernel": 9,
}


def table(rows: Iterable[ProgramActivity]) -> Table:
    """Return a table of the rows: counts, then cycles."""
    shown = Table([TableColumn("program", 40, 0, left=True), *figures(HEADS)])
    for row in rows:
        cells = (f"{getattr(row, name):,}" for name in (*COUNTED, *SPENT))
        shown.add(row_name(row.id, row.params, row.icache, row.lang), *cells)
    return shown


def format_rows(rows: Iterable[ProgramActivity], icache: bool) -> str:
    """Format the rows for a terminal."""
    title = f"One run of each program, i-cache {ICACHE[icache]}; program, others, kernel: cycles"
    return "\n".join(table(rows).text(title, ""))


@verb(
    "make programs profile && tockmark-lab isolation",
    "tockmark-lab isolation --only towers,aes --kernel ~/tock/earlgrey-cw310.elf",
)
def isolation_verb(
    *,
    only: Annotated[str | None, Option(help="Programs, such as towers,aes (default: all).")] = None,
    kernel: KernelFile = None,
    claims: KernelClaims,
    icache: ICache = None,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store the rows in a file.")] = None,
) -> None:
    """Count what a kernel does while a whole program runs, alone and next to an app's alarm.

    Shows traps, interrupts, process switches, upcalls and PMP writes in one steady run of each
    program, and who used its cycles. Needs what `make profile` builds."""
    if output is not None:
        check_writable([output], FORM)
    catalogue = catalogues.load(STUDIES / "programs" / "catalogue.toml")
    board = boards.load(boards.DEFAULT).configured({"silence": catalogue.silence})
    elf = claims.read(kernel or board.kernels[2])
    cached = board.target.icache if icache is None else icache is options.Switch.ON
    rows: list[ProgramActivity] = []
    for lang in catalogues.LANGS:
        apps = AppBuild.built(2, lang, catalogue="programs")
        for boot in boots(select(catalogue, only), lang):
            rows += measure_activity(elf, board, apps, cached, catalogue, boot)
    if not rows:
        raise TockmarkError(
            f"no row of '{only}' is a whole program", "name a program, such as towers"
        )
    if as_json:
        options.show(msgspec.to_builtins(rows))
    else:
        print(format_rows(rows, cached))
    if output is not None:
        write_whole({output: file_text(rows, elf, board)})
