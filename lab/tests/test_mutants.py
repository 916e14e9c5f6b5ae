# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Mutants alter only guards, by rule and by seed. A mutant is killed if a test detects it, and
named if not."""

import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark_lab import mutants, robustness
from tockmark_lab.interrupted import Tally
from tockmark_lab.mutants import BY_TIME, EQUAL, KILLED, SURVIVED, MutantGroup, MutantTest
from tockmark_lab.mutations import drawn, mutants_of

RUST = """
impl<'a> Queue<'a> {
    const SIZE: usize = 4 - 1;

    /// Only if a < b && c.
    #[cfg(any(a, b))]
    pub fn push(&mut self, new: &u32) -> Option<&'a str> {
        if *new >= self.most && !self.open {
            say("new < most && open"); // if a < b {
        }
        let end = new.checked_add(self.of(1))?;
        Some(end << 2).filter(|end| *end != 7)
    }
}

#[cfg(test)]
mod tests {
    fn none() {
        if 1 < 2 {}
    }
}
"""
OF_RUST = [
    "if (*new >= self.most && !self.open) && false {",
    "if (*new >= self.most && !self.open) || true {",
    "if *new > self.most && !self.open {",
    "if *new >= self.most || !self.open {",
    "if *new >= self.most && self.open {",
    "let end = new.wrapping_add(self.of(1)).checked_add(0)?;",
    "Some(end << 2).filter(|_| true)",
    "Some(end << 2).filter(|_| false)",
    "Some(end << 2).filter(|end| *end == 7)",
    "Some(end << 2).filter(|end| *end != 8)",
]
PYTHON = '''
MOST = 7 - 1


class Reader:
    """Only if a < b and c."""

    def take(self, text: str, at: int = 1) -> str:
        # if a < b:
        if (found := self.find({at: text[0]})) is not None or at > len(text) - 1:
            raise ValueError(f"{at} < 0 and not {found}")
        return min(text) if "a < b" not in text else ""
'''
_CONDITION = "(found := self.find({at: text[0]})) is not None or at > len(text) - 1"
OF_PYTHON = [
    f"if ({_CONDITION}) and False:",
    f"if ({_CONDITION}) or True:",
    f"if {_CONDITION.replace(' not None', ' None')}:",
    f"if {_CONDITION.replace(' or ', ' and ')}:",
    f"if {_CONDITION.replace(' > ', ' >= ')}:",
    f"if {_CONDITION.replace(' - 1', '')}:",
    'return max(text) if "a < b" not in text else ""',
    'return min(text) if "a < b" in text else ""',
]


@pytest.mark.parametrize(
    ("file", "text", "function", "changes"),
    [
        ("a/queue.rs", RUST, "Queue.push", OF_RUST),
        ("a/reader.py", PYTHON, "Reader.take", OF_PYTHON),
    ],
)
def test_mutants_alter_only_guards(file: str, text: str, function: str, changes: list[str]) -> None:
    mutations = mutants_of(file, text)
    assert [mutant.change.split(" => ")[1] for mutant in mutations] == changes
    assert {(mutant.file, mutant.function) for mutant in mutations} == {(file, function)}
    for mutant in mutations:
        lines = zip(text.splitlines(), mutant.text.splitlines(), strict=True)
        differ = [(number, *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]]
        assert [(n, f"{a.strip()} => {b.strip()}") for n, a, b in differ] == [
            (mutant.line, mutant.change)
        ]
    moved = mutants_of(file, f"\n\n{text}")
    assert [mutant.key for mutant in moved] == [mutant.key for mutant in mutations]
    assert list(drawn(mutations, 3)) == list(drawn(mutations, 3)) != list(drawn(mutations, 4))
    assert set(drawn(mutations, 3)) == set(mutations)


def test_the_sources_and_their_tests_are_there() -> None:
    """Every named source exists and has guards, and every test that should cover it exists."""
    for name, group in mutants.GROUPS.items():
        tests_by_source = dict(mutants.sources(paths.ROOT, group))
        texts = {file: (paths.ROOT / file).read_text(encoding="utf-8") for file in tests_by_source}
        assert sum(len(mutants_of(file, text)) for file, text in texts.items()) > 5, name
        for pattern, suite in group.suites.items():
            assert list(paths.ROOT.glob(pattern)), pattern
            tests = [word for step in suite for word in step.test if word.endswith(".py")]
            assert [test for test in tests if not (paths.ROOT / test).exists()] == []


ARGUED = mutants.EQUIVALENT


def test_each_equivalent_mutant_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "EQUIVALENT", ARGUED)
    there = {
        mutant.key
        for group in mutants.GROUPS.values()
        for file, _ in mutants.sources(paths.ROOT, group)
        for mutant in mutants_of(file, (paths.ROOT / file).read_text(encoding="utf-8"))
    }
    argued = mutants.equivalent()
    assert sorted(argued.keys() - there) == []
    assert all(why.endswith(".") for why in argued.values())
    entries = tomllib.loads(ARGUED.read_text(encoding="utf-8")).get("mutant", [])
    assert len(entries) == len(argued)


SOURCE = """
def least(one, other):
    while not one >= 0:
        one += 1
    if one <= other:
        return one
    return other
"""
TEST = "from source import least\nassert (least(3, 5), least(5, 3), least(-1, 2)) == (3, 3, 0)\n"
SAME = "if one <= other: => if one < other:"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the list of equivalents, put copies below this folder, and limit the time of tests."""
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "argued.toml")
    monkeypatch.setattr(paths, "WRITTEN", tmp_path / "build")
    monkeypatch.setattr(mutants, "LIMIT", 1.0)
    mutants.EQUIVALENT.touch()


def tried(folder: Path, say: Callable[[str], None], test: str = TEST) -> mutants.GroupOutcome:
    """Return the outcomes of the mutants of a project with one source and one test."""
    project = folder / "project"
    (project / "tools").mkdir(parents=True)
    (project / "tools" / "source.py").write_text(SOURCE)
    (project / "test.py").write_text(test)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=project, check=True)
    group = MutantGroup(1, {"tools/*.py": [MutantTest((sys.executable, "test.py"))]})
    try:
        return mutants.run(99, 1, say, project, {"it": group})["it"]
    finally:
        assert list((paths.WRITTEN / "mutants").iterdir()) == []
        assert (project / "tools" / "source.py").read_text() == SOURCE


def test_mutants_are_killed_or_named(tmp_path: Path) -> None:
    output: list[str] = []
    outcomes = tried(tmp_path, output.append)
    assert outcomes.guards == outcomes.tally.tried == len(output) == 6
    assert outcomes.tally.endings == {KILLED: 4, BY_TIME: 1, SURVIVED: 1}
    assert outcomes.tally.lost == [f"tools/source.py:5 least: {SAME} survived"]
    assert any(f"{BY_TIME}: tools/source.py:3 least: while not one" in line for line in output)


def test_an_equivalent_mutant_must_not_be_killed(tmp_path: Path) -> None:
    never = SAME.replace("one < other", "(one <= other) and False")
    entry = '[[mutant]]\nfile = "tools/source.py"\nfunction = "least"\nwhy = "It is."\nchange = '
    mutants.EQUIVALENT.write_text(f'{entry}"{SAME}"\n{entry}"{never}"\n')
    outcomes = tried(tmp_path, lambda _: None)
    assert outcomes.tally.endings == {KILLED: 4, BY_TIME: 1, EQUAL: 1}
    wrong = f"tools/source.py:5 least: {never} is argued equivalent, but is {KILLED}"
    assert outcomes.tally.lost == [wrong]


def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    with pytest.raises(TockmarkError, match="a test fails without a mutant"):
        tried(tmp_path, pytest.fail, "assert False")


def test_an_interrupted_trial_leaves_nothing(tmp_path: Path) -> None:
    """No copy remains, and the other worker's test, which would run for a minute, has ended."""

    def stop(_: str) -> None:
        raise KeyboardInterrupt

    over = tmp_path / "over"
    sleep = f"time.sleep(60); __import__('pathlib').Path({str(over)!r}).touch()"
    slow = f"import time\nif least(3, 5) != 3:\n    {sleep}\n{TEST}"
    with pytest.raises(KeyboardInterrupt):
        tried(tmp_path, stop, f"from source import least\n{slow}")
    assert not over.exists()


def test_the_part_has_an_outcome_for_each_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    done = mutants.GroupOutcome(50, Tally(3, Counter({KILLED: 2, SURVIVED: 1}), ["one survived"]))
    asked: list[int] = []

    def run(count: int, seed: int, say: object) -> dict[str, mutants.GroupOutcome]:
        asked.append(count)
        return {"kernel": done}

    monkeypatch.setattr(mutants, "run", run)
    monkeypatch.setenv("TOCKMARK_MUTANTS", "3")
    part = robustness.PARTS["mutants"](7)
    assert asked == [3]
    assert part.lost == ["one survived"]
    [line] = part.tries
    assert (line.what, line.count, line.seed) == ("kernel, of 50", 3, "7")
    assert line.came == {KILLED: 2, SURVIVED: 1}
