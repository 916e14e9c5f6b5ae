# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts into the pages what they show: what the tool prints of committed results, and the benchmarks
of the catalogue; and writes the schema of the result file. `make tables` does it.

A page asks for it with a line, and what stands between that line and the closing one is replaced:

    <!-- table: results/x.json -->                  the table of a result
    <!-- validation: results/v.json -->             what `tockmark validate -o` has stored
    <!-- end of table -->                           closes these two

    <!-- output: tockmark gate a.json b.json -->    the command, its output, its exit code if not 0
    <!-- end of output -->

    <!-- benchmarks: SECTION -->                    the benchmarks of a section of the catalogue
    <!-- end of benchmarks -->

With --check nothing is written, and the exit code is 1 if a page does not show what is so.
"""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec

from tockmark.result import file
from tockmark.suite.catalogue import load

ROOT = Path(__file__).resolve().parents[1]
TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
BLOCK = re.compile(
    r"(<!-- (table|validation|output|benchmarks): ([^\n]+?) -->\n).*?"
    r"(<!-- end of (?:table|output|benchmarks) -->)",
    re.DOTALL,
)
SCHEMA = ROOT / "docs" / "result.schema.json"
VERBS = {"table": ["table"], "validation": ["validate", "--show"]}


def listed(section: str) -> str:
    """The benchmarks of a section: what a sample of each does, and what is counted."""
    entries = [one for one in load().benchmarks.values() if one.section == section]
    if not entries:
        raise SystemExit(f"the catalogue has no section '{section}'")
    lines: list[str] = []
    for entry in entries:
        params = "; ".join(f"{k} {values(v)}" for k, v in entry.params.items())
        head = f"- `{entry.id}`{f' ({params})' if params else ''}: {entry.what}."
        text = f"{head} *Counted:* {entry.counts}."
        lines += textwrap.wrap(text, 100, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def values(given: list[int | str]) -> str:
    """A parameter's values; of many, the ends."""
    return ", ".join(map(str, given if len(given) < 11 else [given[0], "…", given[-1]]))


def shown(kind: str, argument: str) -> str:
    """What belongs into a block."""
    if kind == "output":
        program, *arguments = shlex.split(argument)
        if program != "tockmark":
            raise SystemExit(f"'{argument}' is not a command of tockmark; pages show only these")
        done = run(arguments)
        code = f"\nexit code {done.returncode}" if done.returncode else ""
        return f"$ .venv/bin/{argument}\n{done.stdout.rstrip()}{code}"
    done = run([*VERBS[kind], argument])
    done.check_returncode()
    return done.stdout.rstrip()


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """The tool's output; an error of the tool, which goes to stderr, is not fit for a page."""
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [TOCKMARK, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"tockmark {shlex.join(arguments)} shows nothing: {done.stderr.strip()}")
    return done


def refreshed(page: str) -> str:
    """The page with each of its blocks made anew."""

    def block(kind: str, argument: str) -> str:
        return (
            listed(argument) if kind == "benchmarks" else f"```text\n{shown(kind, argument)}\n```"
        )

    return BLOCK.sub(lambda m: f"{m[1]}{block(m[2], m[3])}\n{m[4]}", page)


def schema() -> str:
    """The schema as it is published."""
    return msgspec.json.format(msgspec.json.encode(file.schema())).decode() + "\n"


def main() -> int:
    stale = []
    for path in [ROOT / "README.md", SCHEMA, *sorted((ROOT / "docs").glob("*.md"))]:
        old = path.read_text(encoding="utf-8")
        new = schema() if path == SCHEMA else refreshed(old)
        if new != old:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    for page in stale:
        print(f"{page}: {'stale; run `make tables`' if '--check' in sys.argv else 'refreshed'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
