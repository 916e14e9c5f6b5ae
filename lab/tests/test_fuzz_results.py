# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Mutated result files are refused with one line or read by every verb, and none passes limits
wrongly.

TOCKMARK_FUZZ=100000 makes this many mutations, each from its own seed, which a failure prints."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import msgspec
from mutate import change, mutated

from tockmark.base.errors import TockmarkError
from tockmark.compare import limits, pairs, sweeps
from tockmark.compare.verdict import Judgement, judge_comparison
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import comparison, export, listing, table
from tockmark.suite.catalogue import load
from tockmark.tests import of_samples
from tockmark.tests.damage import WHOLE
from tockmark.tests.of_samples import CALM
from tockmark.tests.tries import RecordProperty, record_tries

Made = TypeVar("Made")
COUNT = int(os.environ.get("TOCKMARK_FUZZ", "200"))
KNOWN = load()
TEXT = json.dumps(WHOLE)
RULES = limits.load_limits(None, KNOWN)
MARGINS = limits.Margins()


def strictly(data: object) -> None:
    """Encode JSON as --json does."""
    json.dumps(data, allow_nan=False)


def within(base: Result, new: Result) -> Judgement:
    """Judge a result by limits."""
    return of_samples.judged(base, new, KNOWN, limits=RULES)


def shown(result: Result, good: Result) -> None:
    """Run the code behind each verb on a result."""
    table.every_row(result, KNOWN)
    table.event_counts(result, KNOWN)
    table.side_by_side([("good", good), ("new", result)], KNOWN, 100)
    table.first_screen([("new", result)], KNOWN, 100)
    strictly(table.as_json([result, good], KNOWN))
    fitted = sweeps.sweeps(result, KNOWN)
    listing.fit_text(fitted)
    strictly(msgspec.to_builtins(fitted))
    for form in export.FORMS:
        exported = export.export(result, KNOWN, form)
        if exported.startswith(("{", "[\n")) and form != "lmbench":
            strictly(json.loads(exported))
        assert "nan" not in exported.lower().replace("unan", "")


def compared(base: Result, new: Result) -> None:
    differences = pairs.compare(base, new, "two", KNOWN, MARGINS, CALM, True)
    both = [(differences, judge_comparison(differences))]
    comparison.compare_text([("one", base), ("two", new)], both)
    strictly(comparison.compare_json("one", both))


def judged(base: Result, new: Result) -> None:
    differences = pairs.compare(base, new, "two", KNOWN, MARGINS, CALM, strict=True)
    both = [(differences, judge_comparison(differences, RULES))]
    for every in (False, True):
        comparison.judged_text("one", both, every)
    comparison.judged_markdown("one", both)
    strictly(comparison.compare_json("one", both))


def one_line(where: str, work: Callable[..., Made], *arguments: object) -> Made | None:
    """Return the work's result, or None if it is refused with one line."""
    try:
        return work(*arguments)
    except TockmarkError as error:
        shown_ = str(error)
    except Exception as error:
        raise AssertionError(f"{where}: {error!r}") from error
    assert shown_.isprintable(), where
    return None


def test_a_mutated_result_is_refused_with_one_line_or_read_by_every_verb(
    tmp_path: Path, record_property: RecordProperty
) -> None:
    path, again = tmp_path / "r.json", tmp_path / "again.json"
    path.write_text(TEXT)
    good = file.load(path)
    accepted = 0
    for seed in range(COUNT):
        where = f"seed {seed}"
        path.write_bytes(mutated(random.Random(seed), TEXT).encode(errors="surrogatepass"))
        result = one_line(where, file.load, path)
        if result is None:
            continue
        accepted += 1
        again.write_text(file.text(result), encoding="utf-8")
        assert file.load(again) == result, where
        one_line(where, shown, result, good)
        one_line(where, compared, good, result)
        one_line(where, compared, result, good)
        one_line(where, judged, good, result)
        one_line(where, judged, result, good)
    assert COUNT / 10 < accepted < COUNT * 9 / 10
    came = {"refused in one line": COUNT - accepted, "accepted by every verb": accepted}
    record_tries(record_property, "mutated results", COUNT, range(COUNT), came)


# An independent oracle for limits: rows whose samples are all equal except the first,
# so a net is a difference of two numbers.
READ = 169
HARD = {
    "cycles": 0.02,
    "instret": 0.01,
}  # default limits: beyond this share and two counts
NETS = {"syscall.command": 156, "syscall.memop": 224, "made.up": 90, "upcall.nothing": 1200}


def clean() -> dict[str, Any]:
    """Return a result that passes against itself, with the cache on and off."""
    rows = []
    for icache in (True, False):
        for id_, net in {"time.read": 0, **NETS}.items():
            fields = {"id": id_, "boot": "syscall", "asked": 64, "icache": icache}
            counts = {"cycles": f"{READ + net + 31} {READ + net}*11", "instret": f"{84 + net}*12"}
            rows.append(fields | counts)
    bare = json.loads(TEXT)["provenance"]
    del bare["layouts"]
    return {"format": "tockmark-result", "version": 4, "provenance": bare, "rows": rows}


def grown(rng: random.Random, data: dict[str, Any]) -> bool:
    """Increase one or more series of one row; return whether any is beyond a hard limit."""
    beyond = False
    rows = data["rows"]
    for row in rng.sample([row for row in rows if row["id"] in NETS], rng.choice([1, 1, 2, 4])):
        series = rng.choice(list(HARD))
        net, read = NETS[row["id"]], READ if series == "cycles" else 84
        limit = max(HARD[series] * net, 2)
        more = rng.choice([int(limit), int(limit) + 1, rng.randrange(-net, 3 * net)])
        total = read + net + more
        row[series] = f"{total + 31} {total}*11"
        # The cached cycles of one unpaired link are never certain.
        beyond |= more > limit and not (series == "cycles" and row["icache"])
    rng.shuffle(rows)
    return beyond


def test_no_mutated_result_passes_limits_wrongly(
    tmp_path: Path, record_property: RecordProperty
) -> None:
    """The result has a change beyond a hard limit, alone or with a mutation of the run's
    description, or does not follow the published schema."""
    schema = jsonschema.Draft202012Validator(file.schema())
    base, path = tmp_path / "base.json", tmp_path / "new.json"
    base.write_text(json.dumps(clean()))
    good = file.load(base)
    assert within(good, good).exit_code == 0
    bad = passed = 0
    false = []  # seeds of results that passed wrongly
    for seed in range(COUNT):
        rng = random.Random(seed)
        data = clean()
        wrong = rng.random() < 0.7 and grown(rng, data)
        if rng.random() < 0.5:
            change(rng, data["provenance" if wrong else rng.choice(["provenance", "rows"])])
            wrong |= not schema.is_valid(data)
        path.write_text(json.dumps(data), encoding="utf-8")
        verdict = one_line(f"seed {seed}", lambda: within(good, file.load(path)))
        clear = verdict is not None and verdict.exit_code == 0
        bad += wrong
        passed += clear
        false += [seed] if wrong and clear else []
    came = {"must not pass": bad, "passed wrongly": len(false)}
    came["passed correctly"] = passed - len(false)
    record_tries(record_property, "mutated results against limits", COUNT, range(COUNT), came)
    assert not false, f"{len(false)} pass, seed {false[0]} the first"
    assert bad > COUNT / 4
    assert passed > COUNT / 20
