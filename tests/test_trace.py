# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark profile --perfetto`: the file is in the format of trace events, exactly one process
runs at any time, and the sample matches the row. tests/browser opens a file in Perfetto.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from products import make

from tockmark.base import paths
from tockmark.latency.chain import load_families

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
CLOCK = 24_000_000
CPU = ("kernel", "app ")  # prefixes of tracks that exclude each other


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    make("profile")


class Trace:
    """A trace file, read according to the specification of the format."""

    def __init__(self, path: Path, output: str) -> None:
        self.output = output
        document = json.loads(path.read_text(encoding="utf-8"))
        self.events: list[dict[str, Any]] = document["traceEvents"]
        self.about: dict[str, int] = document["otherData"]
        assert {event["ph"] for event in self.events} <= {"M", "X", "i", "C"}
        assert {event["pid"] for event in self.events} == {1}
        self.tracks = {
            event["tid"]: event["args"]["name"]
            for event in self.events
            if event["name"] == "thread_name"
        }

    def events_of(self, kind: str, *tracks: str) -> list[dict[str, Any]]:
        """Return the events of a type, on the tracks with these prefixes."""
        events = [event for event in self.events if event["ph"] == kind]
        return [event for event in events if self.tracks[event["tid"]].startswith(tracks or "")]

    def spans(self, *tracks: str) -> list[tuple[int, int]]:
        """Return the slices in nanoseconds, in order."""
        slices = self.events_of("X", *tracks)
        return sorted((ns(event["ts"]), ns(event["ts"] + event["dur"])) for event in slices)

    @property
    def window(self) -> tuple[int, int]:
        first, last = self.about["first_cycle"], self.about["last_cycle"]
        return first * 1_000_000_000 // CLOCK, last * 1_000_000_000 // CLOCK


def ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def traced(folder: Path, *arguments: str) -> Trace:
    file = folder / "trace.json"
    command = [TOCKMARK, "profile", *arguments, "--perfetto", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=paths.ROOT)
    return Trace(file, done.stdout)


@pytest.fixture(scope="module")
def upcall(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return traced(tmp_path_factory.mktemp("trace"), "irq.upcall:core=busy")


def test_exactly_one_process_runs_at_any_time(upcall: Trace) -> None:
    begin, end = upcall.window
    spans = upcall.spans(*CPU)
    assert [spans[0][0], spans[-1][1]] == [begin, end]
    assert [time for _, time in spans[:-1]] == [time for time, _ in spans[1:]]
    for track in {*upcall.tracks.values()} - {"alarms"}:
        own = upcall.spans(track)
        assert [(a, b) for a, b in itertools.pairwise(own) if a[1] > b[0]] == []


def test_an_interrupt_becomes_an_upcall(upcall: Trace) -> None:
    """The sample is between the two, to the nanosecond."""
    (worst,) = upcall.spans("samples")
    raised, taken = (
        upcall.events_of("X", "interrupts raised"),
        upcall.events_of("X", "interrupts taken"),
    )
    assert {event["name"] for event in taken} == {"timer"}
    assert worst[0] in [begin for begin, _ in upcall.spans("interrupts raised")]
    behind = [begin for begin, _ in upcall.spans("interrupts taken") if begin >= worst[0]]
    assert behind[0] in [end for _, end in upcall.spans("interrupts raised")]
    assert len(raised) >= 1
    upcalls = [ns(event["ts"]) for event in upcall.events_of("i") if event["name"] == "upcall"]
    (at,) = [at for at in upcalls if worst[0] < at <= worst[1]]
    assert worst[1] - at < 1000  # it ends with the app's first instruction
    (sample,) = upcall.events_of("X", "samples")
    assert f"{sample['args']['cycles']} cycles" in sample["name"]
    assert "the worst" in upcall.output


def test_an_alarm_contains_its_stages(upcall: Trace) -> None:
    """The stages have the names of families.toml, in order, and add up to the alarm. The alarm
    equals the sample except for the cycle in which its last instruction leaves the decode stage."""
    whole, *inner = upcall.events_of("X", "alarms")
    assert whole["name"] == "alarm"
    (family,) = (
        known_family for known_family in load_families() if known_family.name == "baseline"
    )
    names = [stage.name for stage in family.stage]
    assert [event["name"] for event in inner] == names
    assert [event["args"]["what"] for event in inner] == [stage.what for stage in family.stage]
    begins = [event["args"]["cycle"] for event in (*inner, whole)]
    ends = [event["args"]["cycle"] + event["args"]["cycles"] for event in (*inner, whole)]
    assert begins[1:-1] == ends[:-2]
    assert (begins[0], ends[-2]) == (begins[-1], ends[-1])
    (sample,) = upcall.events_of("X", "samples")
    assert begins[-1] == sample["args"]["cycle"]
    assert 0 <= whole["args"]["cycles"] - sample["args"]["cycles"] < 10
