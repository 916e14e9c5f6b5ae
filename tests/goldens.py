# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tool says of the committed results, written down: a refactoring must not change it.

    python tests/goldens.py make [NAME…]    write the goldens anew
    python tests/goldens.py check [NAME…]   compare; exit code 1 and a diff if something differs
    python tests/goldens.py list            name them

tests/goldens/calls.toml says of which calls of the tool each is made. A golden has their exit
codes, both streams, and the files that they wrote. tests/goldens/digests.txt has a digest of each,
tests/goldens/*.txt have a few short ones in full. build/goldens has all of them in full: `make`
writes them, and `check` needs them to show a diff. `--full DIR` takes another folder, such as that
of another checkout. What differs is left in build/goldens-new.

Without names all are made: `slow` ones only if what `make profile` builds is there. The name of a
group stands for its goldens.
Figures are rounded to nine digits, since their last bits differ between processors.
"""

import argparse
import contextlib
import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "tools"
COMMITTED = ROOT / "tests" / "goldens"
DIGESTS = COMMITTED / "digests.txt"
HEAD = "# By tests/goldens.py make: a golden, its exit codes, the digest of its text.\n"
FULL = ROOT / "build" / "goldens"
NEW = ROOT / "build" / "goldens-new"
# Relative, since the tool shows paths below where it is called. Its name is always as long.
WORK = Path("build", "goldens-work", f"{os.getpid():08}")
LOG = Path("tools", "tockmark", "tests", "four-boots.log")
DIFF = 40  # lines that are shown of a difference
SIMULATORS = tuple(
    ROOT / "build" / "sim" / name / "earlgrey-sim" for name in ("cw310", "cw310-retire")
)
ENVIRONMENT = {
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "PYTHONPATH": f"{TOOLS}:{ROOT}/lab",
    "TERM": "dumb",
    "TOCKMARK_CACHE": "off",
    "TZ": "UTC",
}
UNSET = ("FORCE_COLOR", "LS_COLORS", "PAGER", "XDG_CACHE_HOME")
DRAWN = {".html", ".svg"}  # whose layout differs by a millionth of a pixel from run to run
TEXTS = {".css", ".csv", ".html", ".js", ".json", ".jsonl", ".log", ".md", ".svg", ".txt"}


@dataclass(frozen=True)
class Golden:
    """What a golden is made of, as tests/goldens/calls.toml says."""

    name: str
    calls: tuple[str, ...] = ()
    group: str = "fast"
    told: str = ""
    before: str = ""
    whole: tuple[str, ...] = ()
    of_today: bool = False
    short: bool = False


LIST = tomllib.loads((COMMITTED / "calls.toml").read_text(encoding="utf-8"))
GOLDENS = [Golden(name, **of) for name, of in LIST["goldens"].items()]


@contextlib.contextmanager
def surroundings() -> Iterator[None]:
    """Set folder, environment and arguments alike, wherever this is called from."""
    folder, before, arguments = Path.cwd(), dict(os.environ), sys.argv
    os.chdir(ROOT)
    if str(TOOLS) not in sys.path:  # this checkout's code, whichever environment runs it
        sys.path.insert(0, str(TOOLS))
    os.environ.update(ENVIRONMENT)
    for name in UNSET:
        os.environ.pop(name, None)
    time.tzset()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    try:
        yield
    finally:
        sys.argv = arguments
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)
        time.tzset()
        shutil.rmtree(ROOT / WORK, ignore_errors=True)


def normal(text: str, of_today: bool = False) -> str:
    """Text without what may change though the tool says the same: where the checkout lies, in which
    folder it worked, the tool's own version. With `of_today` also what is of the day."""
    text = re.sub(rf"(?:{re.escape(str(ROOT))}/)?{WORK.parent}/\d{{8}}", "<work>", text)
    text = text.replace(str(ROOT), "<root>")
    text = re.sub(r"(Made by tockmark) \d[\d.]*", r"\1 <version>", text)
    # The last bits of a figure are the processor's, and numpy's.
    text = re.sub(r"\d+\.\d{9,}(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.9g}", text)
    if of_today:
        text = re.sub(r"\b20\d\d-\d\d-\d\d(?:T[\d:+]+)?", "<date>", text)
        text = re.sub(r'(tockmark(?:","version":"|": "| ))\d+\.\d+\.\d+', r"\1<version>", text)
        text = re.sub(r"\b[0-9a-f]{40}(?:-dirty)?\b", "<commit>", text)
        # The folder that the kernel was built in, of which a profile shows the last name.
        text = re.sub(r"(?<=[(\"/])[\w.-]+(?=/kernel/src/)", "<built>", text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text)
        text = re.sub(r"\bsha256 [0-9a-f]{8,}\b", "sha256 <sha256>", text)
    return text


def settled(errors: str) -> str:
    """Standard error without what the clock decides: how far a run is."""
    return re.sub(r"^\d+ of \d+ .*\n", "", errors, flags=re.M)


def called(call: str) -> tuple[str, str, str]:
    """One call of the tool in this process: exit code, standard output, standard error."""
    from tockmark.__main__ import main

    names = LIST["names"] | {"w": WORK}
    sys.argv = ["tockmark", *shlex.split(call.format(**names))]
    code: str | int | None = 0
    with contextlib.ExitStack() as stack:
        # Real files, since the tool may redirect their descriptors: others are read.
        streams = [
            stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")) for _ in range(2)
        ]
        others = [stack.enter_context(os.fdopen(os.dup(one.fileno()), "rb")) for one in streams]
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            try:
                main()
            except SystemExit as end:
                code = end.code
        for stream in streams:
            stream.flush()
        for other in others:
            other.seek(0)
        out, err = (other.read().decode() for other in others)
    return str(code or 0), out, settled(err)


def judgements(*kernels: str) -> str:
    """What `judge` says of links that were measured before, since the verb itself simulates. Only
    this function and the next one call modules of the tool by their names."""
    from tockmark.judge import report
    from tockmark.judge.report import Depth, Grown, Sizes
    from tockmark.profile.diff import Growth, SymbolSize, profile_diff
    from tockmark.profile.file import load
    from tockmark.tests.trials import trial

    folders = ("tock-2.2-z", "tock-master-z")
    old, new = (load(Path("results/profiles", of, "syscall.command-on.json")) for of in folders)
    where = {"syscall.command icache=on": profile_diff(old, new)}
    sections = {"flash": [Grown(".text", 900, 932)], "RAM": []}
    symbols = (
        Growth("kernel::new", None, SymbolSize(1, 40)),
        Growth("<b>|`@me`", SymbolSize(1, 8), None),
    )
    sizes = Sizes({"flash": (1000, 1032), "RAM": (64, 64)}, sections, symbols)
    stacks, said = [Depth(500, 90), Depth(520, 90)], []
    for of in kernels or ("cost", "save"):
        names = f"{of}/old.elf", f"{of}/new`|<b>.elf"
        judged = trial(1, of)[0]
        found = report.Report(judged, names, WORK / "kept", sizes, where, stacks, ["a note"])
        told = json.dumps(report.as_json(found), indent=1, ensure_ascii=False, allow_nan=False)
        said.append(f"=== {of}, exit code {found.exit_code}\n{report.render(found)}")
        said.append(f"=== as Markdown\n{report.markdown(found)}")
        (WORK / f"{of}.json").write_text(told, encoding="utf-8")
    return "".join(said)


def calm_judgement() -> str:
    """Return what `judge` says of a change that moves code and nothing else."""
    return judgements("lay1")


def rewritten() -> str:
    """Every committed result and profile, read and written again."""
    from tockmark.profile import file as profiles
    from tockmark.result import file as results

    lines = []
    for path in committed(".json"):
        text = path.read_text(encoding="utf-8")
        form = json.loads(text).get("format")
        if form == "tockmark-result":
            again = results.text(results.load(path))
        elif form == "tockmark-profile":
            again = profiles.text(profiles.load(path))
        else:
            continue
        lines.append(f"{digest(again)} {'same' if again == text else 'other'} {path}\n")
    return "".join(lines)


def further_logs() -> str:
    """Make a log without the simulator's marks, as of a board, and one with lines lost."""
    lines = LOG.read_bytes().splitlines(keepends=True)
    unmarked = [line for line in lines if not line.startswith(b"#sim ")]
    (WORK / "unmarked.log").write_bytes(b"".join(unmarked))
    kept = [line for number, line in enumerate(lines) if number % 40 != 39]
    (WORK / "damaged.log").write_bytes(b"".join(kept))
    return ""


def committed(suffix: str) -> list[Path]:
    """The files below results/."""
    return [path for path in sorted(Path("results").rglob(f"*{suffix}")) if path.is_file()]


def copied() -> str:
    """Put the project's results into a folder, for a site of them all."""
    for path in (path for path in committed("") if path.suffix in (".json", ".jsonl")):
        to = WORK / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return ""


def digest(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@dataclass(frozen=True)
class Made:
    """What came of a golden: all of it as text, and the files."""

    codes: str
    text: str
    files: dict[str, bytes]

    @property
    def line(self) -> str:
        return f"{self.codes} {digest(self.text)}"

    def keep(self, folder: Path, name: str) -> None:
        """Write it, with its files beside it for whoever wants to look."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_bytes(self.text.encode())
        shutil.rmtree(folder / f"{name}.files", ignore_errors=True)
        for file, data in self.files.items():
            path = folder / f"{name}.files" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def made(golden: Golden) -> Made:
    """Make one. Each call is shown with what came of it, then each file by its digest."""
    with surroundings():
        for name, text in LIST["inputs"].items():
            (WORK / name).write_text(text, encoding="utf-8")
        if golden.before:
            FUNCTIONS[golden.before]()
        given = set(WORK.rglob("*"))
        parts, codes = [FUNCTIONS[golden.told]() if golden.told else ""], []
        for call in golden.calls:
            code, out, err = called(call)
            codes.append(code)
            parts.append(f"$ tockmark {call}\n{out}")
            parts.append(f"--- standard error\n{err}" if err else "")
            parts.append(f"--- exit code {code}\n")
        paths = sorted(path for path in set(WORK.rglob("*")) - given if path.is_file())
        files = {path.relative_to(WORK).as_posix(): path.read_bytes() for path in paths}
    parts = [normal("".join(parts), golden.of_today)]
    for name, data in files.items():
        if Path(name).suffix in TEXTS:
            text = normal(data.decode(), golden.of_today)
            if Path(name).suffix in DRAWN:
                text = re.sub(r"\d+\.\d{6}\b", lambda at: f"{float(at[0]):.3f}", text)
            files[name] = text.encode()
        parts.append(f"--- {name} {digest(files[name])}\n")
        parts.append(files[name].decode() if name in golden.whole else "")
    return Made(",".join(codes) or "-", "".join(parts), files)


FUNCTIONS = {
    one.__name__: one for one in (judgements, calm_judgement, rewritten, copied, further_logs)
}


def written() -> dict[str, str]:
    """The committed digests: by name, the exit codes and the digest."""
    lines = DIGESTS.read_text(encoding="utf-8").splitlines() if DIGESTS.exists() else []
    return dict(line.split(" ", 1) for line in lines if not line.startswith("#"))


def difference(name: str, old: str, new: str, full: Path) -> str:
    """What differs, as far as there is a text of what was written down."""
    for folder in (full, COMMITTED):
        path = folder / f"{name}.txt"
        if path.exists() and digest(text := path.read_bytes().decode()) == old.split()[-1]:
            lines = difflib.unified_diff(
                text.splitlines(), new.splitlines(), "written down", "now", lineterm="", n=1
            )
            found = list(lines)
            more = [f"and {len(found) - DIFF} more lines"] if len(found) > DIFF else []
            return "\n".join([*found[:DIFF], *more])
    return f"no text of it in {full}: `make` there, on the commit that it was written down on"


def chosen(names: list[str]) -> list[Golden]:
    """Return the goldens of these names or groups that can be made here."""
    known = {one.name for one in GOLDENS} | {one.group for one in GOLDENS}
    if unknown := set(names) - known:
        raise SystemExit(f"goldens: none is called {', '.join(sorted(unknown))}")
    wanted = [one for one in GOLDENS if not names or {one.name, one.group} & set(names)]
    slow = [one for one in wanted if one.group == "slow"]
    if slow and not all(path.exists() for path in SIMULATORS):
        print("left out: the group slow needs `make profile`", flush=True)
        wanted = [one for one in wanted if one not in slow]
    return wanted


def make(wanted: list[Golden], full: Path) -> int:
    """Write them anew; what is not made now stays as it was written down."""
    known = written()
    for golden in wanted:
        start = time.monotonic()
        now = made(golden)
        now.keep(full, golden.name)
        known[golden.name] = now.line
        if golden.short:
            COMMITTED.mkdir(exist_ok=True)
            (COMMITTED / f"{golden.name}.txt").write_bytes(now.text.encode())
        print(f"{time.monotonic() - start:6.1f} s  {golden.name}", flush=True)
    for path in COMMITTED.glob("*.txt"):
        if path != DIGESTS and path.stem not in {one.name for one in GOLDENS if one.short}:
            path.unlink()  # of a golden that is no more
    lines = [f"{one.name} {known[one.name]}\n" for one in GOLDENS if one.name in known]
    DIGESTS.write_text(HEAD + "".join(lines), encoding="utf-8")
    return 0


def check(wanted: list[Golden], full: Path) -> int:
    """Make them and compare; 1 if one is not as it was written down."""
    known, wrong = written(), []
    for golden in wanted:
        start = time.monotonic()
        now = made(golden)
        same = now.line == known.get(golden.name)
        word = "same" if same else "DIFFERS"
        print(f"{time.monotonic() - start:6.1f} s  {golden.name:18} {word}", flush=True)
        if not same:
            wrong.append(golden.name)
            now.keep(NEW, golden.name)
            print(difference(golden.name, known.get(golden.name, "none"), now.text, full))
    if wrong:
        print(
            f"{len(wrong)} of {len(wanted)} differ: {' '.join(wrong)}; {NEW} has them as they are"
        )
    else:
        print(f"all {len(wanted)} are as they were written down")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="What the tool says, written down.")
    parser.add_argument("what", choices=("make", "check", "list"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="goldens or groups; default: all")
    parser.add_argument("--full", type=Path, default=FULL, help="folder of the full texts")
    given = parser.parse_args()
    if given.what == "list":
        for golden in GOLDENS:
            print(f"{golden.name:18} {golden.group:6} {(golden.calls or ('by its modules',))[0]}")
        return 0
    start = time.monotonic()
    full = given.full.resolve()
    code = (make if given.what == "make" else check)(chosen(given.names), full)
    print(f"{time.monotonic() - start:6.1f} s in all")
    return code


if __name__ == "__main__":
    sys.exit(main())
