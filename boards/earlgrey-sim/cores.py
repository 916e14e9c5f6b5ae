# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write the files that a simulator of another core is built with: of a configuration of Ibex, or of
a user's core.

    cores.py CORE IBEX OUT

CORE is a name in IBEX/ibex_configs.yaml, or a folder with a user's core. A name may have changes
appended: `-no-WritebackStage`, `-with-BranchPredictor`, `-RV32MFast`.

OUT gets core.toml, the tool's description of the core (tools/tockmark/target/sim.py), rom.flags for
its boot ROM, and core_config.sv for Ibex. The names and parameters are read from the package, whose
version is pinned.
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

# The same for every core; no count depends on them. The FPGA's register file simulates fastest, and
# with ten event counters every result can show the causes of its cycles.
OURS = {"RegFile": "ibex_pkg::RegFileFPGA", "MHPMCounterNum": 10, "MHPMCounterWidth": 32}
UNUSED = {"RV32E": 0}  # parameters that sim_core.sv lacks, with their only valid value
TYPES = {
    "RV32M": "ibex_pkg::rv32m_e",
    "RV32B": "ibex_pkg::rv32b_e",
    "RegFile": "ibex_pkg::regfile_e",
}
NUMBERS = {"PMPGranularity", "PMPNumRegions", "MHPMCounterNum", "MHPMCounterWidth"}
MULTIPLIERS = {"RV32MNone": "none", "RV32MSlow": "slow", "RV32MFast": "fast"}
MULTIPLIERS |= {"RV32MSingleCycle": "single-cycle"}
KEYS = {  # of core.toml, with their types
    **{"bitmanip": str, "pmp_regions": int, "icache": bool, "multiplier": str},
    **{"branch_target_alu": bool, "writeback_stage": bool, "branch_predictor": bool},
}
CHANGE = re.compile(
    r"-(?:(?P<how>no|with)-(?P<parameter>[A-Za-z]+)|(?P<set>(?P<kind>RV32[MB])(?:None|Slow|Fast"
    r"|SingleCycle|Balanced|OTEarlGrey|Full)))(?=-|$)"
)
VARIANTS = ("rtl", "rtl-retire", "rtl-waves")  # suffixes of simulator folders
NAME = re.compile("[a-z][a-z0-9-]{0,31}")  # names of users' cores
NEEDED = ("bitmanip", "pmp_regions", "icache")  # required keys of users' cores


class CoreError(Exception):
    """A problem of a core, and what to do."""


def configurations(ibex: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of each configuration in Ibex's package."""
    configurations_by_name: dict[str, dict[str, Any]] = YAML(typ="safe").load(
        ibex / "ibex_configs.yaml"
    )
    return configurations_by_name


def parameters_of(core: str, ibex: Path) -> dict[str, Any]:
    """Return the parameters of a configuration with the changes in its name. Raise CoreError if a
    name is unknown."""
    configurations_by_name = configurations(ibex)
    fitting = [name for name in configurations_by_name if f"{core}-".startswith(f"{name}-")]
    if not fitting:
        names = ", ".join(configurations_by_name)
        raise CoreError(f"Ibex has no core {core}: give one of {names}")
    name = max(fitting, key=len)
    parameters, rest = dict(configurations_by_name[name]), core.removeprefix(name)
    while rest:
        change = CHANGE.match(rest)
        which = change and (change["parameter"] or change["kind"])
        if not change or not which or which in UNUSED or which not in parameters:
            raise CoreError(
                f"{core}: {rest} is not a change of {name}; examples: -no-ICache, -RV32MFast"
            )
        if change["kind"]:
            parameters[which] = f"ibex_pkg::{change['set']}"
        elif parameters[which] in (0, 1):
            parameters[which] = int(change["how"] == "with")
        else:
            raise CoreError(f"{core}: {which} cannot be set by -with or -no")
        rest = rest[change.end() :]
    if parameters["WritebackStage"] and not parameters["BranchTargetALU"]:
        raise CoreError(
            f"{core}: this Ibex fails with a write-back stage and no branch-target ALU: omit both"
            " with -no-WritebackStage-no-BranchTargetALU"
        )
    return parameters | OURS


def package(parameters: Mapping[str, Any]) -> str:
    """Return the package of constants that configures Ibex in sim_core.sv."""
    lines = []
    for name, value in parameters.items():
        if name in UNUSED:
            if value != UNUSED[name]:
                raise CoreError(f"{name} is {value}, but sim_core.sv needs {UNUSED[name]}")
            continue
        kind = TYPES.get(name) or ("int unsigned" if name in NUMBERS else "bit")
        text = f"1'b{value}" if kind == "bit" else value
        lines.append(f"  localparam {kind} {name} = {text};\n")
    return f"package core_config;\n{''.join(lines)}endpackage\n"


def described(parameters: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of core.toml for a configuration of Ibex."""
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
    """Read and check a user's core.toml. Raise CoreError if a file is missing or invalid."""
    todo = "see docs/boards-and-simulator.md for the files of a core"
    for name in ("files.f", "core.toml"):
        if not (folder / name).is_file():
            raise CoreError(f"{folder} has no {name}: {todo}")
    try:
        description = tomllib.loads((folder / "core.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CoreError(f"{folder}/core.toml is not a TOML file: {error}") from error
    for key, value in description.items():
        if type(value) is not KEYS.get(key):
            raise CoreError(f"{folder}/core.toml: {key} = {value!r} is not valid: {todo}")
    for key in NEEDED:
        if key not in description:
            raise CoreError(f"{folder}/core.toml lacks {key}: {todo}")
    return description


def write(core: str, ibex: Path, out: Path) -> None:
    """Write the files for a simulator of this core."""
    folder = Path(core)
    is_users = "/" in core
    if is_users:
        taken_names = (*configurations(ibex), *VARIANTS)
        if folder.name in taken_names or not NAME.fullmatch(folder.name):
            raise CoreError(
                f"{folder.name} is not a valid name of a core: rename its folder, like my-core"
            )
        description = users(folder)
    else:
        parameters = parameters_of(core, ibex)
        put(out / "core_config.sv", package(parameters))
        description = described(parameters)
    head = {"name": folder.name, "foreign": is_users}
    text = "".join(f"{key} = {toml(value)}\n" for key, value in {**head, **description}.items())
    put(out / "core.toml", text)
    put(out / "rom.flags", f"-DPMP_REGIONS={description['pmp_regions']}\n")


def toml(value: object) -> str:
    """Return a value in TOML syntax."""
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def put(path: Path, text: str) -> None:
    """Write a file unless it already has this text, since make compares ages."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        write(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    except CoreError as error:
        sys.exit(f"core: {error}")
