# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tries mutants of the guards (mutations.py) in copies of the checkout: does a test notice each
one? A part of `make robustness`.

Each group of sources gets its share of the mutants. Each source lists the tests that cover it, the
cheapest first. A mutant that no test can tell from the original has survived, unless EQUIVALENT
explains why no test can.
"""

import contextlib
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tockmark.base import files, paths, processes
from tockmark.base.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import conformance
from tockmark_lab.folders import DATA
from tockmark_lab.interrupted import Tally, bare_environment, copy_checkout
from tockmark_lab.mutations import Mutant, drawn, mutants_of

EQUIVALENT = DATA / "equivalent-mutants.toml"
WORKERS = 2
LIMIT, TIMES = 60.0, 5.0  # a test may take LIMIT seconds plus TIMES its usual duration
TRIED = 2  # attempts of a test without a mutant: one may fail on a busy machine
BUILD = 1800.0  # seconds that a build may take, or a test without a mutant
LINKED = (".tools", "build/sim", "build/apps")  # products that no mutant changes
KILLED, BY_TIME, SURVIVED, EQUAL = "killed", "killed by timeout", "survived", "argued equivalent"

Command = tuple[str, ...]


@dataclass(frozen=True)
class MutantTest:
    """A test command that fails for a wrong program, and the command that builds the program. If
    the build fails, the mutant is not a valid program.
    """

    test: Command
    build: Command = ()


@dataclass(frozen=True)
class MutantGroup:
    """Sources whose guards are tried together."""

    share: int  # of all mutants, relative to the other groups
    suites: Mapping[str, Sequence[MutantTest]]  # by path pattern, cheapest first


def _cargo(*words: str) -> list[MutantTest]:
    test: Command = ("cargo", "test", "--quiet", *words)
    return [MutantTest(test, (*test, "--no-run"))]


TESTS = ("tools/tockmark/tests", "tests", "lab/tests")


def _pytest(names: str) -> list[MutantTest]:
    """Return a test for each test file. The files may be in any of the test folders."""
    command = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
    files = [
        next(
            f"{folder}/test_{name}.py"
            for folder in TESTS
            if (paths.ROOT / folder / f"test_{name}.py").exists()
        )
        for name in names.split()
    ]
    return [MutantTest((*command, file)) for file in files]


_LIB = ("--package", "tockmark-kernel", "--lib")
_HOST = [
    *_cargo(*_LIB),
    *_cargo(*_LIB, "--features", "abi-v1,nexysvideo"),
    *_cargo(*_LIB, "--features", "eight"),
]
_CHIP = [
    MutantTest(_pytest("kernel")[0].test, ("cargo", "kernel", "--quiet")),
    MutantTest((sys.executable, "-m", "tockmark_lab.mutants")),
]
_WIRE, _RESULT, _RIG = "tools/tockmark/wire", "tools/tockmark/result", "tools/tockmark/target"
GROUPS = {
    "kernel": MutantGroup(6, {"kernel/src/*.rs": _HOST, "kernel/src/drivers/*.rs": _HOST}),
    "chip": MutantGroup(1, {"kernel/src/arch/riscv/*.rs": _CHIP}),
    "capsule": MutantGroup(
        1, {"capsules/perf/src/commands.rs": _cargo("--package", "tockmark-perf")}
    ),
    "log parser": MutantGroup(
        2,
        {
            f"{_WIRE}/records.py": _pytest("protocol captured rows samples fuzz_logs marks"),
            f"{_WIRE}/boots.py": _pytest("rows samples untimed slope linear faults fuzz_logs"),
            "lab/tockmark_lab/study_log.py": _pytest("study_log study_logs"),
        },
    ),
    "result reader": MutantGroup(
        2,
        {
            f"{_RESULT}/build.py": _pytest("run boots control layouts lang faults"),
            f"{_RESULT}/file.py": _pytest("result hostile file fuzz_results"),
            f"{_RESULT}/model.py": _pytest("result samples untimed slope linear table file"),
            f"{_RIG}/parse.py": _pytest("captured control hostile run_board faults"),
            f"{_RESULT}/provenance.py": _pytest("result origin file"),
            f"{_RESULT}/stats.py": _pytest("stats estimate"),
            "tools/tockmark/base/documents.py": _pytest("files hostile file fuzz_results"),
        },
    ),
    "cache": MutantGroup(
        2,
        {
            f"{_RIG}/cache.py": _pytest("cache run"),
            "tools/tockmark/base/files.py": _pytest("files cache"),
        },
    ),
}


@dataclass
class GroupOutcome:
    """The outcome of a group's mutants."""

    guards: int  # number of possible mutants
    tally: Tally = field(default_factory=Tally)


class Bench:
    """A copy of the checkout in which a mutant replaces its original for a while."""

    def __init__(self, root: Path, folder: Path, check_running: Callable[[], None]) -> None:
        self.folder, self.check_running = folder, check_running
        copy_checkout(folder, root)
        for name in LINKED:
            if (root / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(root / name)

    @contextlib.contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """Replace a source by its mutant."""
        path = self.folder / mutant.file
        original = path.read_bytes()
        # Python compares a source's size and the second of its change: delete compiled files.
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()
        path.write_text(mutant.text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(original)

    def code(self, command: Command, seconds: float) -> int | None:
        """Return the exit code of a command in the copy; None if it took too long."""
        child = processes.follow(
            command, self.check_running, cwd=self.folder, bounds=processes.Bounds(seconds),
            env=bare_environment() | {"PYTHONPATH": f"{self.folder}/tools:{self.folder}/lab"},
            stdout=processes.DEVNULL, stderr=processes.DEVNULL,
        )  # fmt: skip
        return None if child.why else child.code


class Trials:
    """The mutants of some groups, in the order in which a seed draws them."""

    def __init__(self, root: Path, groups: Mapping[str, MutantGroup], seed: int) -> None:
        self.groups, self.argued = groups, equivalent()
        self.tried: dict[str, GroupOutcome] = {}
        self._suites: dict[str, Sequence[MutantTest]] = {}  # by file
        self._left: dict[str, Iterator[Mutant]] = {}
        self._usual: dict[Command, float] = {}  # seconds of a test without a mutant
        self._halted = threading.Event()
        self._lock = threading.Lock()
        for name, group in groups.items():
            mutants = []
            for file, suite in sources(root, group):
                mutants += mutants_of(file, (root / file).read_text(encoding="utf-8"))
                self._suites[file] = suite
            self._left[name] = drawn(mutants, seed)
            self.tried[name] = GroupOutcome(len(mutants))

    def run(self, benches: Sequence[Bench], count: int, print_line: Callable[[str], None]) -> None:
        """Try `count` mutants of all groups, one per bench at a time; fewer if there are no
        more."""
        free: SimpleQueue[Bench] = SimpleQueue()
        for bench in benches:
            free.put(bench)

        def borrowing(act: Callable[..., None], *words: Any) -> None:
            bench = free.get()
            try:
                act(bench, *words)
            finally:
                free.put(bench)

        whole = sum(group.share for group in self.groups.values())
        turns = sorted(
            (turn / group.share, name)
            for name, group in self.groups.items()
            for turn in range(round(count * group.share / whole))
        )
        with ThreadPoolExecutor(len(benches)) as pool:
            begun = [pool.submit(borrowing, self._try, name, print_line) for _, name in turns]
            try:
                for done in wait(begun, return_when=FIRST_EXCEPTION).done:
                    done.result()
            except BaseException:  # Ctrl-C, or tests that fail without a mutant
                self._halted.set()
                pool.shutdown(cancel_futures=True)
                raise

    def check_running(self) -> None:
        """Raise CancelledError if the trials were stopped."""
        if self._halted.is_set():
            raise CancelledError

    def _try(self, bench: Bench, name: str, print_line: Callable[[str], None]) -> None:
        """Try the next mutant of a group that is a valid program."""
        while True:
            with self._lock:
                mutant = next(self._left[name], None)
            if mutant is None:
                return
            ending = self._outcome(bench, mutant)
            if ending:
                with self._lock:
                    self._count(self.tried[name].tally, mutant, ending)
                print_line(f"{name}, {ending}: {mutant}")
                return

    def _outcome(self, bench: Bench, mutant: Mutant) -> str:
        """Return the outcome of a mutant; empty if it is not a valid program."""
        if mutant.file.endswith(".py"):
            try:
                compile(mutant.text, mutant.file, "exec")
            except SyntaxError:
                return ""
        for test in self._suites[mutant.file]:
            limit = LIMIT + TIMES * self._seconds(bench, test)
            with bench.holding(mutant):
                if test.build and bench.code(test.build, BUILD) != 0:
                    return ""
                code = bench.code(test.test, limit)
            if code != 0:
                return BY_TIME if code is None else KILLED
        return SURVIVED

    def _seconds(self, bench: Bench, test: MutantTest) -> float:
        """Return the duration of a test without a mutant. TockmarkError if it does not pass."""
        if test.test not in self._usual:
            since = time.monotonic()
            if test.build:
                bench.code(test.build, BUILD)
            if all(bench.code(test.test, BUILD) != 0 for _ in range(TRIED)):
                command = " ".join(test.test).replace(sys.executable, "python")
                raise TockmarkError("a test fails without a mutant", f"run `{command}`")
            self._usual[test.test] = time.monotonic() - since
        return self._usual[test.test]

    def _count(self, tally: Tally, mutant: Mutant, ending: str) -> None:
        is_argued = mutant.key in self.argued
        if is_argued and ending == SURVIVED:
            ending = EQUAL
        elif is_argued:
            tally.lost.append(f"{mutant} is argued equivalent, but is {ending}")
        elif ending == SURVIVED:
            tally.lost.append(f"{mutant} survived")
        tally.tried += 1
        tally.endings[ending] += 1


def sources(root: Path, group: MutantGroup) -> Iterator[tuple[str, Sequence[MutantTest]]]:
    """Yield the sources of a group, each with its tests."""
    for pattern, suite in group.suites.items():
        for path in sorted(root.glob(pattern)):
            if not path.stem.endswith("tests"):
                yield str(path.relative_to(root)), suite


def equivalent() -> dict[tuple[str, str, str], str]:
    """Return why no test can tell a mutant from its original, by the mutant's key."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(entry["file"], entry["function"], entry["change"]): entry["why"] for entry in entries}


def run(
    count: int,
    seed: int,
    print_line: Callable[[str], None],
    root: Path = paths.ROOT,
    groups: Mapping[str, MutantGroup] = GROUPS,
) -> dict[str, GroupOutcome]:
    """Try `count` mutants and return the outcome of each group."""
    trials = Trials(root, groups, seed)
    with files.temporary_folder(paths.WRITTEN / "mutants") as folder:
        benches = [
            Bench(root, folder / str(number), trials.check_running) for number in range(WORKERS)
        ]
        trials.run(benches, count, print_line)
    return trials.tried


def short_conformance() -> list[str]:
    """Check that the kernel built here keeps the rules and stops the attempts, and return what is
    lost. Checks that need many calls, exact timing or the core alone are skipped."""
    board = boards.load(boards.DEFAULT)
    plan = conformance.Plan(read_kernel(board.kernels[2]), board, 2, seeds=(), calls=1, jobs=1)
    every = conformance.trials(plan)
    tried = [trial for trial in every if not trial.boot.name.startswith("csrs")]
    return conformance.run_trials(plan, tried).lost


if __name__ == "__main__":
    sys.exit("\n".join(short_conformance()) or None)
