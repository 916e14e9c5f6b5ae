# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A campaign over the commits of a made-up repository. Each commit's message has its cost, or
states that it does not boot. Nothing is simulated."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from tockmark.base.errors import INTERRUPTED, TockmarkError
from tockmark.result.model import Result
from tockmark.result.provenance import BootRun
from tockmark.suite import catalogue
from tockmark.suite.selection import Selection
from tockmark.tests.checkout import COPY, ELF, User, elf, user_in
from tockmark.tests.of_samples import made, steady, with_provenance
from tockmark.trees.builds import BuiltLinks
from tockmark_lab.app import app
from tockmark_lab.over_time import campaign
from tockmark_lab.over_time.commits import CampaignData, load_campaign

KNOWN = catalogue.load()
READ = 84  # instructions of a counter read, as in of_samples


class Simulated:
    """Replaces the code that boots kernels. The commit's message decides: `asleep` prints nothing;
    a number is the instructions of its rows."""

    seen: list[str]  # the commits that were booted
    interrupt_at = ""  # the commit at which the user presses Ctrl-C

    def __init__(self, name: str, links: BuiltLinks, options: object, folder: Path) -> None:
        self.subject, self.folder, self.boots, self.reused = links.commit.subject, folder, 0, 0

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        if Simulated.interrupt_at and Simulated.interrupt_at in self.subject:
            raise TockmarkError("interrupted: every boot that ended is kept", "", INTERRUPTED)
        if "no simulator" in self.subject:
            laid = (BootRun("syscall", {}, ()),)
            nothing = with_provenance(made(KNOWN, {}, read=[], icache=(False,)), boots=laid)
            return [replace(nothing, problems=("syscall: cannot run the simulator",))]
        self.boots += 1
        Simulated.seen.append(self.subject)
        if "asleep" in self.subject:
            return [made(KNOWN, {}, read=[], icache=(False,)).only(Selection(KNOWN, ("no.row",)))]
        cost = int(self.subject.split()[-1])
        rows = {name: steady(cost) for name in ("syscall.command", "syscall.memop")}
        counts = {"syscall.command": READ + cost, "syscall.memop": READ + 50}
        return [made(KNOWN, rows, instret=counts, icache=(False,)).only(wanted)]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(campaign, "Simulated", Simulated)
    monkeypatch.setattr(campaign, "PROBE", "syscall.command")
    Simulated.seen, Simulated.interrupt_at = [], ""
    return user_in(tmp_path, monkeypatch)


def line(user: User, *costs: str) -> list[str]:
    """Make commits with these costs in their messages; `broken` has no kernel."""
    rows = []
    for number, cost in enumerate(costs):
        kernel = {"k0": elf(0, 4, 8, more=number + 1)}
        if "broken" in cost:
            user.git("rm", "--quiet", "--ignore-unmatch", "k0")
            kernel = {}
        rows.append(user.commit(f"Merge pull request #{number} from a/b {cost}", **kernel))
    return rows


def called(user: User, path: Path, *words: str) -> Done:
    arguments = ["campaign", str(user.tree), "HEAD~{}..HEAD", "-f", str(path), "--no-patch"]
    many = int(user.git("rev-list", "--count", "--first-parent", "HEAD")) - 2
    arguments[2] = arguments[2].format(many)
    arguments += ["--build", COPY, "--elf", str(ELF), "--only", "syscall", "--jobs", "1", *words]
    return CliRunner().invoke(app, arguments)


def load(path: Path) -> CampaignData:
    data, problems = load_campaign(path)
    assert problems == []
    return data


def costs(data: CampaignData) -> dict[str, float | None]:
    """Return the cost of a command for each commit."""
    name = "syscall.command icache=off"
    return {measured.commit.sha: measured.rows[name].instret for measured in data.line}


def test_each_commit_is_a_line_and_is_measured_once(user: User, tmp_path: Path) -> None:
    shas, path = line(user, "100", "100", "144"), tmp_path / "a.jsonl"
    done = called(user, path)
    assert done.exit_code == 0, done.output
    assert costs(load(path)) == dict(zip(shas, (100, 100, 144), strict=True))
    assert "3 commits measured: 3 builds in " in done.output
    written, builds = path.read_bytes(), user.builds
    record = json.loads(written.splitlines()[0])
    assert (record["commit"]["place"], record["only"], record["run"]["factors"]["i-cache"]) == (
        2,
        "syscall",
        "off",
    )
    again = called(user, path)
    assert "0 commits measured: 0 builds in" in again.output
    assert (path.read_bytes(), user.builds) == (written, builds)
    more = line(user, "150")
    assert "1 commits measured: 1 builds in" in called(user, path).output
    assert path.read_bytes().startswith(written)
    assert costs(load(path))[more[0]] == 150


def test_every_nth_commit_the_last_and_the_named_ones_are_measured(
    user: User, tmp_path: Path
) -> None:
    shas = line(user, "1", "2", "3", "4", "5", "6")
    user.git("tag", "release-9", shas[1])
    user.git("branch", "side", shas[0])
    user.git("checkout", "--quiet", "side")
    side_branch = user.commit("of a side branch 70", k0=elf(0, 4, 8, more=40))
    user.git("checkout", "--quiet", "main")
    path = tmp_path / "a.jsonl"
    named = ["--commit", "release-9", "--commit", "side"]
    done = called(user, path, "--every", "4", *named)
    assert done.exit_code == 0, done.output
    data = load(path)
    assert [measured.commit.sha for measured in data.line] == [shas[n] for n in (0, 1, 4, 5)]
    assert data.measured[shas[1]].commit.names == ("release-9",)
    assert data.measured[side_branch].commit.place is None
    assert load(path).jumps()[0].row == "syscall.command icache=off"


@pytest.mark.parametrize(
    ("bad", "cause"),
    [("broken", "does not build: "), ("asleep", "does not boot: ")],
)
def test_a_gap_has_its_cause_and_the_nearest_neighbour_replaces_it(
    user: User, tmp_path: Path, bad: str, cause: str
) -> None:
    shas = line(user, "100", "101", bad, bad, "104", "105")
    path = tmp_path / "a.jsonl"
    done = called(user, path, "--every", "2")  # the first, the third, the fifth and the last
    assert done.exit_code == 0, done.output
    data = load(path)
    assert set(data.gaps) == {shas[2], shas[3]}
    assert all(gap.cause.startswith(cause) for gap in data.gaps.values())
    assert not any(str(tmp_path) in gap.cause for gap in data.gaps.values())
    assert data.measured[shas[1]].stands_for == {shas[2]}
    assert f"gap       {shas[2][:9]} " in done.output
    written = path.read_bytes()
    assert called(user, path, "--every", "2").exit_code == 0
    assert path.read_bytes() == written


def test_a_gap_is_tried_again_on_request(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shas, path = line(user, "100", "101"), tmp_path / "a.jsonl"
    (tmp_path / "broken").touch()
    build = f'[ ! -e "{tmp_path}/broken" ] || {{ echo "error: no toolchain"; exit 1; }}; {COPY}'
    assert called(user, path, "--every", "9", "--build", build).exit_code == 0
    assert {gap.cause for gap in load(path).gaps.values()} == {
        "does not build: error: no toolchain"
    }
    (tmp_path / "broken").unlink()
    assert called(user, path, "--every", "9", "--build", build).exit_code == 0
    assert set(load(path).gaps) == set(shas)
    assert called(user, path, "--every", "9", "--build", build, "--fresh").exit_code == 0
    assert load(path).gaps == {}
    assert list(costs(load(path))) == shas


def test_at_most_the_allowed_number_of_neighbours_is_tried(user: User, tmp_path: Path) -> None:
    shas = line(user, "1", *["asleep"] * 9, "2")
    path = tmp_path / "a.jsonl"
    done = called(user, path, "--every", "5", "--tries", "3")
    assert f"none of 3 commits next to {shas[5][:9]} can be measured" in done.output
    assert set(load(path).gaps) == {shas[n] for n in (4, 5, 6, 7)}


def test_an_interrupted_campaign_continues(user: User, tmp_path: Path) -> None:
    shas, path = line(user, "100", "101", "102"), tmp_path / "a.jsonl"
    Simulated.interrupt_at = "101"
    done = called(user, path)
    assert isinstance(done.exception, TockmarkError)
    assert done.exception.code == INTERRUPTED
    assert list(costs(load(path))) == shas[:1]
    assert "1 commits measured" in done.output
    Simulated.interrupt_at, Simulated.seen = "", []
    assert called(user, path).exit_code == 0
    assert list(costs(load(path))) == shas
    assert not [subject for subject in Simulated.seen if subject.endswith("100")]
    assert user.builds == ["0"] * 3  # the commit that was built is kept


def test_an_error_of_the_environment_ends_the_campaign_and_is_no_gap(
    user: User, tmp_path: Path
) -> None:
    shas, path = line(user, "100", "no simulator"), tmp_path / "a.jsonl"
    done = called(user, path)
    assert isinstance(done.exception, TockmarkError)
    assert "cannot run the simulator" in str(done.exception)
    assert list(costs(load(path))) == shas[:1]
    assert load(path).gaps == {}


def test_a_torn_last_line_is_reported_and_its_commit_measured_again(
    user: User, tmp_path: Path
) -> None:
    shas, path = line(user, "100", "101"), tmp_path / "a.jsonl"
    called(user, path)
    path.write_bytes(path.read_bytes()[:-40])
    done = called(user, path)
    assert done.exit_code == 1
    assert "line 2 is incomplete; skipped" in done.output
    assert list(costs(load_campaign(path)[0])) == shas


def followed(user: User, path: Path, *words: str) -> Sequence[str]:
    done = called(user, path, "--every", "100", "--follow", "syscall.command", *words)
    assert done.exit_code == 0, done.output
    return [jump.where for jump in load(path).jumps(20) if jump.row.startswith("syscall.command")]


def test_a_jump_is_followed_to_its_commit(user: User, tmp_path: Path) -> None:
    shas, path = line(user, *["100"] * 11, *["144"] * 6), tmp_path / "a.jsonl"
    assert followed(user, path) == [f"{shas[11][:9]}, #11"]
    assert len(load(path).line) <= 2 + 4  # by bisection
    rows = load(path).measured[shas[10]].rows
    assert list(rows) == ["syscall.command icache=off"]  # and nothing else


def test_only_missing_rows_are_measured_and_added(user: User, tmp_path: Path) -> None:
    (record,), path = line(user, "100"), tmp_path / "a.jsonl"
    assert called(user, path, "--only", "syscall.command,syscall.memop").exit_code == 0
    assert called(user, path, "--only", "syscall.memop").exit_code == 0
    assert path.read_bytes().count(b"\n") == 1
    assert called(user, path).exit_code == 0  # all rows of syscall
    assert path.read_bytes().count(b"\n") == 2
    assert len(load(path).measured[record].rows) == 2
    assert user.builds == ["0"]


def test_two_jumps_are_followed_but_not_a_small_one(user: User, tmp_path: Path) -> None:
    steps = ["100"] * 3 + ["140"] * 4 + ["150"] * 3 + ["60"] * 3
    shas, path = line(user, *steps), tmp_path / "a.jsonl"
    assert followed(user, path) == [f"{shas[3][:9]}, #3", f"{shas[10][:9]}, #10"]
    written = path.read_bytes()
    assert len(followed(user, path)) == 2
    assert path.read_bytes() == written


def test_a_jump_without_measurable_commits_between_stays_an_interval(
    user: User, tmp_path: Path
) -> None:
    shas, path = line(user, "100", "asleep", "broken", "144"), tmp_path / "a.jsonl"
    assert followed(user, path) == [f"one of 3, {shas[0][:9]}..{shas[3][:9]}"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--only", "syscal"], "names no row"),
        (["--follow", "syscal"], "names no row"),
        (["--commit", "nowhere"], "names no commit"),
        (["--build", " "], "the build command is empty"),
    ],
)
def test_invalid_options_are_refused_before_any_build(
    user: User, tmp_path: Path, words: list[str], reason: str
) -> None:
    line(user, "1", "2")
    done = called(user, tmp_path / "a.jsonl", *words)
    assert isinstance(done.exception, TockmarkError)
    assert reason in str(done.exception)
    assert user.builds == []


@pytest.mark.parametrize(
    ("span", "reason"),
    [("HEAD", "is not a range"), ("HEAD..HEAD", "no commit"), ("HEAD...HEAD", "not a range")],
)
def test_an_invalid_range_is_refused(user: User, tmp_path: Path, span: str, reason: str) -> None:
    words = ["campaign", str(user.tree), span, "-f", str(tmp_path / "a"), "--build", "true"]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, TockmarkError)
    assert reason in str(done.exception)


def test_a_file_of_another_branch_is_refused(user: User, tmp_path: Path) -> None:
    line(user, "1", "2")
    path = tmp_path / "a.jsonl"
    assert called(user, path).exit_code == 0
    user.git("checkout", "--quiet", "--orphan", "other")
    line(user, "1", "2", "3", "4", "5")
    done = called(user, path)
    assert isinstance(done.exception, TockmarkError)
    assert "is on another branch" in str(done.exception)
