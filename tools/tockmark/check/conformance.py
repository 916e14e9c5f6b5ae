# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `conformance` asks whether a kernel keeps the interface's rules, and whether it holds.

Five kinds of boots tell (docs/conformance.md): apps that check rules by number; one that tries what
none may, and one that makes pseudo-random calls, both between neighbours that watch their own
memory; one that names every control register; and those that take what others need. What is judged
is the UART log alone.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tockmark import BASELINE, paths, processes
from tockmark.check import availability
from tockmark.check.availability import AttackCase, VictimShare
from tockmark.errors import TockmarkError
from tockmark.log.protocol import Problem, Record, decode
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import AppBuild, Image, build_image
from tockmark.rig.kernel import RESTARTS_WORD, KernelElf, with_words
from tockmark.rig.protocol import Start
from tockmark.suite.catalogue import Boot

RULES = paths.ROOT / "apps" / "conformance" / "rules.toml"
SLICE_US = 1000  # short, so that a boot is, and so that neighbours get their turns
NEIGHBOURS = ("neighbour", "neighbour2")
SLOW, FAST = 200, 1  # cycles of a byte on the UART: so slow that a write is seen under way, or not
OTHER_KERNEL = 1  # the scene on any other
ILLEGAL = 2  # the cause of a fault
CSRS = 4096  # control registers that an instruction can name
ACCESSES = {"read": 0x22F3, "written": 0x1073}  # `csrr t0, N` and `csrw N, zero`, less N
LEAST_MODE = 0x300  # bits of a register's number: the least mode that may use it; 0 is user mode

_FAULT = re.compile(r"tockmark-kernel: app (\S+) fault mcause=0x(\w{8}) mtval=0x(\w{8})")


@dataclass(frozen=True)
class InterfaceRule:
    """One rule of the interface, and the app that checks it."""

    number: str
    says: str
    app: str
    tock: bool  # any kernel that serves this version keeps it, not ours alone

    @property
    def abi(self) -> int:
        """Return the version of the interface that has it."""
        return int(self.number[1])


@dataclass
class Count:
    """Counts what the boots of one kernel add up to."""

    rules: int = 0
    attempts: int = 0
    calls: int = 0
    skipped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)  # the attempts, in words
    csrs: int = 0  # reads and writes of control registers that faulted
    open_csrs: list[str] = field(default_factory=list)  # those that user mode may make
    done: dict[str, int] = field(default_factory=dict)  # work of the victims, by boot
    shares: list[VictimShare] = field(default_factory=list)
    worst: list[VictimShare] = field(default_factory=list)  # of each work and number of attackers

    def add(self, other: "Count") -> None:
        """Add what another boot came to."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            setattr(self, name, own | value if isinstance(value, dict) else own + value)


@dataclass(frozen=True)
class Plan:
    """Says what to run, on which kernel."""

    kernel: KernelElf
    board: BoardProfile
    abi: int
    seeds: tuple[int, ...]  # of the fuzz
    calls: int
    jobs: int
    attackers: int = availability.MOST  # at once
    mixes: tuple[int, ...] = availability.MIXES  # seeds of random ones
    step: int = 1  # from a control register to the next that is tried

    @property
    def own(self) -> bool:
        """Whether the kernel is ours, which is held to more rules and attacked."""
        return (self.kernel.name or "").startswith(BASELINE)


@dataclass(frozen=True)
class Log:
    """A boot's UART text, taken apart."""

    records: list[Record]
    problems: list[str]
    faults: list[tuple[int, str, int, int]]  # line, app, cause, value

    def said(self, kind: str, *words: str) -> list[Record]:
        """Return the records of a kind, or those that have just these words."""
        return [r for r in self.records if r.kind == kind and words in ((), r.words)]


@dataclass(frozen=True)
class Trial:
    """One boot, and who judges its log."""

    boot: Boot
    judge: Callable[[Log], Count]
    max_cycles: int
    uart_cycles: int
    case: AttackCase | None = None  # of a victim


def load_rules() -> list[InterfaceRule]:
    """Return the list of rules."""
    return [InterfaceRule(**entry) for entry in tomllib.loads(RULES.read_text())["rule"]]


def run(plan: Plan) -> Count:
    """Run all boots of a kernel, some at a time."""
    total = run_trials(plan, trials(plan))
    if plan.own:
        total.add(run_cases(plan, availability.cases(plan.attackers, plan.mixes)))
    return total


def run_cases(plan: Plan, tried: Iterable[AttackCase]) -> Count:
    """Run the victims of these cases, alone too, and judge what they finished."""
    cases = list(tried)
    alone = [case for case in availability.alone() if case.work in {one.work for one in cases}]
    total = run_trials(plan, map(trial_of, [*alone, *cases]))
    total.shares = availability.shares(cases, total.done)
    total.worst = list(availability.worst(total.shares).values())
    total.lost += availability.lost(total.shares)
    return total


def run_trials(plan: Plan, tried: Iterable[Trial]) -> Count:
    """Run these boots of a kernel."""
    total = Count()
    with ThreadPoolExecutor(plan.jobs) as pool:
        try:
            for count in pool.map(partial(run_trial, plan), tried):
                total.add(count)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end_all()
            raise
    return total


def trials(plan: Plan) -> Iterator[Trial]:
    """Yield the boots of a plan, the long ones first."""
    scene = 0 if plan.own else OTHER_KERNEL
    if plan.own:
        cycles = 20_000_000 + 2000 * plan.calls
        for seed in plan.seeds:
            fuzz = short_boot(f"fuzz-{seed}", ("neighbour", "fuzz", "neighbour"), seed)
            yield Trial(fuzz, partial(judge_fuzz, calls=plan.calls), cycles, FAST)
        hostile = short_boot("hostile", ("neighbour", "hostile", "neighbour"), scene)
        yield Trial(hostile, judge_attempts, 100_000_000, FAST)
        if plan.abi == 2:  # what user mode may do with them does not depend on the interface
            for number, (access, insn) in enumerate(ACCESSES.items()):
                csrs = short_boot(f"csrs-{access}", ("csrs",), number)
                yield Trial(csrs, partial(judge_csrs, insn=insn, step=plan.step), 60_000_000, FAST)
    rules = [rule for rule in load_rules() if rule.abi == plan.abi and (rule.tock or plan.own)]
    for app in dict.fromkeys(rule.app for rule in rules):
        beside = {"endings": ("partner", "service"), "ipc": ("service",)}.get(app, ())
        numbers = [rule.number for rule in rules if rule.app == app]
        one = short_boot(app, (app, *beside), scene)
        yield Trial(one, partial(judge_rules, expected=numbers), 50_000_000, SLOW)


def trial_of(case: AttackCase) -> Trial:
    """Return the boot of a victim's case."""
    judge = partial(judge_work, boot=case.name)
    return Trial(case.boot, judge, availability.MAX_CYCLES, availability.UART_CYCLES, case)


def short_boot(name: str, slots: tuple[str, ...], scene: int) -> Boot:
    """Return a boot of these apps, which change often: its slices are short."""
    return Boot(name, slots[0], slots, (), scene, SLICE_US)


def run_trial(plan: Plan, trial: Trial) -> Count:
    """Build an image, run it, judge what it says."""
    name = trial.boot.name
    try:
        image = image_of(plan, trial)
        limits = {"max-cycles": trial.max_cycles, "uart-cycles": trial.uart_cycles}
        start = Start(name, image.flash, icache=True, panics=plan.kernel.panics)
        session = plan.board.target.configured(limits).start(start)
        lines = list(session.lines())
        ending = session.ending()
    except TockmarkError as error:
        return Count(lost=[f"{name}: {error}"])
    text = "".join(f"{line}\n" for line in lines)
    (logs_of(plan) / f"{name}.log").write_text(text, encoding="latin-1")
    log = read_log(lines)
    count = trial.judge(log)
    problems = [*log.problems, *([ending] if ending else [])]
    count.lost = [f"{name}: {what}" for what in [*count.lost, *problems]]
    return count


def image_of(plan: Plan, trial: Trial, restarts: int = 0xFFFF_FFFF) -> Image:
    """Build the image of a boot, on a kernel that starts each app again after so many faults."""
    apps = AppBuild(paths.APPS / f"conformance-abi{plan.abi}", plan.abi)
    kernel = with_words(plan.kernel, {RESTARTS_WORD: restarts})
    words = {"cf_calls": plan.calls, "cf_step": plan.step}
    if trial.case is not None:
        words = {"cf_calls": trial.case.seed, "cf_milliseconds": availability.MILLISECONDS}
    image = build_image(trial.boot, apps, kernel, plan.board, logs_of(plan), words)
    if trial.case is not None and trial.case.has_long_name:
        availability.lay_long_name(image, plan.abi, plan.board)
    return image


def logs_of(plan: Plan) -> Path:
    """Return where the logs of a kernel's boots are kept."""
    return paths.WRITTEN / "conformance" / f"{plan.kernel.sha256[:8]}-abi{plan.abi}"


def read_log(lines: list[str]) -> Log:
    """Return a log's records, what is wrong with it, and the faults that the kernel reports."""
    items = decode(lines)
    records = [item for item in items if isinstance(item, Record)]
    # An app that was to end says no `end`, and one whose RAM was cleared begins anew.
    gone = {record.words[0] for record in records if record.kind == "gone"}
    problems = [str(p) for p in items if isinstance(p, Problem) and p.app not in gone]
    found = ((number, _FAULT.search(line)) for number, line in enumerate(lines, 1))
    faults = [(number, m[1], int(m[2], 16), int(m[3], 16)) for number, m in found if m]
    return Log(records, problems, faults)


def judge_rules(log: Log, expected: list[str]) -> Count:
    """Count the rules that an app reports as kept and none as broken; each has to be reported."""
    verdicts: dict[str, str] = {}
    for record in log.said("rule"):
        number, verdict = record.words[:2]
        if verdict == "wrong":
            pairs = dict(record.pairs)
            verdict = f"broken: line {pairs['line']} got {pairs['got']}, wanted {pairs['want']}"
        if not verdicts.get(number, "").startswith("broken"):
            verdicts[number] = verdict
    count = Count(rules=sum(verdicts.get(number) == "ok" for number in expected))
    for number in expected:
        verdict = verdicts.pop(number, "not reported")
        if verdict == "skipped":
            count.skipped.append(number)
        elif verdict != "ok":
            count.lost.append(f"{number} {verdict}")
    known = {rule.number for rule in load_rules()}  # those of the baseline alone do not bind others
    count.lost += [f"{number} is not in the list of rules" for number in verdicts.keys() - known]
    return count


def judge_attempts(log: Log) -> Count:
    """Count the attempts that ended by the fault that they announced, or, where they announced
    none, by an answer as it should be; and see that the neighbours are whole."""
    count = Count(lost=_damage(log))
    own = [record for record in log.records if record.kind in ("try", "tried")]
    for record, after in zip(own, [*own[1:], None], strict=True):
        if record.kind != "try":
            continue
        name, pairs = " ".join(record.words), dict(record.pairs)
        if after is None or after.kind != "tried":
            count.lost.append(f"{name}: nothing was heard of it")
            continue
        faults = [fault for fault in log.faults if record.line < fault[0] < after.line]
        wrong = _wrong_end(after.words[0], faults, int(pairs["cause"]), pairs.get("at"))
        if wrong is None:
            count.attempts += 1
            count.listed.append(name)
        else:
            count.lost.append(f"{name}: {wrong}")
    return count


def _wrong_end(
    ended: str, faults: list[tuple[int, str, int, int]], cause: int, at: str | None
) -> str | None:
    """Say what is wrong with how an attempt ended; None if it was stopped."""
    wanted = ("faulted", 1) if cause else ("held", 0)
    if (ended, len(faults)) != wanted:
        return f"{ended}, with {len(faults)} faults"
    if not faults:
        return None
    ((_, app, got_cause, value),) = faults
    good = (app, got_cause) == ("hostile", cause) and (at is None or int(at) == value)
    return None if good else f"app {app} faulted with cause {got_cause} at {value:#x}"


def judge_fuzz(log: Log, calls: int) -> Count:
    """See that so many calls were made, and that the neighbours are whole."""
    count = Count(lost=_damage(log))
    done = log.said("fuzz", "done")
    count.calls = int(dict(done[0].pairs)["calls"]) if done else 0
    if count.calls < calls:
        count.lost.append(f"{count.calls} of {calls} calls were made")
    return count


def judge_csrs(log: Log, insn: int, step: int = 1) -> Count:
    """See that each control register's access by this instruction (less the number) was illegal,
    or that the number gives the register to user mode; every `step`th was tried."""
    illegal = {value for _, _, cause, value in log.faults if cause == ILLEGAL}
    opened = {int(dict(record.pairs)["number"]) for record in log.said("csr", "open")}
    stopped = {number for number in range(CSRS) if number << 20 | insn in illegal}
    count = Count(csrs=len(stopped))
    count.open_csrs = [f"{number:#05x}" for number in sorted(opened) if not number & LEAST_MODE]
    count.lost = [f"{number:#05x} is open" for number in sorted(opened) if number & LEAST_MODE]
    untried = sorted(set(range(0, CSRS, step)) - stopped - opened)
    if untried:
        count.lost.append(f"{len(untried)} registers not tried, {untried[0]:#05x} the first")
    return count


def judge_work(log: Log, boot: str) -> Count:
    """Note what the victim has done; whether it was enough is judged beside the others."""
    found = log.said("work")
    return Count(done={boot: int(dict(found[0].pairs)["done"])} if found else {})


def _damage(log: Log) -> list[str]:
    """Name the neighbours that did not say that they are whole."""
    whole = {record.app for record in log.said("neighbour", "whole")}
    return [f"{name} is damaged or silent" for name in NEIGHBOURS if name not in whole]


def count_text(plan: Plan, count: Count, stretches: str) -> str:
    """Return what the boots of a kernel add up to, what each victim finished, and, where they were
    traced, what is said of the stretches with interrupts off."""
    lines = [f"  rules checked     {count.rules}"]
    if count.skipped:
        lines.append(f"  rules skipped     {len(count.skipped)}: {', '.join(count.skipped)}")
    if plan.own:
        lines.append(f"  attempts stopped  {count.attempts}")
        *fixed, fresh = plan.seeds
        seeds = f"1 to {len(fixed)}" if len(fixed) > 1 else "1"
        lines.append(f"  calls fuzzed      {count.calls}, seeds {seeds} and {fresh}")
        if plan.abi == 2:
            opened = ", ".join(count.open_csrs) or "none"
            lines.append(f"  CSR accesses      {count.csrs} stopped, open to user mode: {opened}")
        lines += availability.text(count.shares)
    if stretches:
        lines.append(f"  interrupts off    {stretches}")
    lines.append(f"  lost              {len(count.lost) or 'none'}")
    lines.append(f"  logs              {paths.shown(logs_of(plan))}/")
    return "\n".join(lines) + "\n"
