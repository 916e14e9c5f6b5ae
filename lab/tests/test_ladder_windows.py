# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Windows of clients and their server: owners of the cycles, waits, sums, and the record of
requests."""

import pytest
from msgspec.structs import replace

from tockmark.result.file import decoded
from tockmark.result.model import Row
from tockmark.suite.catalogue import PERF, Params
from tockmark.tests.encoder import Encoder
from tockmark.wire.boots import assemble
from tockmark.wire.records import compress, decode
from tockmark.wire.rows import StoredRow
from tockmark_lab.studies.ladder import ALLOWED, OWNERS, Rung, ServedRequest, check_requests

CLOSED = (  # two clients; the server runs as soon as one asks
    ServedRequest(0, 0, 0, 10, 30, 40, 45),
    ServedRequest(0, 0, 47, 57, 77, 87, 92),
    ServedRequest(1, 0, 95, 105, 125, 135, 140),
    ServedRequest(1, 0, 142, 152, 172, 182, 187),
)


def row(requests: tuple[ServedRequest, ...], clients: int = 2) -> Row:
    series = zip(*requests, strict=True)
    extra = dict(zip(ServedRequest._fields, map(compress, series), strict=True))
    params: Params = {"set": f"clients_first_{clients}", "size": 16}
    stored = StoredRow("ladder.closed", "ladder-x", len(requests), params, extra=extra)
    return decoded(stored, None, PERF)


def test_every_cycle_of_the_window_has_an_owner() -> None:
    rung = Rung(CLOSED, closed=True)
    assert (rung.window, rung.answers) == (87, (2, 0))
    assert rung.cycles == {
        "server": 40,
        "clients": 7,  # the client checks one answer, then asks at once
        "crossing": 40,
        "idle": 0,
        "unaccounted": 0,
    }
    assert sum(map(rung.share, OWNERS)) == pytest.approx(1)
    assert rung.per_answer == 87 / 2
    assert rung.least == 0


def test_a_wait_excludes_the_servers_own_work() -> None:
    rung = Rung((*CLOSED[:1], ServedRequest(1, 0, 5, 50, 70, 90, 95)), closed=True)
    assert [request.wait for request in rung.requests] == [20, 65]
    assert (rung.wait(0.5), rung.wait(0.9), rung.wait(1)) == (20, 65, 65)


def test_interrupted_work_counts_as_uninterrupted_work() -> None:
    """The other client asks while the server works, so 5 of the 30 cycles are not the server's."""
    requests = (
        ServedRequest(0, 0, 0, 10, 30, 40, 45),
        ServedRequest(0, 0, 47, 57, 82, 92, 97),
        ServedRequest(1, 0, 60, 100, 120, 130, 135),
    )
    rung = Rung(requests, closed=True)
    assert rung.interrupted == {requests[1]}
    assert rung.cycles["server"] == 20 + 20
    assert rung.cycles["crossing"] == 10 + 10 + 10 + 5 + 10
    assert sum(rung.cycles.values()) == rung.window == 92


def test_work_that_never_ran_without_interruption_is_refused() -> None:
    first = ServedRequest(0, 0, 0, 10, 40, 50, 51)
    through = Rung((first, ServedRequest(1, 0, 20, 52, 72, 80, 85)), closed=True)
    assert through.interrupted == {first}
    assert through.share("unaccounted") == 0
    neither = (first, ServedRequest(1, 0, 20, 45, 72, 80, 85))
    assert Rung(neither, closed=True).share("unaccounted") > ALLOWED
    assert "of the window are unaccounted for" in str(check_requests(row(neither)))


@pytest.mark.parametrize(
    ("requests", "clients", "message"),
    [
        (CLOSED, 2, None),
        (CLOSED[:3], 2, "did not serve what was asked"),
        (CLOSED[:2], 2, "did not serve what was asked"),
        (CLOSED, 1, "did not serve what was asked"),
        ((*CLOSED[:3], CLOSED[0]), 2, "did not serve what was asked"),
        ((*CLOSED[:3], ServedRequest(1, 0, 142, 130, 172, 182, 187)), 2, "before it was asked"),
    ],
)
def test_served_and_asked_must_be_equal(
    requests: tuple[ServedRequest, ...], clients: int, message: str | None
) -> None:
    problem = check_requests(row(requests, clients))
    assert problem is None if message is None else message in str(problem)
    assert check_requests(replace(row(requests), extra={})) == "there are no requests"


def test_invalid_requests_are_refused() -> None:
    without = {name: own for name, own in row(CLOSED).extra.items() if name != "ready"}
    assert "do not have the series" in str(check_requests(replace(row(CLOSED), extra=without)))
    still = (ServedRequest(0, 0, 0, 0, 0, 0, 0),)
    assert check_requests(row(still, clients=1)) == "its requests took no time"


SAID = "client 0*2 due 0,1000 asked 0,130 taken 40,170 done 60,190 answered 100,230 ready 105,235"


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (SAID, None),
        (SAID.replace("0*2", "0*3"), "different lengths"),
    ],
)
def test_the_record_of_requests_goes_to_its_row(record: str, problem: str | None) -> None:
    params = "set=server_first_1 size=16"
    encoder = Encoder("ladder")
    lines = [
        line
        for text in (
            "begin proto=1 lang=c abi=2 apps=1 perf=589840",
            f"requests ladder.open {params} {record.replace(',', ' ')}",
            f"bench ladder.open {params} inner=1 n=2 by=reading",
            "data cycles 80 80 instret 40 40 .",
            "end ok",
        )
        for line in encoder.lines(text)
    ]
    measured = assemble(decode(lines))
    (stored_row,) = (app_row for _, app in measured.each() for app_row in app.rows)
    assert bool(stored_row.extra) == (problem is None)
    problems = [str(each) for each in measured.problems]
    assert any(problem in message for message in problems) if problem else not problems
