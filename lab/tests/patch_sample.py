# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sample commits of a Tock checkout from a seed, and count how many take the patch.

    python lab/tests/patch_sample.py TREE --seed 1 --count 100 --rev master -o FILE

The sample is drawn from `git log --first-parent` for the two years up to REV, or, with
`--refs "refs/pull/*/head"`, from the commits of such refs in that time. Each commit is unpacked in
a temporary folder, patched and reverted; the checkout is not modified. Each line of FILE is a
commit: id, date, the parts that it takes, and why it does not take the others.
"""

import argparse
import random
import subprocess
import tarfile
import tempfile
from collections import Counter
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path

from tockmark.base import files
from tockmark.base.errors import TockmarkError
from tockmark.trees.patch import apply_patch, remove_patch

# The parts of the tree that the patch reads; copying the rest would be slow.
SOURCES = [
    "Cargo.toml",
    "boards/*earlgrey*",
    "boards/opentitan",  # a board's folder once linked to its sources
    "capsules/*.rs",
    "chips/*chip.rs",
    "kernel/src/*.rs",
]
YEARS = 2


def git(tree: Path, *command: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(tree), *command], check=True, capture_output=True
    ).stdout


def mainline(tree: Path, newest: str, since: date) -> list[tuple[str, str]]:
    """Return the commits of a branch since a day with their dates, the newest first."""
    log = ("log", "--first-parent", "--format=%H %cs", f"--since={since}T00:00:00Z", newest)
    lines = git(tree, *log).decode().splitlines()
    return [(line.split()[0], line.split()[1]) for line in lines]


def heads(tree: Path, refs: str, since: date) -> list[tuple[str, str]]:
    """Return the commits of refs with their dates, the newest first."""
    show = (
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(objectname) %(committerdate:short)",
    )
    lines = dict.fromkeys(git(tree, *show, refs).decode().splitlines())
    commits = [(line.split()[0], line.split()[1]) for line in lines]
    return [(commit, day) for commit, day in commits if day >= str(since)]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def takes(tree: Path, commit: str) -> tuple[str, str]:
    """Return which parts of the patch a commit takes, and why it does not take the others."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "tock")
        archive = git(tree, "archive", "--format=tar", "--prefix=tock/", commit, "--", *SOURCES)
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)
            packed.extractall(temporary)
        before = contents(folder)
        try:
            done = apply_patch(folder)
            remove_patch(folder)
        except TockmarkError as error:
            return "nothing", str(error).replace(str(folder), "TREE")
        if contents(folder) != before:
            return "nothing", "removing the patch does not restore it"
        return ", ".join(done.wired), "; ".join(done.left_out.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--rev", default="HEAD")
    parser.add_argument("--refs")
    parser.add_argument("-o", dest="output", type=Path)
    arguments = parser.parse_args()
    last = date.fromisoformat(
        git(arguments.tree, "show", "-s", "--format=%cs", arguments.rev).decode()[:10]
    )
    since = last - timedelta(days=round(YEARS * 365.25))
    commits = (
        heads(arguments.tree, arguments.refs, since)
        if arguments.refs
        else mainline(arguments.tree, arguments.rev, since)
    )
    chosen = set(random.Random(arguments.seed).sample(commits, arguments.count))
    rows = [(*commit, *takes(arguments.tree, commit[0])) for commit in commits if commit in chosen]
    print(f"{arguments.count} of {len(commits)} commits, {commits[-1][1]} to {commits[0][1]}:")
    for (what, why), number in Counter((row[2], row[3]) for row in rows).most_common():
        print(f"{number:4} take {what}{why and ': ' + why}")
    if arguments.output is not None:
        table = "".join(f"{commit[:9]}\t{day}\t{what}\t{why}\n" for commit, day, what, why in rows)
        files.replace_whole({arguments.output: f"commit\tdate\ttakes\twhy not more\n{table}"})


if __name__ == "__main__":
    main()
