# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `robustness`: attacks, damages and interrupts the project, and writes what happened to
docs/trust.md. `make robustness` runs all parts, `make robustness PARTS="runs logs"` some.

Each part's outcome goes to lab/data/robustness.json as soon as it is there, with its seed, date
and commit, in the place of that part's older one; parts that were not asked for stay. The words
are in the template lab/pages/robustness.md.j2. PARTS=page fills the page alone; --check writes
nothing, and the exit code is 1 if the page is not what the file says. It is 1, too, if anything did
not hold.
"""

import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

import jinja2
from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, OK, TockmarkError
from tockmark.base.files import write_whole
from tockmark.base.paths import commit_of_checkout
from tockmark.cli.program import verb
from tockmark.compare.limits import Limit
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import false_alarms, interrupted, interrupts_off, mutants
from tockmark_lab.conformance import MIXES, Plan, mixed_case, run_cases
from tockmark_lab.folders import DATA, LAB
from tockmark_lab.interrupted import last_line

STORED = DATA / "robustness.json"
PAGE = paths.DOCS / "trust.md"
TEMPLATE = LAB / "pages" / "robustness.md.j2"
BLOCK = re.compile(r"(<!-- robustness: [^\n]+ -->\n).*?(<!-- end of robustness -->)", re.DOTALL)
FORMAT = "tockmark-robustness"
# How many of each, unless the environment says another number.
COUNTS = {
    "TOCKMARK_FUZZ_ELFS": 20_000,
    "TOCKMARK_FUZZ_IMAGES": 5_000,
    "TOCKMARK_FUZZ_LOGS": 10_000,
    "TOCKMARK_FUZZ_RESULTS": 5_000,
    "TOCKMARK_MIXES": 500,
    "TOCKMARK_INTERRUPTED_RUNS": 60,
    "TOCKMARK_INTERRUPTED_SETUPS": 6,
    "TOCKMARK_MUTANTS": 90,
}
SEARCHES = 10  # boots that look for what keeps interrupts off for long
TESTS = "tools/tockmark/tests"


@dataclass(frozen=True)
class Try:
    """Trials of one kind: how many there were, and how many of them ended in which way."""

    what: str
    count: int
    seed: str = ""
    came: Mapping[str, int] = field(default_factory=dict)


@dataclass
class PartOutcome:
    """The outcome of a part; each thing that did not hold is a line in words."""

    tries: list[Try] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    kernels: dict[str, str] = field(default_factory=dict)  # their SHA-256, by version
    shares: dict[str, Any] = field(default_factory=dict)  # of availability, by version
    # Stretches with interrupts off, by version.
    masked: dict[str, Any] = field(default_factory=dict)


def say(what: str) -> None:
    print(f"robustness: {what}", flush=True)


def count_of(name: str) -> int:
    return _number(name, os.environ.get(name, str(COUNTS[name])))


def _number(name: str, given: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", given) or not 0 < int(given) < 2**32:
        raise TockmarkError(f"{name}={given} is no number from 1 to {2**32 - 1}", "give another")
    return int(given)


def call(command: list[str], more: Mapping[str, int] | None = None) -> tuple[int, str, str]:
    """Run a command in the checkout; return its exit code and what it says."""
    environment = os.environ | {name: str(value) for name, value in (more or {}).items()}
    done = subprocess.run(
        command, cwd=paths.ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def conformance_json(*arguments: str) -> Any:
    """Run the verb `conformance` and return the JSON that it prints, also if rules are broken."""
    code, out, err = call(
        [sys.executable, "-m", "tockmark_lab", "conformance", *arguments, "--json"]
    )
    if code not in (OK, INCOMPLETE) or not out:
        raise TockmarkError(f"conformance failed: {last_line(err)}", "run `make build apps-lab`")
    return json.loads(out)


def conformance(seed: int) -> PartOutcome:
    """Run the verb conformance: rules, attempts, calls, CSRs, availability."""
    found = PartOutcome()
    for abi in (2, 1):
        say(f"  version {abi} of the interface")
        (count,) = conformance_json("--abi", str(abi), "--seed", str(seed))
        *fixed, fresh = count["seeds"]
        seeds = f"{', '.join(map(str, fixed))} and {fresh}"
        where = f"version {abi}"
        found.tries += [
            Try(f"rules checked, {where}", count["rules"]),
            Try(f"attempts stopped, {where}", count["attempts"]),
            Try(f"calls fuzzed, {where}", count["calls"], seeds),
        ]
        if count["csrs"] or count["open_csrs"]:
            came = {"stopped": count["csrs"], "open to user mode": len(count["open_csrs"])}
            found.tries.append(Try("accesses to CSRs", sum(came.values()), "", came))
        found.lost += [f"version {abi}: {what}" for what in count["lost"]]
        found.shares[str(abi)] = [share | share["case"] for share in count["worst"]]
        found.kernels[str(abi)] = _kernel(abi)
    return found


def mixes(seed: int) -> PartOutcome:
    """Let attackers make random mixes of calls, half of them on each version of the interface.

    The seeds that leave a victim least are for the list in tockmark_lab.conformance."""
    found, number = PartOutcome(), count_of("TOCKMARK_MIXES") // 2
    board = boards.load(boards.simulated_board("cw310"))
    for abi in (2, 1):
        say(f"  version {abi} of the interface")
        seeds = random.Random(seed + abi).sample(range(1, 2**31), number)
        kernel = read_kernel(board.kernels[abi])
        plan = Plan(kernel, board, abi, (), 0, os.cpu_count() or 1)
        count = run_cases(plan, map(mixed_case, seeds))
        found.tries.append(Try(f"mixes of calls, version {abi}", len(seeds), str(seed)))
        found.lost += [f"version {abi}: {what}" for what in count.lost]
        found.shares[str(abi)] = [asdict(share) | asdict(share.case) for share in count.worst]
        worst = sorted(count.shares, key=attrgetter("part"))[: len(MIXES) // 2]
        say(f"  the worst seeds: {sorted(share.case.seed for share in worst)}")
        found.kernels[str(abi)] = kernel.sha256
    return found


def masked(seed: int) -> PartOutcome:
    """Look for the longest time with interrupts off, and hold it to its limit."""
    found = PartOutcome()
    board = boards.load(boards.simulated_board("cw310"))
    searches = [interrupts_off.search(seed) for seed in range(1, SEARCHES + 1)]
    for abi in (2, 1):
        kernel = read_kernel(board.kernels[abi])
        plan = Plan(kernel, board, abi, (), 0, 1)
        stretches = interrupts_off.measure(plan, [*searches, *interrupts_off.SCENES])
        found.masked[str(abi)] = {kind: asdict(worst) for kind, worst in stretches.items()}
        found.lost += [f"version {abi}: {what}" for what in interrupts_off.too_long(stretches)]
        found.kernels[str(abi)] = kernel.sha256
    return found


def _kernel(abi: int) -> str:
    return read_kernel(boards.load(boards.simulated_board("cw310")).kernels[abi]).sha256


def headers(seed: int) -> PartOutcome:
    """Break headers for the kernel's reader of apps, by its own test."""
    test = "a_million_broken_headers_never_mislead"
    command = ["cargo", "test", "--quiet", "-p", "tockmark-kernel", test]
    code, out, err = call([*command, "--", "--ignored", "--nocapture"])
    summary = re.search(r"(\d+) headers, seed (\S+): \{(.*)\}", out)
    if summary is None and "error" in err:
        raise TockmarkError("the kernel's tests cannot be built", f"run `{' '.join(command)}`")
    tries = []
    if summary is not None:
        came = {name: int(number) for name, number in re.findall(r'"(\w+)": (\d+)', summary[3])}
        tries.append(Try("app headers, read by the kernel", int(summary[1]), summary[2], came))
    return PartOutcome(tries, [] if code == 0 and tries else [f"{test} failed: {last_line(out)}"])


def tested(counts: str, variable: str, *tests: str) -> PartOutcome:
    """Run fuzz tests with more inputs than `make test` gives them; return what each tells of
    them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={path}"]
        code, out, err = call([*command, *tests], {variable: count_of(counts)})
        if not path.exists():
            raise TockmarkError(f"pytest failed: {last_line(err or out)}", "run `make test`")
        cases = list(ElementTree.parse(path).iter("testcase"))
    found = PartOutcome()
    for case in cases:
        for summary in case.iterfind("properties/property"):
            if summary.get("name") == "tried":
                found.tries.append(Try(**json.loads(summary.get("value", ""))))
        for wrong in (*case.iterfind("failure"), *case.iterfind("error")):
            said = (wrong.get("message") or "without a word").splitlines()[0]
            found.lost.append(f"{case.get('name')}: {said}")
    if not found.lost and (code or not cases):
        found.lost.append(f"pytest ended with {code}: {last_line(out)}")
    return found


def images(seed: int) -> PartOutcome:
    simulated = tested("TOCKMARK_FUZZ_IMAGES", "TOCKMARK_FUZZ_IMAGES", "lab/tests/test_fuzz.py")
    test = f"{TESTS}/test_elf.py::test_a_damaged_elf_is_a_kernel_or_one_line"
    read = tested("TOCKMARK_FUZZ_ELFS", "TOCKMARK_FUZZ", test)
    return PartOutcome(simulated.tries + read.tries, simulated.lost + read.lost)


def logs(seed: int) -> PartOutcome:
    names = (
        "test_what_survives_of_a_damaged_log_is_right",
        "test_any_bytes_at_all_give_a_result_or_one_line",
    )
    tests = [f"lab/tests/test_fuzz_logs.py::{name}" for name in names]
    return tested("TOCKMARK_FUZZ_LOGS", "TOCKMARK_FUZZ", *tests)


def results(seed: int) -> PartOutcome:
    return tested("TOCKMARK_FUZZ_RESULTS", "TOCKMARK_FUZZ", "lab/tests/test_fuzz_results.py")


def interruptions(what: str, seed: int) -> PartOutcome:
    """Interrupt runs, or set-ups."""
    trials = {"runs": interrupted.runs, "set-ups": interrupted.setups}[what]
    count = count_of(f"TOCKMARK_INTERRUPTED_{what.replace('-', '').upper()}")
    tally = trials(count, seed, lambda step: say(f"  {step}"))
    tried = Try(f"{what} interrupted", tally.tried, str(seed), dict(tally.endings))
    return PartOutcome([tried], tally.lost)


def guards(seed: int) -> PartOutcome:
    """Try mutants of the guards."""
    tried = mutants.run(count_of("TOCKMARK_MUTANTS"), seed, lambda step: say(f"  {step}"))
    found = PartOutcome()
    for place, done in tried.items():
        came = dict(done.tally.endings)
        found.tries.append(Try(f"{place}, of {done.guards}", done.tally.tried, str(seed), came))
        found.lost += done.tally.lost
    return found


def judged_links(seed: int) -> PartOutcome:
    """Judge links of one source by each other: all ordered pairs, and random halves."""
    found = PartOutcome()
    for name in false_alarms.KERNELS:
        say(f"  {name}")
        for kind, limits in false_alarms.limits_between_links(name).items():
            said = {limit.word: limits.count(limit) for limit in sorted(set(limits))}
            found.tries.append(Try(f"`{name}`, {kind}", len(limits), came=said))
            if (hard := limits.count(Limit.HARD)) > false_alarms.ALLOWED_ALARMS * len(limits):
                found.lost.append(f"{name}, {kind}: {hard} of {len(limits)} have a hard finding")
    return found


PARTS: dict[str, Callable[[int], PartOutcome]] = {
    "conformance": conformance,
    "mixes": mixes,
    "interrupts-off": masked,
    "headers": headers,
    "images": images,
    "logs": logs,
    "results": results,
    "links": judged_links,
    "runs": partial(interruptions, "runs"),
    "setups": partial(interruptions, "set-ups"),
    "mutants": guards,
}


def stored() -> dict[str, Any]:
    """Return the outcome of each part that was ever run, by its name."""
    if not STORED.exists():
        return {}
    try:
        data = json.loads(STORED.read_text(encoding="utf-8"))
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TockmarkError(
            f"{paths.shown(STORED)} is not what this wrote", "take it from git again"
        )
    return dict(data["parts"])


def run(name: str, seed: int) -> dict[str, Any]:
    """Run one part; return its outcome, what it ran on, and how long it took."""
    begun = time.monotonic()
    date, commit = datetime.now(UTC).date().isoformat(), commit_of_checkout()
    found = PARTS[name](seed)
    seconds = round(time.monotonic() - begun)
    about = {"date": date, "commit": commit, "seconds": seconds, "cores": os.cpu_count()}
    return about | asdict(found)


def render(parts: Mapping[str, Any]) -> str:
    """Return what the page has between its two lines."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string(TEMPLATE.read_text("utf-8"))
    made = template.render(
        parts=parts,
        names=list(PARTS),
        argued=mutants.equivalent(),
        most_cycles=interrupts_off.MOST_CYCLES,
        unlimited=interrupts_off.UNLIMITED,
    )
    return re.sub(r"\n{3,}", "\n\n", made).strip() + "\n"


def filled(parts: Mapping[str, Any]) -> str:
    """Return the page with these outcomes in it."""
    page, made = PAGE.read_text(encoding="utf-8"), render(parts)
    return BLOCK.sub(lambda block: block[1] + made + block[2], page)


def run_all(names: list[str], seed: int) -> int:
    """Run these parts and make the page of all; return how many things did not hold."""
    lost = 0
    for name in names:
        before = stored().get(name)
        say(f"{name}, {before['seconds']} s the last time" if before else name)
        part = run(name, seed)
        keep(stored() | {name: part})  # another process may have added its own meanwhile
        for what in part["lost"]:
            print(f"robustness: lost: {what}", file=sys.stderr)
        lost += len(part["lost"])
        say(f"{name}: {len(part['lost']) or 'nothing'} lost, {part['seconds']} s")
    keep(stored())
    say(f"{paths.shown(PAGE)} is made")
    return lost


def keep(parts: Mapping[str, Any]) -> None:
    """Write the file and its page."""
    ordered = {name: parts[name] for name in PARTS if name in parts}
    content = json.dumps({"format": FORMAT, "parts": ordered}, indent=1) + "\n"
    write_whole({STORED: content, PAGE: filled(parts)})


@verb(
    "tockmark-lab robustness",
    "tockmark-lab robustness runs logs --seed 7",
    exits={OK: "everything held", INCOMPLETE: "something did not hold, or the page is stale"},
)
def robustness_verb(
    parts: Annotated[
        list[str] | None,
        Argument(metavar="PART", help=f"{', '.join(PARTS)}; page: fill the page only."),
    ] = None,
    seed: Annotated[
        int | None, Option(min=1, max=2**32 - 1, help="Default: a new seed each time.")
    ] = None,
    check: Annotated[bool, Option("--check", help="Only check the page.")] = False,
) -> None:
    """Attack, damage and interrupt the project, and write what happened to docs/trust.md.

    The outcome of each part is stored as soon as the part ends."""
    # Ctrl-C works in what is started, even where the shell that started this ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if check:
        good = PAGE.read_text(encoding="utf-8") == filled(stored())
        if not good:
            say(f"{paths.shown(PAGE)} is stale: run `make robustness PARTS=page`")
        raise Exit(OK if good else INCOMPLETE)
    for name in parts or ():
        if name not in (*PARTS, "page"):
            raise TockmarkError(f"there is no part '{name}'", f"name {', '.join(PARTS)}")
    chosen = [name for name in PARTS if not parts or name in parts]
    lost = run_all(chosen, seed or secrets.randbelow(2**32 - 1) + 1)
    raise Exit(INCOMPLETE if lost else OK)
