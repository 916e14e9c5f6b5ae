# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Eight complete screens of the tool, from committed results.

python tests/goldens.py [NAME...]    write tests/goldens/NAME.txt after an intended change
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tockmark.base.paths import ROOT
from tockmark.judge import report
from tockmark.judge.report import Depth, SectionChange, Sizes
from tockmark.latency import report as latency
from tockmark.profile import file as profiles
from tockmark.profile.diff import Growth, SymbolSize, diff_profiles
from tockmark.tests.trials import trial

FOLDER = ROOT / "tests" / "goldens"
BASE, OLD_ABI = "results/baseline-cw310.json", "results/baseline-v1-cw310.json"
SYSTEM_CALLS = "--only syscall.command,syscall.memop,syscall.allow_rw"
BEFORE, AFTER = (
    f"results/profiles/tock-{name}-z/syscall.command-on.json" for name in ("2.2", "master")
)
ENVIRONMENT = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PYTHONPATH": str(ROOT / "tools"),
    "TERM": "dumb",
    "TZ": "UTC",
}


def output(call: str) -> str:
    """Return what a call of the tool prints on both streams, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "tockmark", *call.split()],
        cwd=ROOT,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return f"$ tockmark {call}\n{done.stdout}--- exit code {done.returncode}\n"


def judge_comment() -> str:
    """Return judge's comment on a change that makes system calls more expensive. Its links were
    measured before; sizes, symbols and stacks are made up."""
    before, after = (profiles.load(ROOT / name) for name in (BEFORE, AFTER))
    symbols = (
        Growth("kernel::new", None, SymbolSize(1, 40)),
        Growth("<b>|`@me`", SymbolSize(1, 8), None),
    )
    sizes = Sizes(
        {"flash": (1000, 1032), "RAM": (64, 64)},
        {"flash": [SectionChange(".text", 900, 932)], "RAM": []},
        symbols,
    )
    names = "cost/old.elf", "cost/new`|<b>.elf"
    where = {"syscall.command icache=on": diff_profiles(before, after)}
    stacks = [Depth(500, 90), Depth(520, 90)]
    judged, _, _ = trial(1, "cost")
    return report.markdown(
        report.Report(judged, names, Path("out"), sizes, where, stacks, ["a note"])
    )


def latency_screen() -> str:
    """Return what `latency` prints of a measurement that is committed."""
    return latency.format_report(
        latency.load(ROOT / "lab" / "data" / "latency" / "baseline-on.json")
    )


SCREENS: dict[str, str | Callable[[], str]] = {
    "table": f"table {BASE}",
    "compare": f"compare {BASE} {OLD_ABI} {SYSTEM_CALLS}",
    "judge-comment": judge_comment,
    "profile": f"profile --diff {BEFORE} {AFTER}",
    "latency": latency_screen,
    "list": "list ipc",
    "agree": f"board agree {BASE} results/opt/baseline-2.json --force --only syscall",
    "export": f"export {BASE} --format csv --only syscall",
}


def screen(name: str) -> str:
    """Return a screen, without the last bits of figures, which differ between processors."""
    source = SCREENS[name]
    text = output(source) if isinstance(source, str) else source()
    return re.sub(r"\d+\.\d{9,}(?:e[-+]?\d+)?", lambda match: f"{float(match[0]):.9g}", text)


def main() -> None:
    """Write the screens of these names, or all."""
    for name in sys.argv[1:] or SCREENS:
        (FOLDER / f"{name}.txt").write_text(screen(name), encoding="utf-8")


if __name__ == "__main__":
    main()
