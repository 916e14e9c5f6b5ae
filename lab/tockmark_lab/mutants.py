# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tries mutants of the guards (mutations.py) in copies of the checkout: does a test see each? A
part of `make robustness`.

Each place has its share of what is tried, and each source the tests that cover it, cheapest first.
A mutant that no test tells from the original has survived, unless EQUIVALENT says in a sentence why
none can.
"""

import contextlib
import sys
import threading
import time
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
LIMIT, TIMES = 60.0, 5.0  # seconds that a test may take: so many, and so often what it needs
TRIED = 2  # times that a test may fail without a mutant, as one can on a busy machine
BUILD = 1800.0  # seconds that a build may take, or a test without a mutant
LINKED = (".tools", "build/sim", "build/apps")  # products that no mutant changes
KILLED, BY_TIME, SURVIVED, EQUAL = "killed", "killed by time", "survived", "argued equivalent"

Command = tuple[str, ...]


@dataclass(frozen=True)
class MutantTest:
    """A command that fails for what is no good, and one that builds what it tests: where that
    fails, the mutant is no program."""

    test: Command
    build: Command = ()


@dataclass(frozen=True)
class MutantPlace:
    """Sources whose guards are tried together."""

    share: int  # of all mutants, in parts
    suites: Mapping[str, Sequence[MutantTest]]  # by a pattern of paths, cheapest first


def _cargo(*words: str) -> list[MutantTest]:
    test: Command = ("cargo", "test", "--quiet", *words)
    return [MutantTest(test, (*test, "--no-run"))]


TESTS = ("tools/tockmark/tests", "tests", "lab/tests")


def _pytest(names: str) -> list[MutantTest]:
    """Return a test per file of tests, which may be in any of the folders."""
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
PLACES = {
    "kernel": MutantPlace(6, {"kernel/src/*.rs": _HOST, "kernel/src/drivers/*.rs": _HOST}),
    "chip": MutantPlace(1, {"kernel/src/arch/riscv/*.rs": _CHIP}),
    "capsule": MutantPlace(
        1, {"capsules/perf/src/commands.rs": _cargo("--package", "tockmark-perf")}
    ),
    "log parser": MutantPlace(
        2,
        {
            f"{_WIRE}/records.py": _pytest("protocol captured rows samples fuzz_logs marks"),
            f"{_WIRE}/boots.py": _pytest("rows samples untimed slope linear faults fuzz_logs"),
            "lab/tockmark_lab/study_log.py": _pytest("study_log study_logs"),
        },
    ),
    "result reader": MutantPlace(
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
    "cache": MutantPlace(
        2,
        {
            f"{_RIG}/cache.py": _pytest("cache run"),
            "tools/tockmark/base/files.py": _pytest("files cache"),
        },
    ),
}


@dataclass
class Tried:
    """What came of the mutants of a place."""

    guards: int  # as many mutants there are
    tally: Tally = field(default_factory=Tally)


class Bench:
    """A copy of the checkout, in which a mutant takes the place of its original for a while."""

    def __init__(self, root: Path, folder: Path, go_on: Callable[[], None]) -> None:
        self.folder, self.go_on = folder, go_on
        copy_checkout(folder, root)
        for name in LINKED:
            if (root / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(root / name)

    @contextlib.contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """Have a mutant in its place."""
        path = self.folder / mutant.file
        original = path.read_bytes()
        # Python knows a source by its size and the second of its change.
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
            command, self.go_on, cwd=self.folder, bounds=processes.Bounds(seconds),
            env=bare_environment() | {"PYTHONPATH": f"{self.folder}/tools:{self.folder}/lab"},
            stdout=processes.DEVNULL, stderr=processes.DEVNULL,
        )  # fmt: skip
        return None if child.why else child.code


class Trials:
    """Mutants of some places, in the order in which a seed draws them."""

    def __init__(self, root: Path, places: Mapping[str, MutantPlace], seed: int) -> None:
        self.places, self.argued = places, equivalent()
        self.tried: dict[str, Tried] = {}
        self._suites: dict[str, Sequence[MutantTest]] = {}  # by file
        self._left: dict[str, Iterator[Mutant]] = {}
        self._usual: dict[Command, float] = {}  # seconds of a test without a mutant
        self._halted = threading.Event()
        self._lock = threading.Lock()
        for name, place in places.items():
            mutants = []
            for file, suite in sources(root, place):
                mutants += mutants_of(file, (root / file).read_text(encoding="utf-8"))
                self._suites[file] = suite
            self._left[name] = drawn(mutants, seed)
            self.tried[name] = Tried(len(mutants))

    def run(self, benches: Sequence[Bench], count: int, say: Callable[[str], None]) -> None:
        """Try so many mutants of all places, a bench each at a time; fewer if there are no more."""
        free: SimpleQueue[Bench] = SimpleQueue()
        for bench in benches:
            free.put(bench)

        def borrowing(act: Callable[..., None], *words: Any) -> None:
            bench = free.get()
            try:
                act(bench, *words)
            finally:
                free.put(bench)

        whole = sum(place.share for place in self.places.values())
        turns = sorted(
            (turn / place.share, name)
            for name, place in self.places.items()
            for turn in range(round(count * place.share / whole))
        )
        with ThreadPoolExecutor(len(benches)) as pool:
            begun = [pool.submit(borrowing, self._try, name, say) for _, name in turns]
            try:
                for done in wait(begun, return_when=FIRST_EXCEPTION).done:
                    done.result()
            except BaseException:  # Ctrl-C, or tests that fail without a mutant
                self._halted.set()
                pool.shutdown(cancel_futures=True)
                raise

    def go_on(self) -> None:
        """CancelledError if nobody waits for what comes any more."""
        if self._halted.is_set():
            raise CancelledError

    def _try(self, bench: Bench, name: str, say: Callable[[str], None]) -> None:
        """Try the next mutant of a place that is a program."""
        while True:
            with self._lock:
                mutant = next(self._left[name], None)
            if mutant is None:
                return
            came = self._outcome(bench, mutant)
            if came:
                with self._lock:
                    self._count(self.tried[name].tally, mutant, came)
                say(f"{name}, {came}: {mutant}")
                return

    def _outcome(self, bench: Bench, mutant: Mutant) -> str:
        """Say what came of a mutant; "" if it is no program."""
        if mutant.file.endswith(".py"):
            try:
                compile(mutant.text, mutant.file, "exec")
            except SyntaxError:
                return ""
        for step in self._suites[mutant.file]:
            limit = LIMIT + TIMES * self._seconds(bench, step)
            with bench.holding(mutant):
                if step.build and bench.code(step.build, BUILD) != 0:
                    return ""
                code = bench.code(step.test, limit)
            if code != 0:
                return BY_TIME if code is None else KILLED
        return SURVIVED

    def _seconds(self, bench: Bench, step: MutantTest) -> float:
        """Return how long a test takes without a mutant. TockmarkError if it does not pass."""
        if step.test not in self._usual:
            since = time.monotonic()
            if step.build:
                bench.code(step.build, BUILD)
            if all(bench.code(step.test, BUILD) != 0 for _ in range(TRIED)):
                command = " ".join(step.test).replace(sys.executable, "python")
                raise TockmarkError("a test fails without a mutant", f"see what `{command}` says")
            self._usual[step.test] = time.monotonic() - since
        return self._usual[step.test]

    def _count(self, tally: Tally, mutant: Mutant, came: str) -> None:
        argued = mutant.key in self.argued
        if argued and came == SURVIVED:
            came = EQUAL
        elif argued:
            tally.lost.append(f"{mutant} is argued equivalent, and is {came}")
        elif came == SURVIVED:
            tally.lost.append(f"{mutant} survived")
        tally.tried += 1
        tally.came[came] += 1


def sources(root: Path, place: MutantPlace) -> Iterator[tuple[str, Sequence[MutantTest]]]:
    """Yield the sources of a place, each with what tries its mutants."""
    for pattern, suite in place.suites.items():
        for path in sorted(root.glob(pattern)):
            if not path.stem.endswith("tests"):
                yield str(path.relative_to(root)), suite


def equivalent() -> dict[tuple[str, str, str], str]:
    """Return why no test can tell a mutant from its original, by the mutant's key."""
    entries = files.toml(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["file"], one["function"], one["change"]): one["why"] for one in entries}


def run(
    count: int,
    seed: int,
    say: Callable[[str], None],
    root: Path = paths.ROOT,
    places: Mapping[str, MutantPlace] = PLACES,
) -> dict[str, Tried]:
    """Try so many mutants, and return what came of those of each place."""
    trials = Trials(root, places, seed)
    with files.temporary_folder(paths.WRITTEN / "mutants") as folder:
        benches = [Bench(root, folder / str(number), trials.go_on) for number in range(WORKERS)]
        trials.run(benches, count, say)
    return trials.tried


def short_conformance() -> list[str]:
    """Hold the kernel that is built here to the rules, and see it stop the attempts; return what
    is lost. What is a matter of many calls, of time, or of the core alone is left out."""
    board = boards.load(boards.DEFAULT)
    plan = conformance.Plan(read_kernel(board.kernels[2]), board, 2, seeds=(), calls=1, jobs=1)
    every = conformance.trials(plan)
    tried = [trial for trial in every if not trial.boot.name.startswith("csrs")]
    return conformance.run_trials(plan, tried).lost


if __name__ == "__main__":
    sys.exit("\n".join(short_conformance()) or None)
