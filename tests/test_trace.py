# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark profile --perfetto`: the file follows the format of trace events, whoever runs at any
time is on one track, and the sample is where the row says. tests/browser opens one in Perfetto."""

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
CPU = ("kernel", "app ")  # what the tracks begin with of which one runs at a time


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    make("profile")


class Trace:
    """A file as it stands, read by what the format's page says."""

    def __init__(self, path: Path, said: str) -> None:
        self.said = said
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

    def of(self, kind: str, *tracks: str) -> list[dict[str, Any]]:
        """Events of a kind, on the tracks that begin so."""
        found = [event for event in self.events if event["ph"] == kind]
        return [one for one in found if self.tracks[one["tid"]].startswith(tracks or "")]

    def spans(self, *tracks: str) -> list[tuple[int, int]]:
        """Slices in nanoseconds, in their order."""
        found = self.of("X", *tracks)
        return sorted((ns(event["ts"]), ns(event["ts"] + event["dur"])) for event in found)

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


def test_somebody_runs_at_any_time_and_only_one(upcall: Trace) -> None:
    begin, end = upcall.window
    spans = upcall.spans(*CPU)
    assert [spans[0][0], spans[-1][1]] == [begin, end]
    assert [one for _, one in spans[:-1]] == [one for one, _ in spans[1:]]
    for track in {*upcall.tracks.values()} - {"alarms"}:
        own = upcall.spans(track)
        assert [(a, b) for a, b in itertools.pairwise(own) if a[1] > b[0]] == []


def test_an_interrupt_is_raised_is_taken_and_becomes_an_upcall(upcall: Trace) -> None:
    """The sample lies between the two, to the nanosecond."""
    (worst,) = upcall.spans("samples")
    raised, taken = upcall.of("X", "interrupts raised"), upcall.of("X", "interrupts taken")
    assert {event["name"] for event in taken} == {"timer"}
    assert worst[0] in [begin for begin, _ in upcall.spans("interrupts raised")]
    behind = [begin for begin, _ in upcall.spans("interrupts taken") if begin >= worst[0]]
    assert behind[0] in [end for _, end in upcall.spans("interrupts raised")]
    assert len(raised) >= 1
    upcalls = [ns(event["ts"]) for event in upcall.of("i") if event["name"] == "upcall"]
    (at,) = [at for at in upcalls if worst[0] < at <= worst[1]]
    assert worst[1] - at < 1000  # of which the app's first instruction is the end
    (sample,) = upcall.of("X", "samples")
    assert f"{sample['args']['cycles']} cycles" in sample["name"]
    assert "the worst" in upcall.said


def test_an_alarm_contains_its_stages(upcall: Trace) -> None:
    """By the names of families.toml, in their order; they add up to it, and it is the sample but
    for the cycle in which its last instruction leaves the decode stage."""
    whole, *inner = upcall.of("X", "alarms")
    assert whole["name"] == "alarm"
    (family,) = (one for one in load_families() if one.name == "baseline")
    names = [stage.name for stage in family.stage]
    assert [one["name"] for one in inner] == names
    assert [one["args"]["what"] for one in inner] == [stage.what for stage in family.stage]
    begins = [one["args"]["cycle"] for one in (*inner, whole)]
    ends = [one["args"]["cycle"] + one["args"]["cycles"] for one in (*inner, whole)]
    assert begins[1:-1] == ends[:-2]
    assert (begins[0], ends[-2]) == (begins[-1], ends[-1])
    (sample,) = upcall.of("X", "samples")
    assert begins[-1] == sample["args"]["cycle"]
    assert 0 <= whole["args"]["cycles"] - sample["args"]["cycles"] < 10
