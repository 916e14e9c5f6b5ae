# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `conformance`: does a kernel keep the rules of the system-call interface, and does it
withstand attacks?

It runs five types of boots (docs/trust.md). Apps check numbered rules. An app tries forbidden
accesses, and another makes pseudo-random calls; the neighbours of both watch their own memory. An
app accesses every control register. In the last type, attackers take what the app victim needs: it
must finish at least half of an equal share of the work that it finishes alone.

A function `judge_*` judges a boot by its UART log. Everything that is wrong, also in a log that is
damaged or ends early, is a message in `lost`. A kernel passes if `lost` is empty.
"""

import re
import struct
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import combinations
from operator import xor
from pathlib import Path

from tockmark import BASELINE
from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.processes import thread_pool
from tockmark.suite.catalogue import Boot
from tockmark.target.board import BoardProfile
from tockmark.target.image import END_OF_APPS, AppBuild, Image, build_image
from tockmark.target.kernel import RESTARTS_WORD, KernelElf, with_words
from tockmark.target.protocol import Start
from tockmark.wire.records import Problem, Record, decode
from tockmark_lab.folders import LAB

RULES = LAB / "conformance" / "apps" / "rules.toml"
SLICE_US = 1000  # short, so that neighbours get their turns within a short boot
NEIGHBOURS = ("neighbour", "neighbour2")
SLOW, FAST = 200, 1  # UART cycles per byte; if SLOW, an app can observe a write in progress
OTHER_KERNEL = 1  # number of the scene for a kernel other than the baseline
ILLEGAL = 2  # mcause of an illegal instruction
CSRS = 4096  # numbers of control registers that an instruction can encode
ACCESSES = {"read": 0x22F3, "written": 0x1073}  # `csrr t0, 0` and `csrw 0, zero`, encoded
LEAST_MODE = 0x300  # bits of a register's number: the lowest mode that may use it; 0 is user mode

_FAULT = re.compile(r"tockmark-kernel: app (\S+) fault mcause=0x(\w{8}) mtval=0x(\w{8})")

# lab/conformance/apps/availability.h lists the works and the attacks in the same order.
WORKS = {  # what the victim does, and the shared resource that it needs
    "lines": "console",
    "prints": "debug",
    "answers": "IPC queue",
    "sums": "CPU",
    "alarms": "timer",
    "upcalls": "upcall slots",
}
ATTACKS = (
    "none",
    "write",
    "take-back-buffer",
    "print",
    "notify",
    "compute",
    "set-alarms",
    "write-print",
    "take-print",
    "restarts",
    "discover",
    "subscribe-all",
    "mix",
)
SINGLE = ATTACKS[1:-1]  # an attacker repeats one of these
LONG_NAME = ("discover", "mix")  # attacks that look up an app by a name of NAME_LETTERS letters
NAME_LETTERS = 8192
# Seeds of random mixes: of 500 that `make robustness PARTS=mixes` drew, the worst for each work and
# each version of the interface, and more that left the victim little of the CPU.
MIXES = (
    *(1019622159, 817508865, 1600906507, 2036808427, 1327041833, 1380966455, 32674806),
    *(1729356318, 891395942, 718572056, 1468418650, 725103412, 61727979, 535530141),
    *(950793807, 1018452273, 15884709, 323785593, 495222195, 1305192861),
)
MOST_ATTACKERS = 3  # of the four apps in a boot; two if the victim also needs the service
LEAST_UNITS = 40  # units of work that a victim must finish alone
VICTIM_SLICE_US = 250
VICTIM_UART_CYCLES = 300  # per byte: a line of 64 bytes takes 0.8 ms
VICTIM_MILLISECONDS = 40  # of a victim's work
BUILT_SLICE_US = 10_000  # the slice of an unchanged image
BUILT_MILLISECONDS = 160  # of a victim's work with that slice: several turns of each attacker
ALARM_US = 800  # how long a victim sleeps at a time: lab/conformance/apps/victim.c
VICTIM_CYCLES = 6_000_000


@dataclass(frozen=True)
class InterfaceRule:
    """One rule of the interface, and the app that checks it."""

    number: str
    says: str
    app: str
    tock: bool  # applies to any kernel of this version, not only to the baseline

    @property
    def abi(self) -> int:
        """The version of the interface that the rule belongs to."""
        return int(self.number[1])


@dataclass(frozen=True)
class AttackCase:
    """A victim's work, and the attack of each attacker. The seed determines random mixes."""

    work: str
    attacks: tuple[str, ...] = ()
    seed: int = 0
    slice_us: int = VICTIM_SLICE_US

    @property
    def alone(self) -> "AttackCase":
        """The same work without attackers."""
        return replace(self, attacks=(), seed=0)

    @property
    def milliseconds(self) -> int:
        """The time that the victim works."""
        return BUILT_MILLISECONDS if self.slice_us == BUILT_SLICE_US else VICTIM_MILLISECONDS

    @property
    def name(self) -> str:
        """The name of its boot: the work, and the hexadecimal numbers of the attacks."""
        numbers = "".join(f"{ATTACKS.index(attack):x}" for attack in self.attacks)
        slices = f"-{self.slice_us}us" if self.slice_us != VICTIM_SLICE_US else ""
        return f"{self.work}-{numbers or 'alone'}{slices}" + (f"-{self.seed}" if self.seed else "")

    def __str__(self) -> str:
        seed = f" {self.seed}" if self.seed else ""
        slices = f"{WORKS[self.work]} in slices of {self.slice_us} µs"
        return f"{slices}, while others {' and '.join(self.attacks)}{seed}"

    @property
    def boot(self) -> Boot:
        """The boot of the victim, its service if it needs one, and the attackers."""
        service = ("service",) if self.work == "answers" else ()
        slots = ("victim", *service, *("attacker",) * len(self.attacks))
        numbers = (list(WORKS).index(self.work), *map(ATTACKS.index, self.attacks))
        scene = sum(number << 4 * position for position, number in enumerate(numbers))
        return Boot(self.name, "victim", slots, (), scene, self.slice_us)

    @property
    def has_long_name(self) -> bool:
        """Whether an attacker looks up an app by a long name."""
        return not {*self.attacks}.isdisjoint(LONG_NAME)


@dataclass(frozen=True)
class VictimShare:
    """The units of work that a victim finished next to attackers and alone; None if it reported
    nothing."""

    case: AttackCase
    alone: int | None
    done: int | None

    @property
    def due(self) -> int:
        """The least that it should finish: half of an equal share. With the built slice a victim
        that sleeps has one alarm for each turn of all others; the first and the last may be
        missing."""
        others = len(self.case.attacks)
        if self.case.work == "alarms" and self.case.slice_us == BUILT_SLICE_US:
            return 1000 * self.case.milliseconds // (others * BUILT_SLICE_US + ALARM_US) - 1
        return (self.alone or 0) // (2 * (others + 1))

    @property
    def part(self) -> float:
        """Its part of an equal share: 1 is all of it, 0.5 is the least allowed."""
        return (self.done or 0) * (len(self.case.attacks) + 1) / (self.alone or 1)


@dataclass
class ConformanceTotals:
    """The totals of a kernel's boots."""

    rules: int = 0  # that the kernel keeps
    attempts: int = 0  # forbidden accesses that the kernel stopped
    calls: int = 0  # of the fuzz app
    skipped: list[str] = field(default_factory=list)  # numbers of rules
    lost: list[str] = field(default_factory=list)  # a message for everything that is wrong
    listed: list[str] = field(default_factory=list)  # the stopped attempts, in words
    csrs: int = 0  # reads and writes of control registers that faulted
    open_csrs: list[str] = field(default_factory=list)  # registers that user mode may access
    done: dict[str, int] = field(default_factory=dict)  # units that victims finished, by boot
    shares: list[VictimShare] = field(default_factory=list)
    worst: list[VictimShare] = field(default_factory=list)  # for each work and number of attackers

    def add(self, other: "ConformanceTotals") -> None:
        """Add the totals of another boot."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            setattr(self, name, own | value if isinstance(value, dict) else own + value)


@dataclass(frozen=True)
class Plan:
    """A kernel, and what to run on it."""

    kernel: KernelElf
    board: BoardProfile
    abi: int
    seeds: tuple[int, ...]  # of the fuzz app
    calls: int
    jobs: int
    attackers: int = MOST_ATTACKERS  # at once
    mixes: tuple[int, ...] = MIXES  # seeds of random mixes
    step: int = 1  # every `step`th control register is tried

    @property
    def is_baseline(self) -> bool:
        """Whether the kernel is our baseline, which must keep more rules and is attacked."""
        return (self.kernel.name or "").startswith(BASELINE)


@dataclass(frozen=True)
class Log:
    """The parsed UART log of a boot."""

    records: list[Record]
    problems: list[str]
    faults: list[tuple[int, str, int, int]]  # line, app, cause, value

    def records_of(self, kind: str, *words: str) -> list[Record]:
        """Return the records of this kind; if `words` are given, only those with these words."""
        return [r for r in self.records if r.kind == kind and words in ((), r.words)]


@dataclass(frozen=True)
class Trial:
    """One boot, and the function that judges its log."""

    boot: Boot
    judge: Callable[[Log], ConformanceTotals]
    max_cycles: int
    uart_cycles: int
    case: AttackCase | None = None  # if the boot has a victim


def load_rules() -> list[InterfaceRule]:
    """Read the list of rules."""
    return [InterfaceRule(**entry) for entry in tomllib.loads(RULES.read_text())["rule"]]


def run(plan: Plan) -> ConformanceTotals:
    """Run all boots of a kernel, at most `plan.jobs` at a time, and return their totals."""
    totals = run_trials(plan, trials(plan))
    if plan.is_baseline:
        cases = attack_cases(plan.attackers, plan.mixes)
        totals.add(run_cases(plan, [*cases, *built_slice_cases(plan.attackers)]))
    return totals


def run_cases(plan: Plan, chosen: Iterable[AttackCase]) -> ConformanceTotals:
    """Run the victims of these cases, and each work also alone; judge what they finished."""
    cases = list(chosen)
    alone = dict.fromkeys(case.alone for case in cases)
    totals = run_trials(plan, map(victim_trial, [*alone, *cases]))
    totals.shares = victim_shares(cases, totals.done)
    totals.worst = list(worst_shares(totals.shares).values())
    totals.lost += check_shares(totals.shares)
    return totals


def run_trials(plan: Plan, chosen: Iterable[Trial]) -> ConformanceTotals:
    """Run these trials, at most `plan.jobs` at a time, and return their totals."""
    totals = ConformanceTotals()
    with thread_pool(plan.jobs) as pool:
        for boot_totals in pool.map(partial(run_trial, plan), chosen):
            totals.add(boot_totals)
    return totals


def trials(plan: Plan) -> Iterator[Trial]:
    """Yield the trials of a plan, the longest first."""
    scene = 0 if plan.is_baseline else OTHER_KERNEL
    if plan.is_baseline:
        cycles = 20_000_000 + 2000 * plan.calls
        for seed in plan.seeds:
            fuzz = short_boot(f"fuzz-{seed}", ("neighbour", "fuzz", "neighbour"), seed)
            yield Trial(fuzz, partial(judge_fuzz, calls=plan.calls), cycles, FAST)
        hostile = short_boot("hostile", ("neighbour", "hostile", "neighbour"), scene)
        yield Trial(hostile, judge_attempts, 100_000_000, FAST)
        if plan.abi == 2:  # access to control registers does not depend on the version
            for number, (access, insn) in enumerate(ACCESSES.items()):
                csrs = short_boot(f"csrs-{access}", ("csrs",), number)
                yield Trial(csrs, partial(judge_csrs, insn=insn, step=plan.step), 60_000_000, FAST)
    rules = [
        rule for rule in load_rules() if rule.abi == plan.abi and (rule.tock or plan.is_baseline)
    ]
    for app in dict.fromkeys(rule.app for rule in rules):
        partners = {"endings": ("partner", "service"), "ipc": ("service",)}.get(app, ())
        numbers = [rule.number for rule in rules if rule.app == app]
        boot = short_boot(app, (app, *partners), scene)
        yield Trial(boot, partial(judge_rules, expected=numbers), 50_000_000, SLOW)


def victim_trial(case: AttackCase) -> Trial:
    """Return the trial of a victim's case."""
    judge = partial(judge_work, boot=case.name)
    return Trial(case.boot, judge, VICTIM_CYCLES, VICTIM_UART_CYCLES, case)


def short_boot(name: str, slots: tuple[str, ...], scene: int) -> Boot:
    """Return a boot of these apps with short time slices, so that they alternate often."""
    return Boot(name, slots[0], slots, (), scene, SLICE_US)


def run_trial(plan: Plan, trial: Trial) -> ConformanceTotals:
    """Build the image of a trial, run it, and judge its log."""
    name = trial.boot.name
    try:
        image = trial_image(plan, trial)
        limits = {"max-cycles": trial.max_cycles, "uart-cycles": trial.uart_cycles}
        start = Start(name, image.flash, icache=True, panics=plan.kernel.panics)
        session = plan.board.target.configured(limits).start(start)
        lines = list(session.lines())
        ending = session.ending().why
    except TockmarkError as error:
        return ConformanceTotals(lost=[f"{name}: {error}"])
    text = "".join(f"{line}\n" for line in lines)
    (log_folder(plan) / f"{name}.log").write_text(text, encoding="latin-1")
    log = read_log(lines)
    totals = trial.judge(log)
    problems = [*log.problems, *([ending] if ending else [])]
    totals.lost = [f"{name}: {message}" for message in [*totals.lost, *problems]]
    return totals


def trial_image(plan: Plan, trial: Trial, restarts: int = 0xFFFF_FFFF) -> Image:
    """Build the image of a trial. The kernel restarts an app after at most `restarts` faults."""
    apps = AppBuild(paths.APPS / f"conformance-abi{plan.abi}", plan.abi, target="apps-lab")
    kernel = with_words(plan.kernel, {RESTARTS_WORD: restarts})
    words = {"cf_calls": plan.calls, "cf_step": plan.step}
    if trial.case is not None:
        words = {"cf_calls": trial.case.seed, "cf_milliseconds": trial.case.milliseconds}
    image = build_image(trial.boot, apps, kernel, plan.board, log_folder(plan), words)
    if trial.case is not None and trial.case.has_long_name:
        lay_long_name(image, plan.abi, plan.board)
    return image


def log_folder(plan: Plan) -> Path:
    """Return the folder of the logs of a kernel's boots."""
    return paths.WRITTEN / "conformance" / f"{plan.kernel.sha256[:8]}-abi{plan.abi}"


def read_log(lines: list[str]) -> Log:
    """Parse a log into its records, the decoder's problems and the faults that the kernel
    reports."""
    items = decode(lines)
    records = [item for item in items if isinstance(item, Record)]
    # Problems of these apps are intended: they are stopped before their `end`, or start again.
    gone = {record.words[0] for record in records if record.kind == "gone"}
    problems = [str(p) for p in items if isinstance(p, Problem) and p.app not in gone]
    matches = ((number, _FAULT.search(line)) for number, line in enumerate(lines, 1))
    faults = [(number, m[1], int(m[2], 16), int(m[3], 16)) for number, m in matches if m]
    return Log(records, problems, faults)


def judge_rules(log: Log, expected: list[str]) -> ConformanceTotals:
    """Count the rules that an app reports as kept. Each expected rule must be reported, and none
    may be reported as broken."""
    verdicts: dict[str, str] = {}
    for record in log.records_of("rule"):
        number, verdict = record.words[:2]
        if verdict == "wrong":
            pairs = dict(record.pairs)
            verdict = f"broken: line {pairs['line']} got {pairs['got']}, wanted {pairs['want']}"
        if not verdicts.get(number, "").startswith("broken"):
            verdicts[number] = verdict
    totals = ConformanceTotals(rules=sum(verdicts.get(number) == "ok" for number in expected))
    for number in expected:
        verdict = verdicts.pop(number, "not reported")
        if verdict == "skipped":
            totals.skipped.append(number)
        elif verdict != "ok":
            totals.lost.append(f"{number} {verdict}")
    listed_numbers = {rule.number for rule in load_rules()}  # also rules of the baseline alone
    totals.lost += [
        f"{number} is not in the list of rules" for number in verdicts.keys() - listed_numbers
    ]
    return totals


def judge_attempts(log: Log) -> ConformanceTotals:
    """Count the forbidden accesses that were stopped, and check that the neighbours are undamaged.

    The app announces each attempt by a record `try`. The kernel stops it by the fault that the
    record names or, if it names none, by refusing the call; the record `tried` has the outcome."""
    totals = ConformanceTotals(lost=_damage_messages(log))
    reports = [record for record in log.records if record.kind in ("try", "tried")]
    for record, after in zip(reports, [*reports[1:], None], strict=True):
        if record.kind != "try":
            continue
        name, pairs = " ".join(record.words), dict(record.pairs)
        if after is None or after.kind != "tried":
            totals.lost.append(f"{name}: no outcome was reported")
            continue
        faults = [fault for fault in log.faults if record.line < fault[0] < after.line]
        wrong = _unexpected_outcome(after.words[0], faults, int(pairs["cause"]), pairs.get("at"))
        if wrong is None:
            totals.attempts += 1
            totals.listed.append(name)
        else:
            totals.lost.append(f"{name}: {wrong}")
    return totals


def _unexpected_outcome(
    ended: str, faults: list[tuple[int, str, int, int]], cause: int, at: str | None
) -> str | None:
    """Return what is wrong with the end of an attempt; None if it was stopped."""
    wanted = ("faulted", 1) if cause else ("held", 0)
    if (ended, len(faults)) != wanted:
        return f"{ended}, with {len(faults)} faults"
    if not faults:
        return None
    ((_, app, got_cause, value),) = faults
    good = (app, got_cause) == ("hostile", cause) and (at is None or int(at) == value)
    return None if good else f"app {app} faulted with cause {got_cause} at {value:#x}"


def judge_fuzz(log: Log, calls: int) -> ConformanceTotals:
    """Check that all calls were made and that the neighbours are undamaged."""
    totals = ConformanceTotals(lost=_damage_messages(log))
    done = log.records_of("fuzz", "done")
    totals.calls = int(dict(done[0].pairs)["calls"]) if done else 0
    if totals.calls < calls:
        totals.lost.append(f"{totals.calls} of {calls} calls were made")
    return totals


def judge_csrs(log: Log, insn: int, step: int = 1) -> ConformanceTotals:
    """Check that an app accessed every `step`th control register, and that each access was illegal
    unless the register's number allows user mode. `insn` is the access to register 0."""
    illegal = {value for _, _, cause, value in log.faults if cause == ILLEGAL}
    opened = {int(dict(record.pairs)["number"]) for record in log.records_of("csr", "open")}
    stopped = {number for number in range(CSRS) if number << 20 | insn in illegal}
    totals = ConformanceTotals(csrs=len(stopped))
    totals.open_csrs = [f"{number:#05x}" for number in sorted(opened) if not number & LEAST_MODE]
    totals.lost = [f"{number:#05x} is open" for number in sorted(opened) if number & LEAST_MODE]
    untried = sorted(set(range(0, CSRS, step)) - stopped - opened)
    if untried:
        totals.lost.append(f"{len(untried)} registers not tried, {untried[0]:#05x} the first")
    return totals


def judge_work(log: Log, boot: str) -> ConformanceTotals:
    """Record what the victim finished. `run_cases` judges whether it is enough."""
    work_records = log.records_of("work")
    return ConformanceTotals(
        done={boot: int(dict(work_records[0].pairs)["done"])} if work_records else {}
    )


def _damage_messages(log: Log) -> list[str]:
    """Return a message for each neighbour that did not report that it is undamaged."""
    whole = {record.app for record in log.records_of("neighbour", "whole")}
    return [f"{name} is damaged or silent" for name in NEIGHBOURS if name not in whole]


def attack_cases(attackers: int, mixes: Sequence[int]) -> Iterator[AttackCase]:
    """Yield the cases with at most this number of attackers, then the mixes.

    Each work is next to each attack and each pair of different attacks. Each triple of attacks is
    next to one work only, the works in turn."""
    for work in WORKS:
        for number in range(1, min(attackers, 2) + 1):
            yield from (AttackCase(work, attacks) for attacks in combinations(SINGLE, number))
    if attackers >= MOST_ATTACKERS:
        works = [work for work in WORKS if work != "answers"]  # its service takes a slot
        for number, triple in enumerate(combinations(SINGLE, MOST_ATTACKERS)):
            yield AttackCase(works[number % len(works)], triple)
    for seed in mixes:
        yield mixed_case(seed)


def built_slice_cases(attackers: int) -> Iterator[AttackCase]:
    """Yield the cases with the built slice: work that needs the CPU, next to one attacker that
    computes and next to the most."""
    for work in ("sums", "alarms"):
        for number in {1, MOST_ATTACKERS} & {*range(attackers + 1)}:
            yield AttackCase(work, ("compute",) * number, slice_us=BUILT_SLICE_US)


def mixed_case(seed: int) -> AttackCase:
    """Return the case of the random mix with this seed."""
    work = list(WORKS)[seed % len(WORKS)]
    return AttackCase(work, ("mix",) * (MOST_ATTACKERS - (work == "answers")), seed)


def victim_shares(cases: Iterable[AttackCase], done: Mapping[str, int]) -> list[VictimShare]:
    """Return the share of each case's victim. `done` has the finished units by name of the boot."""
    return [VictimShare(case, done.get(case.alone.name), done.get(case.name)) for case in cases]


def check_shares(shares: Iterable[VictimShare]) -> list[str]:
    """Return a message for each victim that got less than its due."""
    messages = []
    for share in shares:
        if (share.alone or 0) < LEAST_UNITS:
            messages.append(f"{share.case}: {share.alone or 0} {share.case.work} even alone")
        elif share.done is None:
            messages.append(f"{share.case}: the victim reported nothing")
        elif share.done < share.due:
            messages.append(
                f"{share.case}: {share.done} {share.case.work}, not {share.due} of {share.alone}"
            )
    return messages


def worst_shares(shares: Iterable[VictimShare]) -> dict[tuple[str, int], VictimShare]:
    """Return the least share for each work and number of attackers, 0 for mixes. Cases with the
    built slice have no row here."""
    least: dict[tuple[str, int], VictimShare] = {}
    for share in shares:
        if share.case.slice_us == BUILT_SLICE_US:
            continue
        number = 0 if share.case.seed else len(share.case.attacks)
        key = share.case.work, number
        if key not in least or share.part < least[key].part:
            least[key] = share
    return least


def share_lines(shares: Sequence[VictimShare]) -> Iterator[str]:
    """Yield a line per work: the units that the victim finished alone, and the least next to
    attackers."""
    least = worst_shares(shares)
    yield "  availability      alone; least with 1, 2, 3 attackers, mixes (least allowed)"
    for work, resource in WORKS.items():
        own = [least[work, number] for number in (1, 2, 3, 0) if (work, number) in least]
        if own:
            cells = [f"{'none' if s.done is None else s.done} ({s.due})" for s in own]
            cells = [f"{cell:>10}" for cell in cells]
            yield f"    {f'{resource}: {work}':24}{own[0].alone or 0:6}  {'  '.join(cells)}"
    for share in shares:
        if share.case.slice_us == BUILT_SLICE_US:
            done = "none" if share.done is None else share.done
            yield f"    {share.case.name:24}{share.alone or 0:6}  {f'{done} ({share.due})':>10}"


def lay_long_name(image: Image, abi: int, board: BoardProfile) -> None:
    """Append an app with a long name to the apps of an image."""
    flash = image.flash.read_bytes().removesuffix(END_OF_APPS)
    last = image.slots[-1]
    ram = -(-(last.ram_start + last.ram_length) // 0x1000) * 0x1000 + 0x1000
    entries = _header_entry(1, struct.pack("<3I", 0, 0, 256)) + _header_entry(
        3, b"n" * NAME_LETTERS
    )
    entries += _header_entry(8, struct.pack("<HH", abi, 0))
    size = 16 + len(entries) + 12
    start = board.flash.base + len(flash) + size
    entries += _header_entry(5, struct.pack("<II", ram, start))
    total = -(-(size + 4) // 0x400) * 0x400
    base = struct.pack("<HHII", 2, size, total, 1)
    checksum = reduce(xor, (word for (word,) in struct.iter_unpack("<I", base + entries)))
    forever = struct.pack("<I", 0x6F)  # j .
    app = base + struct.pack("<I", checksum) + entries + forever
    image.flash.write_bytes(flash + app.ljust(total, b"\xff") + END_OF_APPS)


def _header_entry(type_: int, value: bytes) -> bytes:
    """Return an entry of an app's header."""
    return struct.pack("<HH", type_, len(value)) + value


def format_totals(plan: Plan, totals: ConformanceTotals, stretches: str, pairs: str) -> str:
    """Format the totals of a kernel's boots. `stretches` and `pairs` are the texts about interrupts
    off and pairs of upcalls; empty if they were not measured."""
    lines = [f"  rules checked     {totals.rules}"]
    if totals.skipped:
        lines.append(f"  rules skipped     {len(totals.skipped)}: {', '.join(totals.skipped)}")
    if plan.is_baseline:
        lines.append(f"  attempts stopped  {totals.attempts}")
        *fixed, fresh = plan.seeds
        seeds = f"1 to {len(fixed)}" if len(fixed) > 1 else "1"
        lines.append(f"  calls fuzzed      {totals.calls}, seeds {seeds} and {fresh}")
        if plan.abi == 2:
            opened = ", ".join(totals.open_csrs) or "none"
            lines.append(f"  CSR accesses      {totals.csrs} stopped, open to user mode: {opened}")
        lines += share_lines(totals.shares)
    if stretches:
        lines.append(f"  interrupts off    {stretches}")
    if pairs:
        lines.append(f"  pairs of upcalls  {pairs}")
    lines.append(f"  lost              {len(totals.lost) or 'none'}")
    lines.append(f"  logs              {paths.shown(log_folder(plan))}/")
    return "\n".join(lines) + "\n"
