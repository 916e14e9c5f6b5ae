# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`make simspeed` without a build of simple_system: the image, and how speeds are read and shown.
Also tests guard_logic.py."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tockmark.base import paths

SIM = paths.ROOT / "boards" / "earlgrey-sim"


@pytest.fixture(scope="module")
def simspeed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simspeed", SIM / "simspeed" / "simspeed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simspeed"] = module
    spec.loader.exec_module(module)
    return module


def test_measures_the_image_of_the_tool(simspeed: ModuleType, tmp_path: Path) -> None:
    tockmark = str(Path(sys.executable).with_name("tockmark"))
    command = [tockmark, "board", "image", "syscall", "-o", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    simulator = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
    contender = simspeed.ours(simulator, tmp_path / "c" / "syscall.flash")
    simspeed.OUT.mkdir(parents=True, exist_ok=True)
    assert simspeed.measure(contender) > 0
    done = subprocess.run(contender.command, capture_output=True, text=True, check=False)
    assert " syscall begin proto=1" in done.stdout
    assert "reason=cycle-limit" in done.stderr  # the image runs longer than the measurement


def test_an_image_belongs_to_an_existing_boot(tmp_path: Path) -> None:
    tockmark = str(Path(sys.executable).with_name("tockmark"))
    command = [tockmark, "board", "image", "syscal", "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no boot 'syscal'. Choose from: time, syscall, " in done.stderr
    assert not list(tmp_path.iterdir())


def test_reads_the_speed_of_both_simulators(simspeed: ModuleType) -> None:
    own = "earlgrey-sim: end reason=cycle-limit cycles=3000000 instret=1408892 wall=2.50\n"
    theirs = "Wallclock time:   0.9 s\nSimulation speed: 3.2e+05 cycles/s (320 kHz)\n"
    assert simspeed.speed(own) == 1.2e6
    assert simspeed.speed(theirs) == 3.2e5
    with pytest.raises(ValueError, match="no speed"):
        simspeed.speed("Segmentation fault")


def test_shows_medians_and_ratios(simspeed: ModuleType) -> None:
    shown = simspeed.table({"ours": [1.0e6, 1.2e6, 1.1e6], "theirs": [2e5, 2.2e5, 9e5]})
    _, ours, theirs = shown.splitlines()
    assert ours.split() == ["ours", "1.100", "1.000", "to", "1.200", "1.00"]
    assert theirs.split() == ["theirs", "0.220", "0.200", "to", "0.900", "5.00"]


def quickened(block: str) -> str:
    """Return the output of guard_logic.py for a clock's logic, without blanks and its header."""
    long = "vlSelfRef.pad = 0U;\n" * 1500  # blocks must be long
    source = (
        '#include "Vcore__pch.h"\n'
        "void Vcore___024root___eval_nba(Vcore___024root* vlSelf) {\n"
        "    CData/*0:0*/ part;\n    part = 0;\n"
        f"    if ((2ULL & vlSelfRef.__VnbaTriggered[0U])) {{\n{block}\n{long}    }}\n}}\n"
    )
    command = [sys.executable, str(SIM / "quicken" / "guard_logic.py")]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return "".join(done.stdout.partition("eval_nba")[2].split())


RESULT = "vlSelfRef.ex_block_i__DOT__alu_result"


def test_logic_is_skipped_while_its_inputs_are_unchanged() -> None:
    output = quickened(f"part = (vlSelfRef.a & vlSelfRef.b);\n{RESULT} = (part | vlSelfRef.c);")
    test = "inputs_0.changed(seldom_number,vlSelfRef.a,vlSelfRef.b,vlSelfRef.c)"
    assert f"if(VL_UNLIKELY({test})){{part=(vlSelfRef.a&vlSelfRef.b);{RESULT}=" in output
    assert "staticCData/*0:0*/part;" in output
    assert "part=0;" not in output


def test_logic_used_in_other_places_or_with_changing_inputs_is_not_guarded() -> None:
    read = quickened(f"part = vlSelfRef.a;\nvlSelfRef.x = part;\n{RESULT} = part;")
    assert "inputs_0.changed(seldom_number,part)" in read
    assert read.index("part=vlSelfRef.a;") < read.index("inputs_0")
    written = quickened(f"part = vlSelfRef.a;\nvlSelfRef.a = 1U;\n{RESULT} = part;")
    assert written.index("part=vlSelfRef.a;") < written.index("vlSelfRef.a=1U;")
    latch = quickened(f"if (vlSelfRef.a) {{\n{RESULT} = 1U;\n}}\nvlSelfRef.x = {RESULT};")
    assert "changed(" not in latch  # without the if, it keeps its value


def test_logic_moves_to_the_use_of_its_value() -> None:
    branch = f"if (vlSelfRef.b) {{\n{RESULT} = part;\n}} else {{\n{RESULT} = 0U;\n}}"
    output = quickened(f"part = vlSelfRef.a;\n{branch}")
    assert f"if(vlSelfRef.b){{part=vlSelfRef.a;{RESULT}=part;}}else{{{RESULT}=0U;}}" in output


def test_logic_of_rarely_written_registers_waits_for_a_write() -> None:
    register = "vlSelfRef.u_pmp_addr_csr__DOT__rdata_q"
    long = " & ".join([register] * 150)
    written = f"if (vlSelfRef.we) {{\n{register} = vlSelfRef.d;\n}}"
    output = quickened(f"{written}\nvlSelfRef.x = ({long});\nvlSelfRef.y = ({long} & vlSelfRef.d);")
    assert output.count("if(VL_UNLIKELY(seldom_changed)){vlSelfRef.x=") == 1
    assert "changed(seldom_number,vlSelfRef.d))){vlSelfRef.y=" in output


def test_registers_are_compared_only_after_a_write() -> None:
    register = "vlSelfRef.u_pmp_cfg_csr__DOT__rdata_q"
    other = register.replace("cfg", "addr")
    row = (
        "if (vlSelfRef.rst_ni) {\n"
        f"if (((IData)(vlSelfRef.a) & (0U == vlSelfRef.n))) {{\n{register} = 1U;\n}}\n"
        f"if (((IData)(vlSelfRef.b) & (1U == vlSelfRef.n))) {{\n{other} = 2U;\n}}\n}}\n"
    )
    output = quickened(row)
    assert "if(VL_UNLIKELY((IData)(vlSelfRef.a)|(IData)(vlSelfRef.b))){if(((IData)(" in output
    assert output.count("{seldom_written=true;vlSelfRef.u_pmp_") == 2
    assert "if(VL_UNLIKELY(seldom_written)){seldom_written=false;seldom_changed=" in output
    either = quickened(row.replace("(0U == vlSelfRef.n)", "vlSelfRef.n | vlSelfRef.c"))
    assert "|(IData)(vlSelfRef.b)" not in either  # the function may be called without vlSelfRef.a


def test_source_without_such_a_function_is_unchanged() -> None:
    command = [sys.executable, str(SIM / "quicken" / "guard_logic.py")]
    done = subprocess.run(command, input="int x;\n", capture_output=True, text=True, check=True)
    assert done.stdout == "int x;\n"
