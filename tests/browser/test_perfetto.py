# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Perfetto's viewer opens a timeline and finds the content that `tockmark profile --perfetto`
reports."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from chrome import Chrome
from perfetto import VIEWER, opened
from products import make

from tockmark.base import paths
from tockmark.latency.chain import load_families

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
OF_TRACKS = """
    select thread.name, sum(dur > 0), sum(dur = 0), sum(dur) from slice
    join thread_track on slice.track_id = thread_track.id join thread using (utid) group by 1
"""
OF_STAGES = """
    select child.name, extract_arg(child.arg_set_id, 'args.cycles') from slice child
    join slice parent on child.parent_id = parent.id
"""
STAGES = [stage.name for stage in load_families()[0].stage]  # of the baseline


def test_perfetto_agrees_with_the_tool(chrome: Chrome, tmp_path: Path) -> None:
    """Slices and instants by track, counters, and the time of each track are equal, and the viewer
    reports no error in the file."""
    if not VIEWER.is_dir():
        why = "no viewer of Perfetto here: run `make setup-browser`"
        if os.environ.get("TOCKMARK_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    make("profile")
    file = tmp_path / "trace.json"
    command = [TOCKMARK, "profile", "irq.upcall:core=busy", "--perfetto", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=paths.ROOT)
    counts = re.search(
        r"(\d+) slices on (\d+) tracks, (\d+) system calls and upcalls, (\d+) PMP writes,"
        r" (\d+) cache fills",
        done.stdout,
    )
    assert counts
    slices, tracks, instants, writes, fills = map(int, counts.groups())
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    names = {
        event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    durations, points = Counter[str](), Counter[str]()
    for event in events:
        points.update([event["name"]] if event["ph"] == "C" else [])
        if event["ph"] == "X":
            durations[names[event["tid"]]] += round(event["dur"] * 1000)
    with opened(chrome, file) as perfetto:
        by_track = {name: counts for name, *counts in perfetto.query(OF_TRACKS)}
        assert sum(counts[0] for counts in by_track.values()) == slices
        assert sum(counts[1] for counts in by_track.values()) == instants
        assert {name: counts[2] for name, counts in by_track.items() if counts[2]} == durations
        named = perfetto.query("select name from thread where name is not null")
        assert {name for (name,) in named} == {*names.values()}
        assert len(names) == tracks
        counters = "select name, count(*), max(value) from counter join counter_track"
        counted = perfetto.query(f"{counters} on track_id = counter_track.id group by 1")
        assert counted == [
            ["PMP writes", points["PMP"], writes],
            ["cache fills", points["cache"], fills],
        ]
        ours = [[event["name"], event["args"]["cycles"]] for event in events if event["ph"] == "X"]
        ours = [stage for stage in ours if stage[0] in STAGES]
        among = ", ".join(f"'{stage}'" for stage in STAGES)
        stages = f"{OF_STAGES} where child.name in ({among}) and parent.name = 'alarm' order by"
        assert perfetto.query(f"{stages} child.ts") == ours
        assert {name for name, _ in ours} == {*STAGES}
        wrong = "select name, value from stats where severity != 'info' and value > 0"
        assert perfetto.query(wrong) == []
        args = "select count(*) from args where key = 'args.mostly'"
        assert perfetto.query(args)[0][0] > 0
