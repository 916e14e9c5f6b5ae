# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The whole chip in RTL. Its page has the committed counts, its files are listed in the order of
their use, and a chip that is built still has the committed counts."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target.sim import SimTarget
from tockmark_lab import validation
from tockmark_lab import validation_parts as programs
from tockmark_lab.folders import CHIP_FOLDER, DATA
from tockmark_lab.validation import ValidationVerdict

SCRIPT = CHIP_FOLDER / "file_list.py"
STORED = DATA / "validation-chip.json"


def test_model_and_chip_have_the_same_counts() -> None:
    rows = validation.load_validation(STORED)
    judged = validation.judge_rows(rows, validation.load_unexplained())
    assert {item.verdict for item in judged} <= {
        ValidationVerdict.EXACT,
        ValidationVerdict.UNEXPLAINED,
    }
    # `chip` and `chip-suite` both have the rows of some boots.
    kinds = {item.row.name: (kind_of(item.row), item.verdict) for item in judged}
    whole = Counter(kind for kind, _ in kinds.values())
    equal = Counter(kind for kind, verdict in kinds.values() if verdict is ValidationVerdict.EXACT)
    bare, off, on = (f"{equal[kind]} of {whole[kind]}" for kind in ("bare", "off", "on"))
    page = " ".join((paths.DOCS / "boards-and-simulator.md").read_text("utf-8").split())
    assert f"{bare} counts of bare programs" in page
    assert f"{off} rows of version 1 with our kernel, cache off, and {on} with it on" in page


def kind_of(row: validation.ValidationRow) -> str:
    if row.unit != programs.SUITE_UNITS:
        return "bare"
    return row.name.rpartition("icache=")[2]


def test_every_program_is_compared() -> None:
    names = {row.name for row in validation.load_validation(STORED)}
    for program in ("programs1", "programs2"):
        for row in programs.rows_of_memory(program):
            if row["test"].startswith(programs.SMALL_ROM):
                continue
            assert f"{program} {row['index']} {row['icache']}: {row['test']}" in names
    for name in programs.edges():
        assert {f"edges on: {name}", f"edges off: {name}"} <= names
    for offset in programs.data_of("study")["offsets"]:
        for name in programs.study_names():
            assert f"{name}, at {offset} mod 8" in names


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Make a package like OpenTitan's: a top that uses one block, a generated primitive, and a flag
    that is set and one that is not."""
    files = {
        "top.core": """
name: "lowrisc:systems:top_earlgrey:0.1"
filesets:
  rtl:
    depend: ["lowrisc:ip:block:0.1", "tool_veriblelint ? (lowrisc:lint:common)", lowrisc:prim:flop]
    files: [rtl/top.sv]
    file_type: systemVerilogSource
targets: {default: {filesets: ["tool_verilator ? (rtl)"]}}
""",
        "block.core": """
name: ">=lowrisc:ip:block:0.1"
filesets:
  rtl:
    files: [rtl/block.sv, rtl/block_pkg.sv, rtl/macros.svh: {is_include_file: true}]
    file_type: systemVerilogSource
targets: {default: {filesets: [rtl]}}
""",
        "flop.core": """
name: "lowrisc:prim:flop:0"
generate: {impl: {generator: primgen, parameters: {prim_name: flop}}}
targets: {default: {generate: [impl]}}
""",
        "prim_generic_flop.core": """
name: "lowrisc:prim_generic:flop:0"
filesets:
  rtl: {files: [rtl/prim_generic_flop.sv], file_type: systemVerilogSource}
targets: {default: {filesets: [rtl]}}
""",
        "rtl/top.sv": "module top; endmodule\n",
        "rtl/block.sv": "module block import block_pkg::*; (input a);\n thing t;\nendmodule\n",
        "rtl/block_pkg.sv": "package block_pkg;\nendpackage\n",
        "rtl/macros.svh": "",
        "rtl/prim_generic_flop.sv": "module prim_generic_flop; endmodule\n",
    }
    for name, text in files.items():
        path = tmp_path / "hw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip(), encoding="utf-8")
    return tmp_path


def listed(package: Path, *more: str) -> list[str]:
    command = [sys.executable, str(SCRIPT), str(package), str(package / "made"), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_files_come_in_the_order_of_their_use(package: Path) -> None:
    include, *files = listed(package)
    assert include == f"+incdir+{package}/hw/rtl"
    names = [Path(file).name for file in files]
    assert names == ["block_pkg.sv", "block.sv", "prim_generic_flop.sv", "prim_flop.sv", "top.sv"]
    assert "module prim_flop;" in (package / "made" / "prim_flop.sv").read_text()


def test_a_stub_is_only_the_interface(package: Path) -> None:
    (package / "stubs.txt").write_text("block\n")
    files = listed(package, str(package / "stubs.txt"))
    assert str(package / "made" / "block.sv") in files
    stub = (package / "made" / "block.sv").read_text()
    assert "input a" in stub
    assert "thing" not in stub


def test_a_run_without_the_chip_names_the_make_target(tmp_path: Path) -> None:
    chip = boards.load(str(CHIP_FOLDER / "board.toml"))
    assert isinstance(chip.target, SimTarget)
    assert (chip.timing, chip.machine) == ("rtl", boards.load("earlgrey-sim-2021").machine)
    missing = msgspec.structs.replace(chip.target, binary=tmp_path / "chip" / "earlgrey-sim")
    with pytest.raises(TockmarkError) as refused:
        missing.check_ready()
    assert "make chip" in str(refused.value)


def needs_chip() -> None:
    if not programs.simulator(programs.CHIP).exists():
        pytest.skip("the chip is not built: make chip")


def test_its_flash_returns_stale_words_while_it_starts() -> None:
    """OpenTitan fixed this three weeks after this RTL; the model never had it."""
    needs_chip()
    path, options = programs.build_stale(), ("--icache", "off")
    whole = sum(range(1, 61))
    sums = {
        machine: programs.run(machine, path, 0x8000, *options, mailbox=programs.CHIP_MAILBOX)
        for machine in (programs.CHIP, programs.MODEL)
    }
    assert sums[programs.MODEL].numbers == (whole, whole)
    assert sums[programs.CHIP].numbers[0] != whole
    assert sums[programs.CHIP].numbers[1] == whole


def test_the_chip_still_has_these_counts() -> None:
    """Run the study's bodies once, if `make chip` has built the chip."""
    needs_chip()
    stored = {row.name: row.expected for row in validation.load_validation(STORED)}
    names = [f"{name}, at 0 mod 8" for name in programs.study_names()]
    path = programs.build_study(0, "chip", *programs.ON_CHIP)
    options = ("--icache", "off")
    done = programs.run(
        programs.CHIP, path, programs.FLASH_START, *options, mailbox=programs.CHIP_MAILBOX
    )
    assert [(number,) for number in done.numbers] == [stored[name] for name in names], done.last
