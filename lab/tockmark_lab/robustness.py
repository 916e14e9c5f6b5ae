# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `robustness`: attacks, damages and interrupts the project, and writes the outcome to
docs/trust.md. `make robustness` runs all parts, `make robustness PARTS="runs logs"` some.

As soon as a part ends, its outcome is stored in lab/data/robustness.json, with its seed, date and
commit, and replaces the part's older outcome. The other parts stay. The text of the page is in the
template lab/pages/robustness.md.j2. PARTS=page fills the page only; --check writes nothing. The
exit code is 1 if something did not hold or, with --check, if the page is not up to date.
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
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import interrupted, interrupts_off, mutants
from tockmark_lab.conformance import MIXES, Plan, mixed_case, run_cases
from tockmark_lab.folders import DATA, LAB
from tockmark_lab.interrupted import last_line

STORED = DATA / "robustness.json"
PAGE = paths.DOCS / "trust.md"
TEMPLATE = LAB / "pages" / "robustness.md.j2"
BLOCK = re.compile(r"(<!-- robustness: [^\n]+ -->\n).*?(<!-- end of robustness -->)", re.DOTALL)
FORMAT = "tockmark-robustness"
# Numbers of trials, unless the environment has another number under this name.
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
SEARCHES = 10  # boots that search for operations that keep interrupts off for long
TESTS = "tools/tockmark/tests"


@dataclass(frozen=True)
class Try:
    """Trials of one kind: their number, and how often each outcome occurred."""

    what: str
    count: int
    seed: str = ""
    came: Mapping[str, int] = field(default_factory=dict)


@dataclass
class PartOutcome:
    """The outcome of a part. `lost` has a line for each thing that did not hold."""

    tries: list[Try] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    kernels: dict[str, str] = field(default_factory=dict)  # their SHA-256, by version
    shares: dict[str, Any] = field(default_factory=dict)  # of availability, by version
    # Stretches with interrupts off, by version.
    masked: dict[str, Any] = field(default_factory=dict)


def print_progress(text: str) -> None:
    print(f"robustness: {text}", flush=True)


def trial_count(name: str) -> int:
    return _number(name, os.environ.get(name, str(COUNTS[name])))


def _number(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not 0 < int(text) < 2**32:
        message = f"{name}={text} is not a number from 1 to {2**32 - 1}"
        raise TockmarkError(message, "set it to another number")
    return int(text)


def call(command: list[str], more: Mapping[str, int] | None = None) -> tuple[int, str, str]:
    """Run a command in the checkout. Return its exit code, stdout and stderr."""
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
    """Run the verb `conformance`: rules, attempts, calls, CSRs, availability."""
    outcome = PartOutcome()
    for abi in (2, 1):
        print_progress(f"  version {abi} of the interface")
        (count,) = conformance_json("--abi", str(abi), "--seed", str(seed))
        *fixed, fresh = count["seeds"]
        seeds = f"{', '.join(map(str, fixed))} and {fresh}"
        where = f"version {abi}"
        outcome.tries += [
            Try(f"rules checked, {where}", count["rules"]),
            Try(f"attempts stopped, {where}", count["attempts"]),
            Try(f"calls fuzzed, {where}", count["calls"], seeds),
        ]
        if count["csrs"] or count["open_csrs"]:
            came = {"stopped": count["csrs"], "open to user mode": len(count["open_csrs"])}
            outcome.tries.append(Try("accesses to CSRs", sum(came.values()), "", came))
        outcome.lost += [f"version {abi}: {message}" for message in count["lost"]]
        outcome.shares[str(abi)] = [share | share["case"] for share in count["worst"]]
        outcome.kernels[str(abi)] = _kernel(abi)
    return outcome


def mixes(seed: int) -> PartOutcome:
    """Let attackers make random mixes of calls, half of them on each version of the interface.

    The seeds that leave a victim least belong in the list in tockmark_lab.conformance."""
    outcome, number = PartOutcome(), trial_count("TOCKMARK_MIXES") // 2
    board = boards.load(boards.simulated_board("cw310"))
    for abi in (2, 1):
        print_progress(f"  version {abi} of the interface")
        seeds = random.Random(seed + abi).sample(range(1, 2**31), number)
        kernel = read_kernel(board.kernels[abi])
        plan = Plan(kernel, board, abi, (), 0, os.cpu_count() or 1)
        count = run_cases(plan, map(mixed_case, seeds))
        outcome.tries.append(Try(f"mixes of calls, version {abi}", len(seeds), str(seed)))
        outcome.lost += [f"version {abi}: {message}" for message in count.lost]
        outcome.shares[str(abi)] = [asdict(share) | asdict(share.case) for share in count.worst]
        worst = sorted(count.shares, key=attrgetter("part"))[: len(MIXES) // 2]
        print_progress(f"  the worst seeds: {sorted(share.case.seed for share in worst)}")
        outcome.kernels[str(abi)] = kernel.sha256
    return outcome


def masked(seed: int) -> PartOutcome:
    """Measure the longest time with interrupts off and compare it with its limit."""
    outcome = PartOutcome()
    board = boards.load(boards.simulated_board("cw310"))
    searches = [interrupts_off.search(seed) for seed in range(1, SEARCHES + 1)]
    for abi in (2, 1):
        kernel = read_kernel(board.kernels[abi])
        plan = Plan(kernel, board, abi, (), 0, 1)
        stretches = interrupts_off.measure(plan, [*searches, *interrupts_off.SCENES])
        outcome.masked[str(abi)] = {kind: asdict(worst) for kind, worst in stretches.items()}
        outcome.lost += [
            f"version {abi}: {message}" for message in interrupts_off.too_long(stretches)
        ]
        outcome.kernels[str(abi)] = kernel.sha256
    return outcome


def _kernel(abi: int) -> str:
    return read_kernel(boards.load(boards.simulated_board("cw310")).kernels[abi]).sha256


def headers(seed: int) -> PartOutcome:
    """Give broken app headers to the kernel's parser, by the kernel's own test."""
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


def run_fuzz_tests(counts: str, variable: str, *tests: str) -> PartOutcome:
    """Run fuzz tests with more inputs than `make test` gives them. Return what the tests report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={path}"]
        code, out, err = call([*command, *tests], {variable: trial_count(counts)})
        if not path.exists():
            raise TockmarkError(f"pytest failed: {last_line(err or out)}", "run `make test`")
        cases = list(ElementTree.parse(path).iter("testcase"))
    outcome = PartOutcome()
    for case in cases:
        for summary in case.iterfind("properties/property"):
            if summary.get("name") == "tried":
                outcome.tries.append(Try(**json.loads(summary.get("value", ""))))
        for wrong in (*case.iterfind("failure"), *case.iterfind("error")):
            message = (wrong.get("message") or "no message").splitlines()[0]
            outcome.lost.append(f"{case.get('name')}: {message}")
    if not outcome.lost and (code or not cases):
        outcome.lost.append(f"pytest ended with {code}: {last_line(out)}")
    return outcome


def images(seed: int) -> PartOutcome:
    simulated = run_fuzz_tests(
        "TOCKMARK_FUZZ_IMAGES", "TOCKMARK_FUZZ_IMAGES", "lab/tests/test_fuzz.py"
    )
    test = f"{TESTS}/test_elf.py::test_a_damaged_elf_is_a_kernel_or_one_line"
    read = run_fuzz_tests("TOCKMARK_FUZZ_ELFS", "TOCKMARK_FUZZ", test)
    return PartOutcome(simulated.tries + read.tries, simulated.lost + read.lost)


def logs(seed: int) -> PartOutcome:
    names = (
        "test_surviving_rows_of_a_damaged_log_are_right",
        "test_any_bytes_give_a_result_or_one_line",
    )
    tests = [f"lab/tests/test_fuzz_logs.py::{name}" for name in names]
    return run_fuzz_tests("TOCKMARK_FUZZ_LOGS", "TOCKMARK_FUZZ", *tests)


def results(seed: int) -> PartOutcome:
    return run_fuzz_tests(
        "TOCKMARK_FUZZ_RESULTS", "TOCKMARK_FUZZ", "lab/tests/test_fuzz_results.py"
    )


def interruptions(subject: str, seed: int) -> PartOutcome:
    """Interrupt runs or set-ups."""
    trials = {"runs": interrupted.runs, "set-ups": interrupted.setups}[subject]
    count = trial_count(f"TOCKMARK_INTERRUPTED_{subject.replace('-', '').upper()}")
    tally = trials(count, seed, lambda step: print_progress(f"  {step}"))
    tried = Try(f"{subject} interrupted", tally.tried, str(seed), dict(tally.endings))
    return PartOutcome([tried], tally.lost)


def guards(seed: int) -> PartOutcome:
    """Try mutants of the guards."""
    tried = mutants.run(
        trial_count("TOCKMARK_MUTANTS"), seed, lambda step: print_progress(f"  {step}")
    )
    outcome = PartOutcome()
    for group, done in tried.items():
        came = dict(done.tally.endings)
        outcome.tries.append(Try(f"{group}, of {done.guards}", done.tally.tried, str(seed), came))
        outcome.lost += done.tally.lost
    return outcome


PARTS: dict[str, Callable[[int], PartOutcome]] = {
    "conformance": conformance,
    "mixes": mixes,
    "interrupts-off": masked,
    "headers": headers,
    "images": images,
    "logs": logs,
    "results": results,
    "runs": partial(interruptions, "runs"),
    "setups": partial(interruptions, "set-ups"),
    "mutants": guards,
}


def stored() -> dict[str, Any]:
    """Return the stored outcome of each part, by its name."""
    if not STORED.exists():
        return {}
    try:
        data = json.loads(STORED.read_text(encoding="utf-8"))
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TockmarkError(
            f"{paths.shown(STORED)} is not a file of `robustness`", "restore it from git"
        )
    return dict(data["parts"])


def run(name: str, seed: int) -> dict[str, Any]:
    """Run one part. Return its outcome, its conditions and its duration."""
    begun = time.monotonic()
    date, commit = datetime.now(UTC).date().isoformat(), commit_of_checkout()
    outcome = PARTS[name](seed)
    seconds = round(time.monotonic() - begun)
    about = {"date": date, "commit": commit, "seconds": seconds, "cores": os.cpu_count()}
    return about | asdict(outcome)


def render(parts: Mapping[str, Any]) -> str:
    """Return the text between the page's two markers."""
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
    """Return the page with these outcomes."""
    page, made = PAGE.read_text(encoding="utf-8"), render(parts)
    return BLOCK.sub(lambda block: block[1] + made + block[2], page)


def run_all(names: list[str], seed: int) -> int:
    """Run these parts and update the page. Return how many things did not hold."""
    lost = 0
    for name in names:
        before = stored().get(name)
        print_progress(f"{name}: took {before['seconds']} s last time" if before else name)
        part = run(name, seed)
        keep(stored() | {name: part})  # another process may have stored its own meanwhile
        for message in part["lost"]:
            print(f"robustness: lost: {message}", file=sys.stderr)
        lost += len(part["lost"])
        print_progress(f"{name}: {len(part['lost']) or 'nothing'} lost, {part['seconds']} s")
    keep(stored())
    print_progress(f"{paths.shown(PAGE)} is written")
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
        Argument(
            metavar="PART",
            help=f"Parts to run: {', '.join(PARTS)}; page only fills the page (default: all).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        Option(min=1, max=2**32 - 1, help="Seed of the trials (default: a new one each time)."),
    ] = None,
    check: Annotated[
        bool, Option("--check", help="Only check that the page is up to date.")
    ] = False,
) -> None:
    """Attack, damage and interrupt the project, and write the outcome to docs/trust.md.

    Each part's outcome is stored as soon as the part ends."""
    # Ctrl-C must work in child processes, even if the shell that started this one ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if check:
        good = PAGE.read_text(encoding="utf-8") == filled(stored())
        if not good:
            print_progress(f"{paths.shown(PAGE)} is out of date: run `make robustness PARTS=page`")
        raise Exit(OK if good else INCOMPLETE)
    for name in parts or ():
        if name not in (*PARTS, "page"):
            raise TockmarkError(f"there is no part '{name}'", f"name {', '.join(PARTS)}")
    chosen = [name for name in PARTS if not parts or name in parts]
    lost = run_all(chosen, seed or secrets.randbelow(2**32 - 1) + 1)
    raise Exit(INCOMPLETE if lost else OK)
