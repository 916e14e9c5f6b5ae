# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`latency` attributes a planted delay to its stage of an alarm. It reports a delay with interrupts
off as a stretch.

One kernel has a delay at the end of each stage; a word of the image selects the delay. The build
takes half a minute.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import variants
from elftools.elf.elffile import ELFFile
from products import make

from tockmark.base.errors import REGRESSION
from tockmark.compare.verdict import Verdict
from tockmark.latency import chain, report, run
from tockmark.latency.report import CORE, LOOK, OFF, StoredLatency, format_answer
from tockmark.latency.run import LatencyOptions
from tockmark.target import board as boards
from tockmark.target.elf import read_elf
from tockmark.target.kernel import KernelElf, read_kernel, with_words

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
DELAY = 5000
WORD = "TOCKMARK_PLANTED"
STAGES = ["taken", "top half", "bottom half", "queued", "chosen", "switched", "upcall"]
NONE = 99
LINE_STAGES = {"bottom half": 7, "queued": 8}  # by stage of a sent line: the value of the word
LOADS = {"taken": "memory"}  # loads whose other apps make the delayed call
PLANTED = f"""
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".rodata.provenance")]
static {WORD}: u32 = {NONE};

#[inline(never)]
pub fn planted(at: u32) {{
    if image_word(&{WORD}) == at {{
        let begin = mcycle::read();
        while mcycle::read().wrapping_sub(begin) < {DELAY} {{}}
    }}
}}

fn image_word("""
CALL = "crate::arch::riscv_planted"
CHANGES = [
    ("arch/riscv/mod.rs", "\nfn image_word(", PLANTED),
    ("arch/mod.rs", "mod riscv;\n", "mod riscv;\npub use riscv::planted as riscv_planted;\n"),
    (
        "kernel.rs",
        "            Hardware::wait_for_interrupt();\n",
        f"            Hardware::wait_for_interrupt();\n            {CALL}(1);\n",
    ),
    (
        "kernel.rs",
        "            let now = Hardware::now();\n",
        f"            {CALL}(2);\n            let now = Hardware::now();\n",
    ),
    (
        "drivers/alarm.rs",
        "                let _ = process.schedule(UPCALL,",
        f"                {CALL}(3);\n                let _ = process.schedule(UPCALL,",
    ),
    (
        "kernel.rs",
        "                    Hardware::acknowledge_sent();\n",
        f"                    {CALL}({LINE_STAGES['bottom half']});\n"
        "                    Hardware::acknowledge_sent();\n",
    ),
    (
        "drivers/console.rs",
        "                let _ = processes[index].schedule(WRITTEN, [write.taken, 0, 0]);\n",
        f"                {CALL}({LINE_STAGES['queued']});\n"
        "                let _ = processes[index].schedule(WRITTEN, [write.taken, 0, 0]);\n",
    ),
    (
        "kernel.rs",
        "            let slice_over =",
        f"            {CALL}(4);\n            let slice_over =",
    ),
    (
        "kernel.rs",
        "        if self.protected != Some(self.current) {",
        f"        {CALL}(5);\n        if self.protected != Some(self.current) {{",
    ),
    (
        "arch/riscv/trap.S",
        "restore:\n    mv    sp, a0\n",
        f"""restore:
    mv    sp, a0
    la    t0, {WORD}
    lw    t0, 0(t0)
    addi  t0, t0, -{STAGES.index("upcall")}
    bnez  t0, 2f
    lw    t0, 4*10(sp)          # an upcall's time in ticks; a call returns less than 256
    srli  t0, t0, 8
    beqz  t0, 2f
    li    t0, {DELAY // 3}      # an iteration takes at least three cycles
1:  addi  t0, t0, -1
    bnez  t0, 1b
2:
""",
    ),
    (
        "v2.rs",
        "            class::MEMOP => self.class_memop(a, b, c, d),\n",
        f"            class::MEMOP => {{\n                {CALL}(0);\n"
        "                self.class_memop(a, b, c, d)\n            }\n",
    ),
]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> KernelElf:
    make("profile")
    elf = variants.build_many(tmp_path_factory.mktemp("planted"), CHANGES, "profiling")
    kernel = read_kernel(elf)
    at = read_elf(elf).addresses[WORD]
    return replace(kernel, words={**kernel.words, WORD: at})


def measured(kernel: KernelElf, load: str, of: str = chain.ALARM) -> StoredLatency:
    loads = run.loads_for(kernel, [load], of)
    board = boards.load(boards.DEFAULT)
    options = LatencyOptions(kernel, board, True, 6, loads, chain=of)
    return run.measure(options, lambda text: None)


@pytest.fixture(scope="module")
def undelayed(planted: KernelElf) -> dict[str, StoredLatency]:
    return {load: measured(planted, load) for load in ("nothing", "memory")}


@pytest.mark.parametrize("stage", STAGES)
def test_a_planted_delay_is_found_in_its_stage(
    stage: str, planted: KernelElf, undelayed: dict[str, StoredLatency]
) -> None:
    load = LOADS.get(stage, "nothing")
    measurement = measured(with_words(planted, {WORD: STAGES.index(stage)}), load)
    (before,), (after,) = undelayed[load].loads, measurement.loads
    grown = {name: after.stages[name].worst - before.stages[name].worst for name in before.stages}
    if load == "nothing":
        rows = report.wait_verdicts(undelayed[load], measurement)
        longer = [row for row in rows if row.verdict is Verdict.WORSE]
        assert [row.row.params["of"] for row in longer] == [*report.WHICH]
        assert all(row.where.startswith(f"{stage} ") for row in longer)
    assert measurement.longest_stage == stage
    assert f"the stage '{stage}' takes" in format_answer(measurement)
    # Under load, an alarm may become due when part of the delay is over.
    assert grown.pop(stage) > DELAY * (0.5 if stage in LOADS else 0.8)
    assert max(grown.values()) < DELAY / 10


def test_a_planted_delay_of_a_sent_line_is_found_in_its_stage(planted: KernelElf) -> None:
    (before,) = measured(planted, "nothing", chain.UART).loads
    assert 500 < before.whole.median < DELAY
    for stage, word in LINE_STAGES.items():
        measurement = measured(with_words(planted, {WORD: word}), "nothing", chain.UART)
        (after,) = measurement.loads
        grown = {
            name: waits.worst - before.stages[name].worst for name, waits in after.stages.items()
        }
        assert f"the stage '{stage}' takes" in format_answer(measurement)
        assert (
            sum(measurement.worst.stages.values()) == measurement.worst.cycles == after.whole.worst
        )
        assert DELAY <= grown.pop(stage) < DELAY * 1.1
        assert max(grown.values()) < DELAY / 10


def test_a_planted_stretch_with_interrupts_off_is_found(
    planted: KernelElf, undelayed: dict[str, StoredLatency]
) -> None:
    measurement = measured(with_words(planted, {WORD: STAGES.index("taken")}), "memory")
    before, after = (
        next(stretch for stretch in each.stretches if stretch.kind == OFF)
        for each in (undelayed["memory"], measurement)
    )
    assert before.cycles < DELAY < after.cycles
    assert "planted" in after.parts[0].stack
    assert after.parts[0].cycles > DELAY * 0.9


def test_all_loads_take_at_most_40_million_cycles() -> None:
    make("profile")
    command = [TOCKMARK, "latency", "--alarms", "100", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["cycles"] <= 40_000_000
    names = [load["name"] for load in (*document["loads"], *document["never"])]
    assert sorted(names) == sorted(load.name for load in run.read_loads())
    assert {load["whole"]["count"] for load in document["loads"]} == {100}
    assert [lost["name"] for lost in document["never"]] == ["behind"]  # by fixed priority
    assert {stretch["kind"] for stretch in document["stretches"]} == {OFF, LOOK, CORE}


def patched(folder: Path, elf: Path, stage: int) -> Path:
    """Return an ELF of the kernel with a delay in this stage."""
    at = read_elf(elf).addresses[WORD]
    data = bytearray(elf.read_bytes())
    with elf.open("rb") as stream:
        (offset,) = ELFFile(stream).address_offsets(at)
    data[offset : offset + 4] = stage.to_bytes(4, "little")
    made = folder / "delayed.elf"
    made.write_bytes(data)
    return made


def test_judge_reports_a_planted_wait(planted: KernelElf, tmp_path: Path) -> None:
    """The rows of system calls do not change: only an alarm has the cost."""
    head = patched(tmp_path, planted.path, STAGES.index("bottom half"))
    command = [TOCKMARK, "judge", "--base", str(planted.path), "--head", str(head), "--json"]
    command += ["--only", "syscall.brk", "--waits", "nothing", "--icache", "off", "--profiles", "0"]
    comment = tmp_path / "comment.md"
    command += ["--markdown", str(comment), "-o", str(tmp_path / "kept")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == REGRESSION, done.stderr
    document = json.loads(done.stdout)
    waits = [row for row in document["rows"] if row["id"] == "wait.alarm"]
    assert {row["params"]["of"] for row in waits} == {*report.WHICH}
    for wait in waits:
        assert (wait["verdict"], wait["limit"]) == ("worse", "hard")
        assert wait["where"].startswith("bottom half +")
        assert DELAY <= wait["after"] - wait["before"] < DELAY * 1.1
    assert document["limit"] == "hard"
    assert {row["verdict"] for row in document["rows"] if row not in waits} <= {
        "same",
        "not judged",
    }
    shown = comment.read_text().partition("<details>")[0]
    (row,) = re.findall(r"\| `wait.alarm load=nothing of=worst` \|.*", shown)
    assert row.endswith("most in planted |")
