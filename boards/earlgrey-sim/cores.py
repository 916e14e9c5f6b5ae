# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes what a simulator of another core is built by: a configuration of Ibex, or a user's core.

    cores.py CORE IBEX OUT

CORE is a name in IBEX/ibex_configs.yaml, or a folder with a user's core. Behind a name may stand
what is to be otherwise: `-no-WritebackStage`, `-with-BranchPredictor`, `-RV32MFast`.

OUT gets core.toml, by which the tool knows the core (tools/tockmark/target/sim.py), rom.flags
for its boot ROM, and of Ibex core_config.sv. The names and parameters are read from the package,
whose version is pinned: a list of ours could only be another.
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

# The same on every core: no count depends on them. Registers as an FPGA has them are simulated
# fastest, and ten event counters let every result say what its cycles were spent on.
OURS = {"RegFile": "ibex_pkg::RegFileFPGA", "MHPMCounterNum": 10, "MHPMCounterWidth": 32}
UNUSED = {"RV32E": 0}  # parameters that nothing here can be built with, as they must stand
TYPES = {
    "RV32M": "ibex_pkg::rv32m_e",
    "RV32B": "ibex_pkg::rv32b_e",
    "RegFile": "ibex_pkg::regfile_e",
}
NUMBERS = {"PMPGranularity", "PMPNumRegions", "MHPMCounterNum", "MHPMCounterWidth"}
MULTIPLIERS = {"RV32MNone": "none", "RV32MSlow": "slow", "RV32MFast": "fast"}
MULTIPLIERS |= {"RV32MSingleCycle": "single-cycle"}
KEYS = {  # of core.toml, with what each holds
    **{"bitmanip": str, "pmp_regions": int, "icache": bool, "multiplier": str},
    **{"branch_target_alu": bool, "writeback_stage": bool, "branch_predictor": bool},
}
CHANGE = re.compile(
    r"-(?:(?P<how>no|with)-(?P<parameter>[A-Za-z]+)|(?P<set>(?P<kind>RV32[MB])(?:None|Slow|Fast"
    r"|SingleCycle|Balanced|OTEarlGrey|Full)))(?=-|$)"
)
VARIANTS = ("retire", "waves")  # whose folders beside a simulator are called so
NAME = re.compile("[a-z][a-z0-9-]{0,31}")  # of a user's core
NEEDED = ("bitmanip", "pmp_regions", "icache")  # of a user's core


class CoreError(Exception):
    """What is wrong with a core, and what to do."""


def configurations(ibex: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of each configuration that Ibex's package names."""
    found: dict[str, dict[str, Any]] = YAML(typ="safe").load(ibex / "ibex_configs.yaml")
    return found


def parameters_of(core: str, ibex: Path) -> dict[str, Any]:
    """Return the parameters of a configuration, changed as its name says."""
    known = configurations(ibex)
    fitting = [name for name in known if f"{core}-".startswith(f"{name}-")]
    if not fitting:
        raise CoreError(f"Ibex names no core {core}: give one of {', '.join(known)}")
    name = max(fitting, key=len)
    parameters, rest = dict(known[name]), core.removeprefix(name)
    while rest:
        change = CHANGE.match(rest)
        which = change and (change["parameter"] or change["kind"])
        if not change or not which or which in UNUSED or which not in parameters:
            raise CoreError(f"{core}: {rest} is no change of {name}, as -no-ICache, -RV32MFast")
        if change["kind"]:
            parameters[which] = f"ibex_pkg::{change['set']}"
        elif parameters[which] in (0, 1):
            parameters[which] = int(change["how"] == "with")
        else:
            raise CoreError(f"{core}: {which} is no matter of yes and no")
        rest = rest[change.end() :]
    if parameters["WritebackStage"] and not parameters["BranchTargetALU"]:
        raise CoreError(
            f"{core}: this Ibex loses its way with a write-back stage and no branch-target ALU:"
            " leave out both, -no-WritebackStage-no-BranchTargetALU"
        )
    return parameters | OURS


def package(parameters: Mapping[str, Any]) -> str:
    """Return the package of constants that sim_core.sv configures Ibex by."""
    lines = []
    for name, value in parameters.items():
        if name in UNUSED:
            if value != UNUSED[name]:
                raise CoreError(f"{name} is {value}: sim_core.sv has it at {UNUSED[name]}")
            continue
        kind = TYPES.get(name) or ("int unsigned" if name in NUMBERS else "bit")
        text = f"1'b{value}" if kind == "bit" else value
        lines.append(f"  localparam {kind} {name} = {text};\n")
    return f"package core_config;\n{''.join(lines)}endpackage\n"


def described(parameters: Mapping[str, Any]) -> dict[str, object]:
    """Return what core.toml says of a configuration of Ibex."""
    return {
        "bitmanip": word(parameters["RV32B"]).removeprefix("RV32B").lower(),
        "pmp_regions": parameters["PMPNumRegions"] if parameters["PMPEnable"] else 0,
        "icache": bool(parameters["ICache"]),
        "multiplier": MULTIPLIERS[word(parameters["RV32M"])],
        "branch_target_alu": bool(parameters["BranchTargetALU"]),
        "writeback_stage": bool(parameters["WritebackStage"]),
        "branch_predictor": bool(parameters["BranchPredictor"]),
    }


def word(value: str) -> str:
    """Return a name of ibex_pkg without its package."""
    return value.removeprefix("ibex_pkg::")


def users(folder: Path) -> dict[str, object]:
    """Return what a user's core.toml says of their core."""
    todo = "docs/boards-and-simulator.md says what the folder of a core holds"
    for name in ("files.f", "core.toml"):
        if not (folder / name).is_file():
            raise CoreError(f"{folder} has no {name}: {todo}")
    try:
        said = tomllib.loads((folder / "core.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CoreError(f"{folder}/core.toml is no TOML file: {error}") from error
    for key, value in said.items():
        if type(value) is not KEYS.get(key):
            raise CoreError(f"{folder}/core.toml: {key} = {value!r} is not known: {todo}")
    for key in NEEDED:
        if key not in said:
            raise CoreError(f"{folder}/core.toml does not say {key}: {todo}")
    return said


def write(core: str, ibex: Path, out: Path) -> None:
    """Write what a simulator of this core is built with."""
    folder = Path(core)
    foreign = "/" in core
    if foreign:
        known = (*configurations(ibex), *VARIANTS)
        if folder.name in known or not NAME.fullmatch(folder.name):
            raise CoreError(f"no core can be called {folder.name}: rename its folder, as my-core")
        said = users(folder)
    else:
        parameters = parameters_of(core, ibex)
        put(out / "core_config.sv", package(parameters))
        said = described(parameters)
    head = {"name": folder.name, "foreign": foreign}
    text = "".join(f"{key} = {toml(value)}\n" for key, value in {**head, **said}.items())
    put(out / "core.toml", text)
    put(out / "rom.flags", f"-DPMP_REGIONS={said['pmp_regions']}\n")


def toml(value: object) -> str:
    """Return a value as TOML has it."""
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def put(path: Path, text: str) -> None:
    """Write a file unless it says that already: make looks at its age."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        write(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    except CoreError as error:
        sys.exit(f"core: {error}")
