# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A campaign over commits: its file, the detection of jumps, and the output of `history`."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.base.paths import RESULTS
from tockmark.result import file
from tockmark.result.provenance import Kernel, proofs
from tockmark.site import pictures as site_pictures
from tockmark.suite import catalogue
from tockmark.tests.pages import check_links, pages
from tockmark.tests.test_site import NEW, stored
from tockmark_lab.app import app
from tockmark_lab.over_time import commits, commits_text, history
from tockmark_lab.over_time.commits import (
    COMMITS_VERSION,
    FORM,
    AnyLine,
    CommitVerdict,
    GapLine,
    Jump,
    LineCommit,
    MeasuredLine,
    VerdictLine,
)
from tockmark_lab.over_time.history import HistoryRow, HistoryRun

KNOWN = catalogue.load()
FACTORS = dict.fromkeys([*history.GROUPED, *commits.ALIKE], "the same")
ROW = "syscall.command icache=off"


def sha(number: int) -> str:
    return f"{number:040x}"


def commit(number: int, place: int | None, **more: Any) -> LineCommit:
    date = more.pop("date", f"2026-01-{number:02}T00:00:00+00:00")
    subject = more.pop("subject", f"Merge pull request #{number} from someone/else")
    return LineCommit(sha(number), date, subject, place, **more)


def row(instret: float | None, id_: str = "syscall.command", **more: Any) -> HistoryRow:
    settings = {"cycles": 3 * (instret or 10), "icache": False} | more
    return HistoryRow(id_, instret=instret, **settings)


def line(
    line_commit: LineCommit,
    *rows: HistoryRow,
    factors: dict[str, str] | None = None,
    only: str = "kernel",
    entries: dict[str, str] | None = None,
) -> MeasuredLine:
    kernel = Kernel("tock", sha256=sha(7) + "0" * 24, opt_level="z", flash_bytes=9, ram_bytes=7)
    run = HistoryRun(
        history.FORMAT,
        history.VERSION,
        line_commit.date,
        "ab" * 32,
        0,
        FACTORS | (factors or {}),
        rows,
    )
    return MeasuredLine(
        *(FORM, COMMITS_VERSION, "measured", line_commit, only, kernel, 3, 1000, run),
        entries=entries or {},
    )


def gap(line_commit: LineCommit, cause: str = "does not boot: it sleeps") -> GapLine:
    return GapLine(FORM, COMMITS_VERSION, "gap", line_commit, cause)


def judged(base: int, head: int, sure: bool = True) -> VerdictLine:
    of_row = CommitVerdict(
        "syscall.command", 300, 330, 0.1, 0.09, 0.11, sure, 44, "enter, leave", {}, False
    )
    return VerdictLine(FORM, COMMITS_VERSION, "judged", sha(base), sha(head), 4, (of_row,))


def campaign_of(*lines: AnyLine) -> commits.CampaignData:
    data = commits.CampaignData()
    for record in lines:
        data.add(record)
    return data


def only_jump(*lines: AnyLine) -> Jump:
    (jump,) = campaign_of(*lines).jumps()
    return jump


# The file


def test_appended_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tock.jsonl"
    lines: list[AnyLine] = [line(commit(1, 5), row(100)), gap(commit(2, 6)), judged(1, 3)]
    for record in lines:
        commits.append_line(path, record)
    data, problems = commits.load_campaign(path)
    assert problems == []
    assert data == campaign_of(*lines)
    assert (data.boots, data.cycles) == (3, 1000)
    assert [json.loads(text)["kind"] for text in path.read_text().splitlines()] == [
        "measured",
        "gap",
        "judged",
    ]
    assert commits.is_campaign_file(path)
    assert "null" not in path.read_text()


def test_a_torn_line_is_reported_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "tock.jsonl"
    commits.append_line(path, line(commit(1, 5), row(100)))
    path.write_bytes(path.read_bytes() + msgspec.json.encode(gap(commit(2, 6)))[:-9])
    commits.append_line(path, gap(commit(3, 7)))
    data, problems = commits.load_campaign(path)
    assert [problem.rpartition("tock.jsonl")[2] for problem in problems] == [
        ": line 2 is incomplete; skipped"
    ]
    assert list(data.measured) == [sha(1)]
    assert list(data.gaps) == [sha(3)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "other"}, "unknown kind of line 'other'"),
        ({"version": 2}, "not a tockmark-commits of version 1"),
        ({"cause": 3}, "Expected `str`"),
        ({"more": 1}, "unknown field `more`"),
        ({"commit": {"sha": "abc", "date": "2026", "subject": ""}}, "matching regex"),
    ],
)
def test_a_whole_line_with_wrong_content_is_refused(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "tock.jsonl"
    path.write_text(json.dumps(msgspec.to_builtins(gap(commit(1, 5))) | change) + "\n")
    with pytest.raises(TockmarkError, match=reason):
        commits.load_campaign(path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"format":"tockmark-history","version":2}\n')
    with pytest.raises(TockmarkError, match="is a history of runs, not the file of a campaign"):
        commits.load_campaign(path)


def test_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert commits.load_campaign(tmp_path / "none.jsonl") == (commits.CampaignData(), [])


# The series


def test_commits_are_sorted_by_place_and_others_by_date() -> None:
    release = commit(2, None, names=("release-9",), date="2026-01-03T23:00:00-05:00")
    late = commit(9, 4, date="2026-01-02T00:00:00+00:00")  # its clock was wrong
    data = campaign_of(
        line(commit(5, 8), row(1)), line(release, row(1)), line(late, row(1)), line(commit(3, 2))
    )
    assert [measured.commit.sha for measured in data.all_commits] == [sha(n) for n in (3, 9, 2, 5)]
    assert [measured.commit.sha for measured in data.line] == [sha(n) for n in (3, 9, 5)]


def test_a_jump_between_neighbours_has_its_commit_and_pull_request() -> None:
    jump = only_jump(line(commit(1, 5), row(100)), line(commit(2, 6), row(144)))
    assert (jump.row, jump.change, jump.exact, jump.where) == (ROW, 44, True, f"{sha(2)[:9]}, #2")


def test_a_jump_over_unmeasured_commits_is_an_interval() -> None:
    ends = line(commit(1, 5), row(100)), line(commit(4, 8), row(144))
    jump = only_jump(*ends)
    assert not jump.exact
    assert jump.where == f"one of 3, {sha(1)[:9]}..{sha(4)[:9]}"
    between = line(commit(2, 6), row(100)), line(commit(3, 7), row(144), only="syscall.command")
    assert only_jump(*ends, *between).where == f"{sha(3)[:9]}, #3"


@pytest.mark.parametrize(
    ("before", "after", "factors"),
    [
        (row(100), row(100), {}),
        (row(100, icache=True), row(144, icache=True), {}),
        (row(None), row(144), {}),
        (row(100, cycles=300), row(100, cycles=900), {}),  # the layout may be the cause
        (row(100, inner=2), row(144, inner=1), {}),
        (row(100), row(144), {"simulator": "another"}),
        (row(100), row(144), {"compiler": "another"}),
        (row(100), row(144), {"opt-level": "2"}),
    ],
)
def test_small_or_explained_differences_are_not_jumps(
    before: HistoryRow, after: HistoryRow, factors: dict[str, str]
) -> None:
    ends = line(commit(1, 5), before), line(commit(2, 6), after, factors=factors)
    assert campaign_of(*ends).jumps() == []


def test_builds_of_a_simulator_that_are_proved_equal_are_one() -> None:
    proof = next(proof for proof in proofs() if not proof.unlike)
    first, last = ({"simulator": f"sha256 {sha[:12]}"} for sha in (proof.old, proof.new))
    ends = line(commit(1, 5), row(100), factors=first), line(commit(2, 6), row(144), factors=last)
    assert only_jump(*ends).change == 44


@pytest.mark.parametrize(
    ("before", "after", "is_reported"),
    [
        ({}, {}, False),  # only the difference of the catalogues is known
        ({"syscall.command": "1"}, {"syscall.command": "1", "ipc2.request": "2"}, True),
        ({"syscall.command": "1"}, {"syscall.command": "3"}, False),
        ({"syscall.command": "1"}, {}, False),
    ],
)
def test_another_catalogue_hides_no_jump_of_unchanged_rows(
    before: dict[str, str], after: dict[str, str], is_reported: bool
) -> None:
    factors = [{"catalogue": name} for name in ("sha256 a", "sha256 b")]
    data = campaign_of(
        line(commit(1, 5), row(100), factors=factors[0], entries=before),
        line(commit(2, 6), row(144), factors=factors[1], entries=after),
    )
    assert bool(data.jumps()) == is_reported
    assert [point.instret for point in data.mean(KNOWN).points] == (
        [1, 1.44] if is_reported else []
    )


def test_the_largest_jump_represents_a_pair_of_commits() -> None:
    """The largest share, not the most instructions."""
    data = campaign_of(
        line(commit(1, 5), row(1000), row(100, "syscall.memop"), row(100, "syscall.brk")),
        line(commit(2, 6), row(1054), row(144, "syscall.memop"), row(90, "syscall.brk")),
        line(commit(3, 7), row(1000), row(145, "syscall.memop"), row(90, "syscall.brk")),
    )
    named = [(jump.row.split()[0], jump.change) for jump in commits.largest(data.jumps())]
    assert named == [("syscall.memop", 44), ("syscall.command", -54)]
    largest = commits.largest(data.jumps(), ["syscall.brk icache=off"])
    assert [jump.change for jump in largest] == [-10]


@pytest.mark.parametrize(
    ("id_", "before", "after", "change"),
    [
        ("irq.upcall", 12367, 9859, -2508),
        ("irq.upcall", 9859, 10803, 944),
        ("irq.upcall", 10803, 10392, None),  # the layout may be the cause
        ("irq.entry", 12, 13, None),  # a single cycle
    ],
)
def test_rows_without_instructions_jump_by_cycles(
    id_: str, before: int, after: int, change: int | None
) -> None:
    rows = [row(None, id_, cycles=cycles) for cycles in (before, after)]
    jumps = campaign_of(line(commit(1, 5), rows[0]), line(commit(2, 6), rows[1])).jumps(20)
    assert [(jump.change, jump.unit) for jump in jumps] == [(change, "cycles")] * bool(change)
    for jump in jumps:
        assert f"{change:+.0f} cycles" in commits_text.jump_words(jump)


def test_layout_alone_makes_no_jump_of_cycles() -> None:
    """Links of one source vary by less than what counts as a jump."""
    for name in ("opt/tock-2.2-z", "links/tock-2.2", "opt/tock-master-z"):
        for row_ in file.load(RESULTS / f"{name}.json").rows:
            if row_.icache is False and row_.instret is None and row_.cycles:
                ends = min(row_.cycles.nets), max(row_.cycles.nets)
                least = commits.LAYOUT_OF.get(row_.name, commits.LAYOUT) * ends[0]
                assert ends[1] - ends[0] <= max(least, row_.inner), (name, row_.name)


def test_a_commit_outside_the_mainline_makes_no_jump() -> None:
    side_branch = line(commit(2, None, names=("release-9",)), row(144))
    assert (
        campaign_of(line(commit(1, 5), row(100)), side_branch, line(commit(3, 6), row(100))).jumps()
        == []
    )


def test_a_jump_is_per_operation_and_above_the_threshold() -> None:
    data = campaign_of(line(commit(1, 5), row(200, inner=2)), line(commit(2, 6), row(288, inner=2)))
    assert [jump.change for jump in data.jumps()] == [44]
    assert [jump.change for jump in data.jumps(43)] == [44]
    assert data.jumps(44) == []


def test_a_jump_shows_cycles_only_if_paired_links_are_certain() -> None:
    ends = line(commit(1, 5), row(100)), line(commit(2, 6), row(144))
    assert commits_text.cycles_words(only_jump(*ends)) == "instructions only"
    assert (
        commits_text.cycles_words(only_jump(*ends, judged(1, 2, sure=False))) == "instructions only"
    )
    assert commits_text.cycles_words(only_jump(*ends, judged(1, 3))) == "instructions only"
    sure = commits_text.cycles_words(only_jump(*ends, judged(1, 2)))
    assert sure == "cycles +10.0 % (+9.00 % … +11.0 %)"
    clocked = [line(commit(n, n + 4), row(None, cycles=n * 100)) for n in (1, 2)]
    assert commits_text.cycles_words(only_jump(*clocked)) == "one link"
    assert commits_text.cycles_words(only_jump(*clocked, judged(1, 2))) == sure


def test_another_toolchain_is_reported() -> None:
    ends = commit(1, 5, toolchain="nightly-1"), commit(2, 6, toolchain="nightly-2")
    jump = only_jump(*(line(end, row(n)) for end, n in zip(ends, (100, 144), strict=True)))
    assert commits_text.jump_words(jump).endswith("#2; toolchain nightly-2")


def test_the_mean_counts_each_benchmark_once_and_skips_commits_without_all_rows() -> None:
    def rows(command: float, allow: float) -> list[HistoryRow]:
        many = [row(allow, "syscall.allow_rw", params={"size": n}) for n in (0, 64, 4096)]
        return [row(command), *many, row(9, "loop.empty")]

    data = campaign_of(
        line(commit(1, 5), *rows(100, 100)),
        line(commit(2, 6), row(500), only="syscall.command"),
        line(commit(3, 7), *rows(400, 100)),
    )
    mean = data.mean(KNOWN)
    assert [point.commit.sha for point in mean.points] == [sha(1), sha(3)]
    assert [point.instret for point in mean.points] == pytest.approx([1, 2])
    assert "instructions 2.00" in commits_text.mean_line(mean, data)


@pytest.mark.parametrize(
    ("subject", "pull"),
    [
        ("Merge pull request #12 from a/b", 12),
        ("kernel: tidy up (#34)", 34),
        ("Merge #5: x", None),
        ("see (#34) of it", None),
    ],
)
def test_the_pull_request_comes_from_the_subject(subject: str, pull: int | None) -> None:
    assert commit(1, 1, subject=subject).pull == pull


# The output


def shown(path: Path, *words: str) -> str:
    done = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["history", "-f", str(path), *words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "tock.jsonl"
    lines: list[AnyLine] = [
        line(commit(1, 5), row(100), row(50, "syscall.memop")),
        line(commit(2, None, names=("release-9",)), row(100), row(50, "syscall.memop")),
        line(commit(3, 6), row(144, cycles=440, span=(430, 452)), row(52, "syscall.memop")),
        gap(commit(4, 7)),
        line(commit(6, 9), row(120), row(52, "syscall.memop")),
        judged(1, 3),
    ]
    for record in lines:
        commits.append_line(file, record)
    return file


def test_one_row_is_shown_in_full(path: Path) -> None:
    text = shown(path, "syscall.command")
    lines = text.splitlines()
    heading = "geometric mean of what touches the kernel, 000000000 by 000000000: instructions 1.12"
    assert lines[0].startswith(heading)
    marks = [text_line.split()[-1] for text_line in lines if text_line.startswith("2026-01-")][:4]
    assert marks == ["o", "|", "#", "#"]
    assert "430–452" in text
    first = "2026-01-03 +44 instructions (+44.0 %), cycles +10.0 % (+9.00 % … +11.0 %)"
    assert f"{first}: 000000000, #3" in " ".join(text.split())
    second = "2026-01-06 -24 instructions (-16.7 %), instructions only: one of 3"
    assert second in " ".join(text.split())
    assert "2026-01-04 000000000: does not boot: it sleeps" in text
    assert max(map(len, lines)) <= 100


def test_without_a_row_option_rows_that_jumped_are_shown_in_short(path: Path) -> None:
    text = shown(path)
    first, other = (line for line in text.splitlines() if "icache=off" in line)
    assert first.split() == [*ROW.split(), "4", "100", "120", "+20.0", "%", "2", "▁▁█▄"]
    assert other.split()[-2:] == ["1", "▁▁██"]


def test_json_has_points_jumps_and_gaps(path: Path) -> None:
    document = json.loads(shown(path, "syscall.command", "--json"))
    (of_row,) = document["rows"]
    assert [point["instret"] for point in of_row["points"]] == [100, 100, 144, 120]
    assert [jump["head"]["sha"] for jump in of_row["jumps"]] == [sha(3), sha(6)]
    assert [entry["cause"] for entry in document["gaps"]] == ["does not boot: it sleeps"]


def test_a_picture_is_drawn_and_reproducible(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg", tmp_path / "b.svg"
    for picture in out:
        shown(path, "syscall.command", "-o", str(picture))
    assert out[0].read_bytes() == out[1].read_bytes()
    assert b"release-9" in out[0].read_bytes()


def test_an_unknown_row_is_refused(path: Path) -> None:
    done = CliRunner().invoke(app, ["history", "-f", str(path), "syscall.brk"])
    assert isinstance(done.exception, TockmarkError)
    assert "has no row 'syscall.brk'" in str(done.exception)


def test_the_site_has_a_page_for_the_campaign_but_none_for_a_commit(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_pictures, "_inline", lambda sheets, of="": [])  # no other picture
    monkeypatch.setattr(site_pictures, "draw", lambda named, only=None: {})
    words = ["site", stored(tmp_path / "a.json", NEW), "--over-time", str(path)]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    read = pages(tmp_path / "site")
    page = read["commits.html"]
    for word in (ROW, "release-9", "#3", "does not boot: it sleeps", "instructions only", "+44"):
        assert word in page.text
    assert "cycles +10.0 %" in page.text
    assert 'aria-label="over commits"' in (tmp_path / "site" / "commits.html").read_text()
    assert "commits.html" in read["index.html"].targets
    assert "../commits.html#rows" in read["benchmark/syscall.html"].targets
    assert not [name for name in read if sha(1)[:9] in name]
    assert check_links(tmp_path / "site")
