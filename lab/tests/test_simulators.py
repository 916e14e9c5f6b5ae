# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Two builds of a simulator: the proof that they are the same, and its effect."""

import hashlib
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.compare.pairs import differing_factors
from tockmark.result import provenance
from tockmark.result.model import Result
from tockmark.result.provenance import SameSimulator, proofs, same_simulator, unlike_benchmarks
from tockmark.suite.catalogue import LANGS, Catalogue, load
from tockmark.target.kernel import KernelElf
from tockmark.target.sim import SimTarget
from tockmark.tests import made, stand_in
from tockmark_lab import simulators

A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


def proof(old: str, new: str) -> SameSimulator:
    return SameSimulator("cw310", old, new, 248, 10**9, ("e" * 64,), "2026-11-24")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Make a table with the proofs that a is b and b is c."""
    path = tmp_path / "simulators.toml"
    path.write_text("# What this is.\n")
    for each in (proof(A, B), proof(B, C)):
        proofs.cache_clear()
        simulators.keep(each, path)
    proofs.cache_clear()
    return path


def test_a_proof_is_symmetric_and_transitive(table: Path) -> None:
    assert same_simulator(A, C, path=table)
    assert same_simulator(C, A, path=table)
    assert same_simulator(D, D, path=table)
    assert not same_simulator(A, D, path=table)
    assert not same_simulator(D, A, path=table)


def test_a_proof_without_some_benchmarks_holds_for_the_others(table: Path) -> None:
    simulators.keep(msgspec.structs.replace(proof(C, D), unlike=("irq.entry",)), table)
    proofs.cache_clear()
    assert unlike_benchmarks(D, A, table) == frozenset(["irq.entry"])
    assert not same_simulator(D, A, path=table)
    assert not same_simulator(D, A, {"irq.entry", "syscall.command"}, table)
    assert same_simulator(D, A, {"syscall.command"}, table)
    assert same_simulator(C, A, {"irq.entry"}, table)


def test_the_table_keeps_its_entries(table: Path) -> None:
    assert proofs(table) == (proof(A, B), proof(B, C))
    again = msgspec.structs.replace(proof(A, B), boots=1)
    simulators.keep(again, table)
    proofs.cache_clear()
    assert proofs(table) == (proof(B, C), again)
    assert table.read_text().startswith("# What this is.\n\n[[same]]\n")


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "simulators.toml"
    for text in ("[[same]]\nold = 1\n", "same = 3\n", "[[same"):
        path.write_text(text)
        proofs.cache_clear()
        with pytest.raises(TockmarkError, match="invalid table of proofs"):
            proofs(path)


def test_the_committed_table_is_well_formed() -> None:
    proofs.cache_clear()
    assert all(each.old != each.new for each in proofs())


class TestProve:
    """Boots of a small catalogue on stand-ins for the simulator."""

    @pytest.fixture
    def sides(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue
    ) -> tuple[Path, Path]:
        self.options = stand_in.options(tmp_path, monkeypatch, catalogue)
        monkeypatch.setattr(paths, "APPS", tmp_path / "apps")
        for lang in LANGS:
            folder = tmp_path / "apps" / f"{lang}-abi2"
            folder.mkdir(parents=True)
            for log in tmp_path.glob("*.flash"):
                shutil.copy(log, folder)
        target = self.options.board.target
        assert isinstance(target, SimTarget)
        other = tmp_path / "other"
        shutil.copy(target.binary, other)
        other.write_text(f"{other.read_text()}# built again\n")
        return target.binary, other

    def prove(self, sides: tuple[Path, Path], unlike: Collection[str] = ()) -> SameSimulator:
        kernel: KernelElf = self.options.kernel
        board, catalogue = self.options.board, self.options.catalogue
        return simulators.prove(sides, board, catalogue, {2: [kernel]}, 2, unlike)

    def test_simulators_with_the_same_output_are_proved(self, sides: tuple[Path, Path]) -> None:
        entry = self.prove(sides)
        hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sides]
        boots = 2 * 2 * len(self.options.catalogue.boots())  # languages × cache settings
        assert [entry.old, entry.new] == hashes
        assert (entry.boots, entry.cycles) == (boots, boots * 2500000)
        assert entry.kernels == (self.options.kernel.sha256,)

    @pytest.mark.parametrize(
        ("was", "is_", "message"),
        [
            ("cycles=2500000", "cycles=2500001", "in cycle 2500000 .* 2500001"),
            ("print(line, flush=True)", "print(line + '.', flush=True)", "line 1 of its log"),
            ("for line in lines:", "for line in lines[:-1]:", "lines on the old"),
        ],
    )
    def test_any_difference_refuses(
        self, sides: tuple[Path, Path], was: str, is_: str, message: str
    ) -> None:
        text = sides[1].read_text()
        assert was in text
        sides[1].write_text(text.replace(was, is_))
        with pytest.raises(TockmarkError, match=message):
            self.prove(sides)

    def test_boots_of_unlike_benchmarks_are_left_out(self, sides: tuple[Path, Path]) -> None:
        text = sides[1].read_text()
        assert "cycles=2500000" in text
        ends = "cycles={2500000 + ('loop' in sys.argv[sys.argv.index('--flash') + 1])}"
        sides[1].write_text(text.replace("cycles=2500000", ends))
        with pytest.raises(TockmarkError, match="loop, i-cache off"):
            self.prove(sides)
        with pytest.raises(TockmarkError, match=r"also measure irq\.upcall"):
            simulators.prove(sides, self.options.board, load(), {}, 1, ["irq.entry"])
        faulty = text.replace("for line in lines:", "for line in lines[:-2]:")
        sides[1].write_text(faulty)
        with pytest.raises(TockmarkError, match=r"time\.read differs"):
            self.prove(sides, ["loop.empty"])
        sides[1].write_text(text.replace("cycles=2500000", ends))
        entry = self.prove(sides, ["loop.empty"])
        assert entry.unlike == ("loop.empty",)
        assert entry.boots == 2 * 2 * (len(self.options.catalogue.boots()) - 1)

    def test_a_single_file_proves_nothing(self, sides: tuple[Path, Path]) -> None:
        with pytest.raises(TockmarkError, match="the same file"):
            self.prove((sides[0], sides[0]))


def test_no_factor_differs_between_proved_simulators(
    table: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(sha256: str) -> Result:
        whole = made.result(catalogue)
        board = msgspec.structs.replace(whole.provenance.board, simulator_sha256=sha256)
        provenance = msgspec.structs.replace(whole.provenance, board=board)
        return replace(whole, provenance=provenance)

    monkeypatch.setattr(provenance, "proofs", lambda path: proofs(table))
    assert differing_factors(of(A), of(C)) == []
    assert [factor.name for factor in differing_factors(of(A), of(D))] == ["simulator"]
