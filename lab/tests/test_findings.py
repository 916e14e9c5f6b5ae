# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The commands and figures of docs/findings.md and of the studies agree with the tool and with the
committed files. The last tests compare the generated pages and pictures byte for byte."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import chapter_pictures
import committed
import comparisons
import opt_levels
import over_commits
import runtimes
import sample_parts
import waits
from committed import CommittedResult
from comparisons import StudiedRow
from tockmark.latency import report
from tockmark.profile.file import StoredProfile
from tockmark_lab.folders import DATA, STUDIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
HISTORY = (STUDIES / "history" / "README.md").read_text(encoding="utf-8")
MOST_LINES = 250  # of the findings
COMMANDS = re.findall(r"^ {7}tockmark (.*)$", PAGE, re.MULTILINE)
# Results of one link, with all rows.
WHOLE = [
    committed.committed(name) for name in ("tock-2.2-cw310", "tock-master-cw310", "baseline-cw310")
]
PROFILES = [
    profile
    for path in sample_parts.FOLDER.iterdir()
    for profile in sample_parts.profiles(path.name).values()
]


def run_command(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the page."""
    call = [sys.executable, "-m", "tockmark", *shlex.split(command)]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)


def sentence(number: int) -> str:
    """Return a sentence of the page's five."""
    return PAGE.partition(f"\n{number}. ")[2].partition(f"\n{number + 1}. ")[0]


def test_five_sentences_open_the_page_each_with_its_command() -> None:
    assert len(COMMANDS) == 5
    assert all(command in sentence(n) for n, command in enumerate(COMMANDS, 1))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_works_on_committed_files(command: str) -> None:
    done = run_command(command)
    assert done.returncode in (0, 1), done.stderr  # 1: a null control of a link failed
    assert done.stdout
    assert not done.stderr


def test_the_first_sentences_name_the_price_of_isolation_and_the_worst_wait() -> None:
    assert runtimes.price("cost.alarm core=asleep") in sentence(1)
    assert {"Embassy", "RTIC"} <= set(re.findall(r"\w+", sentence(1)))
    assert waits.worst("tock-2.2") in sentence(2)
    assert waits.worst("tock-master") in sentence(2)


def test_the_page_is_short_and_names_every_study() -> None:
    """Studies without a template belong to the page of another one."""
    assert PAGE.count("\n") <= MOST_LINES
    for template in STUDIES.glob("*/README.md.j2"):
        assert f"(../lab/studies/{template.parent.name}/README.md" in PAGE


def test_the_index_names_every_study() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in STUDIES.glob("*/README.md"):
        assert f"(../lab/studies/{page.parent.name}/README.md" in index


@pytest.mark.parametrize("page", sorted(STUDIES.glob("*/README.md")), ids=lambda p: p.parent.name)
def test_the_page_of_a_study_says_that_its_figures_are_simulated(page: Path) -> None:
    assert "simulated" in page.read_text(encoding="utf-8").lower()


def test_compare_prints_the_ratios_of_the_page() -> None:
    text = " ".join(run_command(COMMANDS[2]).stdout.split())
    means = re.findall(
        r"each counted once, opt-level . against z: ([\d.]+) \(([\d.]+) to ([\d.]+)\)", text
    )
    assert len(means) == 2
    shown = re.findall(r"\*\*(0[\d.]+)\*\* \((0[\d.]+)–(0[\d.]+)\)", sentence(3))
    assert [tuple(f"{float(number):.2f}" for number in mean) for mean in means] == shown


def test_limits_give_the_verdict_of_the_page() -> None:
    (command,) = re.findall(r"tockmark (compare .* --limits .*)", HISTORY)
    two, now = re.findall(r"takes ([\d,]+) instructions on 2.2 and ([\d,]+) on master", HISTORY)[0]
    done = run_command(command)
    assert done.returncode == 3
    verdicts = re.findall(
        r"^syscall.command .* (\w+) +\+(\d+)(!!)?(?:  control subtracted)?$",
        done.stdout,
        re.MULTILINE,
    )
    assert {line[:2] for line in verdicts} == {("unsure", str(int(now) - int(two)))}
    assert len(verdicts) == 2
    assert any(line[2] for line in verdicts), "beyond the hard limit"


@pytest.mark.parametrize("kernel", ["tock-2.2", "tock-master"])
@pytest.mark.parametrize("level", ["2", "3"])
def test_limits_find_no_worse_row_at_a_faster_level(kernel: str, level: str) -> None:
    files = [f"results/opt/{kernel}-{name}.json" for name in ("z", level)]
    for order, code in ((files, 0), (files[::-1], 3)):
        command = f"compare {' '.join(order)} --limits --only 'kernel icache=on'"
        assert run_command(command).returncode == code


def test_profile_names_the_function_with_the_new_instructions() -> None:
    (command,) = re.findall(r"tockmark (profile --diff .*)", HISTORY)
    assert "get_disjoint_mut" in HISTORY
    assert "get_disjoint_mut" in run_command(command).stdout


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: f"{p.kernel.opt_level} {p.label}")
def test_the_parts_of_a_profile_add_up(profile: StoredProfile) -> None:
    for what, whole in (("cycles", profile.cycles), ("instructions", profile.instructions)):
        assert (
            sum(sample_parts.split_parts(profile, what)[name] for name in sample_parts.PARTS)
            == whole
        )
    assert all(
        sample_parts.split_parts(profile, "cycles")[name] < profile.cycles
        for name in sample_parts.KINDS
    )


def test_kernels_have_the_level_in_their_files_name() -> None:
    for kernel in opt_levels.KERNELS:
        for level in opt_levels.LEVELS:
            run = opt_levels.run(kernel, level)
            assert run.kernel.opt_level == level
            assert run.result.links >= 4
            assert run.kernel.is_baseline == (kernel == "baseline")
    for folder in sample_parts.FOLDER.iterdir():
        assert {p.kernel.opt_level for p in sample_parts.profiles(folder.name).values()} == {
            folder.name.rpartition("-")[2]
        }


def test_a_table_says_what_never_came_before_the_worst_wait() -> None:
    waited = "lab/data/latency/tock-2.2-on.json"
    done = run_command(f"table results/tock-2.2-cw310.json {waited} --no-provenance")
    latency = report.load(ROOT / waited)
    never = max(lost.cycles for lost in latency.never)
    words = " ".join(done.stdout.split())
    assert -1 < words.find(f"{never:,} cycles") < words.find(f"{latency.worst.cycles:,} cycles")
    assert "no bound" in words
    assert run_command(f"table {waited}").returncode == 2


@pytest.mark.parametrize("run", WHOLE, ids=lambda run: run.name)
def test_a_profile_has_the_cycles_of_its_rows_samples(run: CommittedResult) -> None:
    """So the profile explains the row's figure. With the i-cache on, samples differ."""
    own = [p for p in PROFILES if p.kernel.sha256 == run.kernel.sha256 and not p.icache]
    assert len(own) >= 3
    for profile in own:
        row = run.row(profile.label, False)
        assert row is not None
        assert row.cycles is not None
        assert min(row.cycles.samples) <= profile.cycles <= max(row.cycles.samples), profile.label


def test_profiles_come_from_upstreams_link() -> None:
    for kernel in ("tock-2.2", "tock-master"):
        (sha256,) = {p.kernel.sha256 for p in sample_parts.profiles(f"{kernel}-z").values()}
        assert sha256 == committed.committed(f"{kernel}-cw310").kernel.sha256


@pytest.mark.parametrize(
    ("study", "verdict"),
    [(10, "inside"), (9, "inside"), (12, "9.1 % above"), (8, "11.1 % below")],
)
def test_a_figure_is_inside_the_range_or_outside_by_a_percentage(
    study: float, verdict: str
) -> None:
    assert StudiedRow("x", study, [11.0, 9.0, 10.0], (None, None)).verdict == verdict


def test_a_row_in_one_shift_has_no_range() -> None:
    studied = list(
        comparisons.studied_rows(*map(committed.committed, ("paper-2021", "links/study-shifts")))
    )
    assert studied
    assert all(len(row.ours) > 1 for row in studied)
    assert (
        list(
            comparisons.studied_rows(
                *map(committed.committed, ("paper-2021", "tock-1.x-nexysvideo"))
            )
        )
        == []
    )


def test_ranges_are_formatted_short() -> None:
    assert committed.between([3.0, 1.0, 2.0]) == "1–3"
    assert committed.between([1234.4, 1233.6]) == "1,234"
    assert committed.between([]) == "-"


def test_the_bisection_agrees_with_the_runs() -> None:
    """Both ends were measured twice: by hand during the bisection, and with all rows."""
    bisection = comparisons.bisection()
    for row in bisection.rows:
        for name, kernel in (("9554639b1", "tock-2.2"), ("65608d717", "tock-master")):
            own = committed.retired(opt_levels.run(kernel, "z").row(row, False))
            assert own is not None
            assert bisection.instructions(row, name) == pytest.approx(own, rel=0.01), (row, name)


def test_the_campaign_agrees_with_the_bisection() -> None:
    """Both measured some of the same commits, with versions of the tool months apart."""
    campaign, by_hand = over_commits.history(), comparisons.bisection()
    both = [
        (campaign.measured[build.commit], build)
        for build in by_hand.builds
        if build.commit in campaign.measured and build.name == build.commit[: len(build.name)]
    ]
    assert len(both) > 2
    for measured, build in both:
        assert measured.commit.toolchain == build.toolchain
        assert measured.kernel.opt_level == build.opt_level
        for row, count in zip(by_hand.rows, build.instructions, strict=True):
            measured_row = measured.rows[row + over_commits.OFF]
            assert measured_row.instret == pytest.approx(count * measured_row.inner, abs=1), (
                row,
                build.name,
            )


def test_jumps_have_one_commit_each_and_causes_name_known_commits() -> None:
    for dearer in (True, False):
        jumps = over_commits.largest_jumps(dearer)
        assert len({jump.head.sha for jump in jumps}) == len(jumps) <= 5
        for jump in jumps:
            assert (jump.change > 0) is dearer
            assert jump.exact
            assert jump.base.toolchain == jump.head.toolchain
            assert over_commits.check(jump) in over_commits.jump_table(dearer)
    commits = {build.commit for build in comparisons.bisection().builds}
    commits |= set(over_commits.history().measured)
    lost = [name for name in over_commits.causes() if not any(c.startswith(name) for c in commits)]
    assert lost == []


def test_the_jumps_add_up_to_the_change_of_the_line() -> None:
    """They cover the line from its first commit to the newest, over all three origins."""
    line = over_commits.history().line
    for row in over_commits.ROWS:
        there = [measured for measured in line if row + over_commits.OFF in measured.rows]
        ends = [measured.rows[row + over_commits.OFF] for measured in (there[0], there[-1])]
        counts = [(measured.instret or 0) / measured.inner for measured in ends]
        jumps = [j for j in over_commits.history().jumps() if j.row == row + over_commits.OFF]
        assert sum(jump.change for jump in jumps) == pytest.approx(counts[1] - counts[0])
        assert {over_commits.origin(jump) for jump in jumps} <= set(over_commits.ORIGINS)


def test_all_versions_have_one_machine_compiler_and_level() -> None:
    runs = [comparisons.version(name) for name in comparisons.VERSIONS]
    assert [run.result.provenance.abi for run in runs] == [1, 2, 2]
    assert len({(run.board.machine, run.board.simulator_sha256) for run in runs}) == 1
    assert len({(run.kernel.rustc, run.kernel.opt_level) for run in runs}) == 1
    assert {run.result.links for run in runs} == {4}


def test_added_instructions_are_the_difference_of_the_rows() -> None:
    command = "syscall.command"
    before, after = (
        committed.retired(comparisons.version(n).row(command, False)) for n in ("1", "2")
    )
    assert before is not None
    assert after is not None
    assert comparisons.added_instructions(command) == after - before
    assert comparisons.added_instructions(command, "2", "1") == -comparisons.added_instructions(
        command
    )
    assert comparisons.percent_more(command, "1", "1") == "+0 %"
    assert comparisons.percent_more(command).startswith("+")
    assert f"| {command} | {before:.0f} |" in comparisons.version_table([command])


def test_profiles_of_the_versions_come_from_three_kernels() -> None:
    profiles_by_version = [
        sample_parts.profiles(comparisons.profile_folder(name)) for name in comparisons.VERSIONS
    ]
    assert len({frozenset(profiles) for profiles in profiles_by_version}) == 1
    assert len(
        {p.kernel.sha256 for profiles in profiles_by_version for p in profiles.values()}
    ) == len(profiles_by_version)


@pytest.mark.parametrize("maker", ["findings", "chapter_pictures", "blocks"])
def test_generated_pages_are_up_to_date(maker: str) -> None:
    check = [sys.executable, str(ROOT / "lab" / "pages"), "--check", maker]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_of_a_study_shows_its_pictures() -> None:
    for study, drawings in chapter_pictures.PICTURES.items():
        page = (STUDIES / study / "README.md").read_text(encoding="utf-8")
        for name in drawings:
            assert f"({name}.svg)" in page
            assert (STUDIES / study / f"{name}.svg").stat().st_size < 90_000


@pytest.mark.parametrize("path", sorted((DATA / "latency").glob("*.json")), ids=str)
def test_the_committed_waits_add_up(path: Path) -> None:
    latency = report.load(path)
    assert sum(latency.worst.stages.values()) == latency.worst.cycles
    assert max(load.whole.worst for load in latency.loads) == latency.worst.cycles
