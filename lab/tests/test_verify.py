# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`verify` accepts an honest result, detects one altered sample, and refuses a result that
contradicts itself."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import REGRESSION
from tockmark.base.paths import RESULTS
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.suite.catalogue import load
from tockmark.tests.of_samples import exit_code
from tockmark_lab import contradictions, verify
from tockmark_lab.app import app as lab

Json = dict[str, Any]
KERNEL = paths.ROOT / "build/cargo/riscv32imc-unknown-none-elf/release/tockmark-kernel"
OTHER = paths.ROOT / "build/cargo-v1/riscv32imc-unknown-none-elf/release/tockmark-kernel"
KNOWN = load()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Return a result with two boots, which is quick to verify."""
    out = tmp_path_factory.mktemp("small") / "r.json"
    words = ["run", "--only", "syscall.memop", "--icache", "off", "--samples", "9", "--kernel"]
    done = CliRunner().invoke(app, [*words, str(KERNEL), "-o", str(out)])
    assert done.exit_code == 0, done.output
    document: Json = json.loads(out.read_text())
    return document


def verified(data: Json, folder: Path, kernel: Path = KERNEL) -> tuple[int, str]:
    """Return the exit code and the output of `verify` for a result."""
    path = folder / "r.json"
    path.write_text(json.dumps(data))
    words = ["verify", str(path), "--kernel", str(kernel), "--boots", "all"]
    done = CliRunner().invoke(lab, words)
    return exit_code(done), f"{done.output}{done.exception or ''}"


def memop(data: Json) -> Json:
    return next(row for row in data["rows"] if row["id"] == "syscall.memop")


def test_an_honest_result_passes(measured: Json, tmp_path: Path) -> None:
    assert verified(measured, tmp_path)[0] == 0


def test_one_altered_sample_is_detected(measured: Json, tmp_path: Path) -> None:
    data = copy.deepcopy(measured)
    row = memop(data)
    count, _, times = row["cycles"].partition("*")
    row["cycles"] = f"{int(count) + 1} {count}*{int(times) - 1}"
    code, message = verified(data, tmp_path)
    assert code == REGRESSION
    assert "syscall.memop icache=off: cycles differ" in message


def test_a_row_that_the_result_lacks_is_detected(measured: Json, tmp_path: Path) -> None:
    data = copy.deepcopy(measured)
    data["rows"] = [row for row in data["rows"] if row["id"] != "null.sample"]
    code, message = verified(data, tmp_path)
    assert (code, "null.sample icache=off: not in the result" in message) == (REGRESSION, True)


def test_a_boot_that_the_result_lacks_is_detected() -> None:
    keys = verify.boot_keys(file.load(RESULTS / "baseline-cw310.json"))
    assert verify.missing_boots(keys) == []
    (missing,) = verify.missing_boots([key for key in keys if key != keys[7]])
    assert missing.startswith(f"{keys[7]}: ")


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("kernel", "flash_bytes"), 7, "kernel.flash_bytes"),
        (("kernel", "ram_bytes"), 7, "kernel.ram_bytes"),
        (("kernel", "opt_level"), "z", "kernel.opt_level"),
        (("kernel", "rustc"), "1.2.3", "kernel.rustc"),
        (("board", "timing"), "hardware", "board.timing"),
        (("entries", "syscall.memop"), "0" * 16, "entry of syscall.memop"),
        (("layouts", 0, "link"), "0" * 64, "layout 0: link"),
    ],
)
def test_an_altered_fact_is_detected(
    path: tuple[str | int, ...], value: object, name: str, measured: Json, tmp_path: Path
) -> None:
    data = copy.deepcopy(measured)
    part = data["provenance"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    code, message = verified(data, tmp_path)
    assert (code, f"differs {name}: " in message) == (REGRESSION, True)
    assert "not checked: date, tool, " in message


def test_another_kernel_or_app_is_refused(measured: Json, tmp_path: Path) -> None:
    code, message = verified(measured, tmp_path, OTHER)
    assert (code, "is not a kernel of the result" in message) == (2, True)
    data = copy.deepcopy(measured)
    data["provenance"]["boots"][0]["slots"][0]["elf_sha256"] = "c" * 64
    code, message = verified(data, tmp_path)
    assert (code, "the app syscall of the boot syscall" in message) == (2, True)


def test_a_contradiction_is_refused_before_anything_is_simulated(
    measured: Json, tmp_path: Path
) -> None:
    data = copy.deepcopy(measured)
    memop(data)["inner"] = 2
    code, message = verified(data, tmp_path)
    assert (code, "its inner is 2, but 1 in the catalogue" in message) == (2, True)
    data = copy.deepcopy(measured)
    data["provenance"]["boots"][0]["cycles"] = {"off": 5}
    assert "took 5 cycles" in verified(data, tmp_path)[1]


def test_no_committed_result_contradicts_itself() -> None:
    files = [path for folder in (".", "links", "opt") for path in RESULTS.glob(f"{folder}/*.json")]
    results = {path.name: file.load(path) for path in files}
    assert len(results) > 20
    contradictions_by_name = {
        name: contradictions.contradiction(result, KNOWN) for name, result in results.items()
    }
    assert {name: wrong for name, wrong in contradictions_by_name.items() if wrong} == {}


def test_boots_are_drawn_from_the_seed_and_the_probability_is_reported() -> None:
    every = verify.boot_keys(file.load(RESULTS / "baseline-cw310.json"))
    assert len(every) == 104
    drawn = [verify.draw(every, 4, seed) for seed in ("a", "a", "b")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 4
    assert set(verify.draw(every, None, "a")) == set(every)
    assert verify.Verified("a", drawn[0], 94, 0, ()).missed == 1 - 4 / 94
