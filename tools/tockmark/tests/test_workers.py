# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Workers that fail, lie or attack: shell commands of the tests stand for ssh, and a script for the
simulator.
"""

import dataclasses
import os
import pickle
import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tockmark.compare import gate, rule
from tockmark.compare.answer import answer, certain
from tockmark.compare.gate import Gated
from tockmark.compare.limits import Level, load_limits
from tockmark.compare.pairs import Comparison, compare
from tockmark.compare.rule import Verdict
from tockmark.errors import TockmarkError
from tockmark.judge import engine
from tockmark.result import file
from tockmark.result.build import result_of
from tockmark.result.model import Result
from tockmark.result.parse import parse, whole_boots
from tockmark.rig import cache, cluster, cluster_worker, run, trust
from tockmark.rig.cluster import AnswerReader, DiscardedError
from tockmark.rig.cluster_worker import ANSWER, CORES, HELLO, SAID, UART
from tockmark.rig.image import AppBuild
from tockmark.rig.kinds import sim
from tockmark.rig.protocol import Draw, Start
from tockmark.show import comparison as shown
from tockmark.show import table
from tockmark.show.answer import first_line
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.selection import Selection
from tockmark.tests import stand_in
from tockmark.tests.rows import of_another_kernel
from tockmark.tests.stand_in import options as options_fixture
from tockmark.wire.records import Elsewhere

options = pytest.fixture(options_fixture)
HONEST = "sh -c"
DRAWN = run.drawn
GREETING = HELLO + CORES.pack(1)
# A worker that is ours but for what it makes of a simulator's output: all figures of `mem` double.
LIAR = """
import re, sys
sys.path[:0] = [{tools!r}]
from tockmark.wire.uart_line import UartLine, decode_line

def altered(uart):
    lines = uart.decode("latin-1").split("\\n")
    if not any(" mem " in line for line in lines):
        return uart
    for at, line in enumerate(lines):
        found = decode_line(line)
        if found and found.text.startswith(("data cycles ", "data instret ")):
            more = re.sub(r"[0-9]{{3}}", lambda one: str(2 * int(one[0])), found.text)
            lines[at] = UartLine(found.seq, found.app, more).encode()
    return "\\n".join(lines).encode("latin-1")

script = sys.stdin.buffer.read(int(re.search(r"read\\((\\d+)\\)", sys.argv[-1])[1])).decode()
told = 'return code, uart, b"".join(said)[-SAID:]'
assert told in script
exec(script.replace(told, told.replace("uart", "altered(uart)")))
"""


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No worker of a test is there in the next one."""
    yield
    for one in cluster._CONNECTED:
        one.close()
    cluster._CONNECTED.clear()
    cluster.connect.cache_clear()


@pytest.fixture
def answering(tmp_path: Path) -> Callable[..., str]:
    """A command that sends bytes whatever it is asked, and others later, and then waits."""

    def made(data: bytes, later: bytes = b"") -> str:
        (tmp_path / "sent").write_bytes(data)
        (tmp_path / "later").write_bytes(later)
        wait = "sleep 0.5; " * bool(later)
        return script(tmp_path, f"cd {tmp_path}; cat sent; {wait}cat later; exec sleep 60")

    return made


def script(folder: Path, body: str, name: str = "worker") -> str:
    """A command that runs a shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def liar(folder: Path) -> str:
    path = folder / "liar.py"
    path.write_text(LIAR.format(tools=str(Path(cluster.__file__).parents[2])))
    return shlex.join([sys.executable, str(path)])


def on(options: run.RunOptions, *commands: str) -> run.RunOptions:
    """Return the options of a run on these workers."""
    board = options.board.configured({"cluster": commands})
    return dataclasses.replace(options, board=board)


def discarded() -> None:
    """Wait until every worker but the honest ones is discarded."""
    for one in [one for each in cluster._CONNECTED for one in each.workers if one.name != HONEST]:
        one.join()  # its thread ends with it


def taken(options: run.RunOptions) -> Result:
    return result_of(run.run(options), options, Selection(options.catalogue))[0]


def record(kind: bytes, number: int, uart: int, said: int, texts: bytes = b"") -> bytes:
    return ANSWER.pack(kind, number, 0, b"", uart, said) + texts


class Opened:
    """Writes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


HOSTILE = {
    "garbage": (GREETING + b"garbage" * 100, "it sent what is no record"),
    "endless before hello": (b"?" * 200_000, "it printed without end"),
    "length": (GREETING + record(b"a", 1, UART + 1, 0), "it announced a record of 16,777,217"),
    "length of stderr": (GREETING + record(b"a", 1, 0, SAID + 1), "it announced a record"),
    "a sign of life with a text": (GREETING + record(b"l", 0, 9, 0), "it announced a record"),
    "another's boot": (GREETING + record(b"a", 77, 0, 0), "boot 77, which it does not have"),
    "no end": (GREETING + record(b"a", 1, 1000, 0, b"0" * 999), "it is silent since 8 s"),
    "nothing": (b"", "it says nothing that our script says within 8 s"),
    "signs of life": (GREETING + record(b"l", 0, 0, 0) * 500, "signs of life without end"),
    "cores": (HELLO + CORES.pack(0), "it says that it has 0 cores"),
    "many cores": (HELLO + CORES.pack(0xFFFF), "it says that it has 65535 cores"),
    "cannot": (GREETING + record(b"f", 1, 0, 4, b"no\x1b!"), "it cannot simulate: no !"),
}

WAITED = {"no end": "SILENCE", "nothing": "CONNECT"}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_worker_is_discarded_by_name_and_costs_no_boot(
    what: str,
    answering: Callable[..., str],
    options: run.RunOptions,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    data, why = HOSTILE[what]
    monkeypatch.setattr(cluster, "TICK", 0.1)
    if what in WAITED:  # as long as an honest worker needs on a machine with much to do
        monkeypatch.setattr(cluster, WAITED[what], 8.0)
    command = answering(data)
    result = taken(on(options, command, HONEST))
    assert result.incomplete == ()
    assert result.rows == taken(options).rows
    assert [one.by for one in result.provenance.elsewhere if one.by != HONEST] == []
    discarded()  # the honest one may have done all boots before
    said = [line for line in capfd.readouterr().err.splitlines() if "worker '" in line]
    assert len(said) == 1
    assert said[0].startswith(f"tockmark: worker '{command[:80]}' is discarded: ")
    assert why in said[0]


def test_a_pickle_is_bytes(
    answering: Callable[..., str],
    options: run.RunOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also as what a boot printed: it is torn lines, and nothing else is made of it."""
    monkeypatch.setattr(cluster, "TICK", 0.1)
    made = tmp_path / "made"
    evil = pickle.dumps(Opened(made))
    pickle.loads(evil)
    made.rmdir()  # it would have been made
    boots = b"".join(record(b"a", n, len(evil), 0, evil) for n in (1, 2))
    result = taken(on(options, answering(GREETING + evil), HONEST))
    assert result.incomplete == ()
    result = taken(dataclasses.replace(on(options, answering(GREETING, boots)), jobs=1))
    assert result.provenance.draws[0].discarded
    assert {row.boot for row in result.rows} == {"time"}  # that was simulated here
    assert not made.exists()


def test_without_any_worker_left_boots_are_named(
    answering: Callable[..., str], options: run.RunOptions
) -> None:
    reasons = taken(on(options, answering(GREETING, b"?" * 100))).incomplete
    why = "no worker simulated it: no worker is left ('/"
    assert any(why in reason and "run it again" in reason for reason in reasons)
    assert len([reason for reason in reasons if reason.startswith("missing")]) > 2


def test_a_worker_of_which_a_boot_takes_too_long_is_discarded(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it says that it lives."""
    monkeypatch.setattr(cluster, "LEAST", 0.5)
    monkeypatch.setattr(cluster, "TICK", 0.1)
    command = script(tmp_path, "exec sleep 60")
    flood = GREETING + record(b"l", 0, 0, 0)
    (tmp_path / "sent").write_bytes(flood)
    command = script(tmp_path, f"cat {tmp_path}/sent; sleep 60")
    reasons = taken(on(options, command)).incomplete
    assert any("a boot takes it more than 1 s" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("echo >&2 'Pseudo-terminal …'; echo 'Host key verification failed.' >&2; exit 255",
         "it ended: Host key verification failed."),
        ("exit 3", "it ended: exit code 3"),
        ("read password < /dev/tty; exit 0", "/dev/tty"),
    ],
)  # fmt: skip
def test_what_cannot_be_reached_is_one_line(body: str, why: str, tmp_path: Path) -> None:
    """A question is no hang: there is no terminal to ask at."""
    with pytest.raises(TockmarkError) as raised:
        cluster.connect((script(tmp_path, body),))
    assert "no worker of --cluster can be used" in str(raised.value)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("tcp://127.0.0.1:8786", 'give a command that runs a shell line elsewhere: --cluster "ssh'),
        ("no-such-command-anywhere", "no-such-command-anywhere is not there"),
        ("sh -c 'unclosed", "No closing quotation"),
        ("", "no worker"),
    ],
)
def test_what_is_no_command_is_one_line(command: str, why: str) -> None:
    with pytest.raises(TockmarkError, match=why):
        cluster.connect((command,))


def test_a_record_may_come_in_any_pieces() -> None:
    texts = b"u" * 70 + b"s" * 3
    sent = b"Welcome!\n" + GREETING + record(b"l", 0, 0, 0) + record(b"a", 5, 70, 3, texts)
    for size in (1, 7, 1000):
        reader = AnswerReader()
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        found = [answer for piece in pieces for answer in reader.feed(piece)]
        assert reader.cores == 1
        assert [(one.kind, one.number, one.uart, one.said) for one in found] == [
            (b"l", 0, b"", b""),
            (b"a", 5, b"u" * 70, b"sss"),
        ]


def test_what_is_held_is_bounded() -> None:
    reader = AnswerReader()
    with pytest.raises(DiscardedError):
        deque((list(reader.feed(bytes(1 << 16))) for _ in range(100)), maxlen=0)
    assert len(reader._held) <= 2 << 16


def test_altered_figures_that_are_drawn_change_nothing(
    options: run.RunOptions, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All boots of that worker are simulated here, and it gets no more."""
    false = liar(tmp_path)
    ran = run.run(dataclasses.replace(on(options, false), share=1))
    result = result_of(ran, options, Selection(options.catalogue))[0]
    assert result.rows == taken(options).rows
    assert result.provenance.elsewhere == ()
    (draw,) = result.provenance.draws
    assert draw.discarded == (false[:80],)
    assert "is not believed: of mem, i-cache on it gave another outcome" in capfd.readouterr().err
    (doubt,) = result.provenance.doubts
    assert "was false: its boots were discarded, and simulated here" in doubt
    assert not cluster._CONNECTED[0].there


def test_an_honest_worker_stays_marked_but_for_what_is_drawn(options: run.RunOptions) -> None:
    path = options.layouts[0].kernel.path.parent / "r.json"
    result = taken(on(options, HONEST))
    vouched = {one.vouched: one.boots for one in result.provenance.elsewhere}
    assert {kind: len(boots) for kind, boots in vouched.items()} == {None: 2, "checked": 1}
    path.write_text(file.text(result))
    assert file.load(path) == result
    screen = table.every_row(result, options.catalogue)
    assert "ELSEWHERE rests on 2 boots of 'sh -c', which nothing vouches for" in screen
    every = taken(dataclasses.replace(on(options, HONEST), share=1))
    assert [(one.vouched, len(one.boots)) for one in every.provenance.elsewhere] == [("checked", 3)]
    assert every.provenance.doubts == []


def test_the_seed_says_which_boots_are_drawn() -> None:
    """Of each origin at least one, and the same ones for whoever has the result."""

    def job(n: int, by: str) -> run.Job:
        boot = Boot(f"b{n}", "b", (), ())
        made = run.Job(
            title="",
            rows_expected=0,
            boot=boot,
            icache=True,
            apps=AppBuild(Path(), 2),
            layout=n,
        )
        made.elsewhere = Elsewhere(by)
        return made

    jobs = [job(n, by) for by, many in (("one", 17), ("two", 3)) for n in range(many)]
    draws = [Draw(seed, 8) for seed in "ab"]
    first, second = (run.drawn(draw, jobs) for draw in draws)
    assert [sum(job.elsewhere == Elsewhere(by) for job in first) for by in ("one", "two")] == [3, 1]
    assert run.drawn(draws[0], jobs[::-1]) != second
    assert set(map(id, run.drawn(draws[0], jobs[::-1]))) == set(map(id, first))
    assert len(run.drawn(Draw("a", 1), jobs)) == 20


def test_a_worker_with_the_users_key_is_as_local(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one with another key, or one that altered what it vouches for, is not."""
    monkeypatch.setattr(run, "drawn", lambda draw, foreign: [])
    for key, vouched in ((os.environ[trust.ENVIRONMENT], "mac"), ("k" * 32, None)):
        command = script(tmp_path, f"export TOCKMARK_KEY='{key}'\nexec sh -c \"$1\"", key[:2])
        result = taken(on(options, command))
        assert {one.vouched for one in result.provenance.elsewhere} == {vouched}
        assert bool(result.provenance.foreign) is (vouched is None)


def test_the_key_stays_here(options: run.RunOptions, tmp_path: Path) -> None:
    """A worker that inherits the environment does not get it."""
    command = script(tmp_path, f'env > {tmp_path}/env\nexec sh -c "$1"')
    assert taken(on(options, command)).provenance.foreign
    said = (tmp_path / "env").read_text()
    assert "PATH=" in said
    assert trust.ENVIRONMENT not in said


@pytest.fixture
def false(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[run.RunOptions, Result]:
    """A result of altered boots, none of which was drawn."""
    monkeypatch.setenv(cache.PLACE, str(tmp_path / "cache"))
    monkeypatch.setattr(run, "drawn", lambda draw, foreign: [])
    return options, taken(on(options, liar(tmp_path)))


def test_a_foreign_boot_is_foreign_in_a_later_local_run_too(
    false: tuple[run.RunOptions, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes from the cache, and by chance it is drawn, or with --check all; then what is kept is
    our own."""
    options, first = false
    again = taken(options)
    assert again.provenance.cached == 3
    assert again.provenance.elsewhere[0].by == first.provenance.elsewhere[0].by
    assert again.rows == first.rows
    monkeypatch.setattr(run, "drawn", DRAWN)
    clean = taken(dataclasses.replace(options, share=1))
    assert clean.provenance.draws[0].discarded == (first.provenance.elsewhere[0].by,)
    assert clean.rows != first.rows
    last = taken(options)
    assert (last.rows, last.provenance.elsewhere, last.provenance.cached) == (clean.rows, (), 3)


def test_a_log_keeps_the_marks(false: tuple[run.RunOptions, Result], tmp_path: Path) -> None:
    """So neither `parse` nor --resume makes a local boot of it."""
    options, first = false
    log = tmp_path / "run.log"
    log.write_text(result_of(run.run(options), options, Selection(options.catalogue))[1])
    parsed = parse(log, options.catalogue)
    assert parsed.provenance.foreign.keys() == first.provenance.foreign.keys()
    by = first.provenance.elsewhere[0].by
    for one in whole_boots(log, options.catalogue, options.board).values():
        assert one.elsewhere is not None
        assert one.elsewhere.by == by


def test_a_boot_cannot_print_the_mark_of_another(options: run.RunOptions, tmp_path: Path) -> None:
    """Its lines are its own, whatever they look like."""
    clean = taken(options)
    lines = (tmp_path / "time.flash").read_text().splitlines()
    marks = [run_mark for name in ("time", "mem") for run_mark in marks_of(name)]
    mem = (tmp_path / "mem.flash").read_text().splitlines()[:-1]
    stand_in.end(tmp_path, "time", lines[-1], [*lines[:-1], marks[1], marks[2], *mem, marks[3]])
    result = taken(options)
    assert any("mem reports in the boot time" in reason for reason in result.incomplete)
    mine, own = (
        [row for row in one.rows if row.icache and row.boot != "time"] for one in (result, clean)
    )
    assert mine == own


def marks_of(name: str) -> list[str]:
    from tockmark.wire.records import BootMark

    return [BootMark(name, True, name, ends).encode() for ends in (False, True)]


def test_no_hard_verdict_rests_on_foreign_boots(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be a regression is one by a local boot alone."""
    monkeypatch.setattr(run, "drawn", lambda draw, foreign: [])
    base = of_another_kernel(taken(options))
    new = taken(on(options, liar(tmp_path)))
    local = dataclasses.replace(
        new, provenance=msgspec.structs.replace(new.provenance, elsewhere=())
    )
    known = touching(options.catalogue)

    def gated(result: Result) -> Gated:
        limits = load_limits(None, known)
        return gate.gate([("base", base)], ("new", result), limits, known, rule.Spread())

    def compared(result: Result) -> Comparison:
        from tockmark.compare.pairs import NO_MARGINS

        return compare(base, result, "new", known, NO_MARGINS, rule.Spread())

    hard, soft = gated(local), gated(new)
    assert hard.level is Level.HARD
    assert soft.level is Level.SOFT
    assert [one.row.name for one in soft.moved] == [one.row.name for one in hard.moved]
    assert {one.level for one in soft.moved} == {Level.SOFT}
    assert all(one.why.endswith("; from elsewhere") for one in soft.moved)
    assert any("which nothing vouches for" in warning for warning in soft.warnings)
    said = " ".join(first_line(answer(soft, certain(soft))).split())
    assert "; 4 rows rest on boots from elsewhere" in said
    # Nor is a pass, of what may have been altered so that it passes.
    same = dataclasses.replace(base, provenance=new.provenance)
    assert gated(same).level is Level.SOFT
    assert gated(base).level is Level.PASS
    told = {pair.verdict for pair in compared(new).judged}
    assert told == {Verdict.FOREIGN}
    assert Verdict.FOREIGN not in {pair.verdict for pair in compared(local).judged}
    text = shown.compare_text([("base", base), ("new", new)], [compared(new)])
    assert "elsewhere?: it rests on boots from elsewhere that nothing vouches for" in text

    @dataclasses.dataclass
    class Side:
        name: str
        result: Result

        def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
            return [] if first else [self.result]

    judged = [
        engine.judge(
            Side("base", base), Side("head", one), Selection(known), load_limits(None, known),
            known=rule.Spread(),
        )
        for one in (local, new)
    ]  # fmt: skip
    assert [one.gated.exit_code for one in judged] == [3, 1]


def touching(known: Catalogue) -> Catalogue:
    """The small catalogue with rows that a kernel touches."""
    benchmarks = {
        name: msgspec.structs.replace(one, touches="kernel")
        for name, one in known.benchmarks.items()
    }
    return dataclasses.replace(known, benchmarks=benchmarks)


@pytest.mark.parametrize("ending", ["0", "3", "7", "77"])
def test_what_comes_back_is_what_a_local_run_says(ending: str, tmp_path: Path) -> None:
    """Odd ends of lines and odd bytes, too."""
    binary, flash = tmp_path / "stand-in", tmp_path / "boot.flash"
    binary.write_text(stand_in.STAND_IN.replace("print(line,", "put(line,").replace(
        "import sys, time",
        "import sys, time\ndef put(line, flush):\n"
        "    sys.stdout.buffer.write(line.encode() + b'\\r\\n\\xff\\r')\n    sys.stdout.flush()",
    ))  # fmt: skip
    binary.chmod(0o755)
    stand_in.end(tmp_path, "boot", ending, ["one", "two", "", "three"])
    target, start = sim.SimTarget(binary, True, 16, 1000), Start("boot", flash, True)

    def whole(session: sim.Ended) -> tuple[object, ...]:
        lines, ended = list(session.lines()), session.ending()  # type: ignore[attr-defined]
        return lines, ended, session.cycles, session.panicked, session.idle, session.killed

    far = msgspec.structs.replace(target, cluster=(HONEST,))
    assert whole(far.start(start)) == whole(target.start_here(start))


def test_what_was_stopped_says_so(tmp_path: Path) -> None:
    binary = tmp_path / "stand-in"
    binary.write_text(stand_in.STAND_IN)
    binary.chmod(0o755)
    stand_in.end(tmp_path, "boot", "hang", ["one"])
    start = Start("boot", tmp_path / "boot.flash", True)
    distant = sim.SimTarget(binary, True, 16, 1000, (HONEST,)).start(start)
    distant.stop()
    assert list(distant.lines()) == []
    assert distant.ending() == f"the simulator was stopped by signal {signal.SIGTERM.value}"
    assert distant.killed


def test_what_a_simulator_prints_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_worker, "UART", 1000)
    worker = cluster_worker.Worker(str(tmp_path))
    code, uart, said = worker.run(
        1, ["sh", "-c", "echo one >&2; while echo 0123456789; do :; done"]
    )
    assert (code, len(uart), said) == (-signal.SIGKILL, 1000, b"one\n")
