# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loading a result file validates it: every verb refuses an invalid file and names the error."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tockmark.base.errors import UNUSABLE, TockmarkError
from tockmark.base.paths import ROOT
from tockmark.compare import limits, pairs, sweeps
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.catalogue import load
from tockmark.tests.damage import KINDS, WHOLE, Damage
from tockmark.tests.of_samples import CALM, judged

TEXT = json.dumps(WHOLE)
SCHEMA = ROOT / "docs" / "result.schema.json"
KNOWN = load()


def kinds(damage: Damage) -> str:
    return damage.name


def loaded(text: str, tmp_path: Path) -> Result:
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    return file.load(path)


def test_the_undamaged_file_is_unchanged_after_loading(tmp_path: Path) -> None:
    result = loaded(TEXT, tmp_path)
    assert loaded(file.text(result), tmp_path) == result
    assert json.loads(file.text(result)) == WHOLE
    jsonschema.validate(WHOLE, file.schema())
    command = result.rows[1]
    assert (command.net, command.instructions, command.errors) == (161, 73, ())
    assert (command.cycles and command.cycles.nets, command.layouts) == ((156, 166), (0, 2))
    assert [command.events[n].net for n in (3, 4, 5, 12)] == [2, 3.5, 4, 0]
    assert result.rows[2].per_op == 3
    assert result.rows[-1].net == 224.5


@pytest.mark.parametrize("damage", KINDS, ids=kinds)
def test_damage_is_refused_with_its_message(damage: Damage, tmp_path: Path) -> None:
    with pytest.raises(TockmarkError, match=damage.message) as caught:
        loaded(damage.do(TEXT), tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "r.json") in message
    assert message.isprintable(), "one line"
    assert len(message) < 600
    assert caught.value.code == UNUSABLE


def places(data: Any) -> list[tuple[Any, Any]]:
    """Return all fields and entries of a document: the container, and the key or index."""
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    keys = []
    for name, value in list(inside):
        keys.append((data, name))
        if isinstance(value, dict | list):
            keys += places(value)
    return keys


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**15, 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["time.read", "1*3", "(1,2)*3 7", "cycles", "syscall", "off", "9*1000000"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


LIKE: dict[type, st.SearchStrategy[Any]] = {  # values that are often valid
    int: st.integers(-1, 100),
    str: st.sampled_from(["time.read", "194 169*11", "(1,2)*3", "syscall", "loop.empty"]),
    bool: st.sampled_from([True, False, None]),
}


def changed(draw: st.DrawFn, data: Any) -> None:
    """Make one change in a document."""
    inside, name = draw(st.sampled_from(places(data)))
    how = draw(st.sampled_from(["set", "set", "set", "drop", "other"]))
    if how == "drop":
        del inside[name]
    elif how == "set":
        inside[name] = draw(LIKE.get(type(inside[name]), ANY) | ANY)
    elif isinstance(inside, list):
        inside.append(inside[name])
    else:
        inside[draw(st.text(max_size=5))] = inside[name]


@st.composite
def structures(draw: st.DrawFn) -> str:
    """Draw the document with some changes to its fields and entries."""
    data = json.loads(TEXT)
    for _ in range(draw(st.integers(1, 3))):
        changed(draw, data)
    return json.dumps(data)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw the document with a piece of its text removed, repeated or replaced."""
    at, to = sorted(draw(st.tuples(*[st.integers(0, len(TEXT))] * 2)))
    middle = draw(
        st.sampled_from(["", TEXT[at:to] * 2])
        | st.text(max_size=8)
        | st.text('0123456789-.eE,[]{}":*() ', max_size=8)
    )
    to = to if draw(st.booleans()) else min(len(TEXT), at + draw(st.integers(0, 3)))
    return TEXT[:at] + middle + TEXT[to:]


often = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@often
@given(text=structures() | texts())
def test_a_changed_file_is_refused_or_valid(text: str, tmp_path: Path) -> None:
    """An accepted file is a valid result that can be compared."""
    result = refused = None
    try:
        result = loaded(text, tmp_path)
    except TockmarkError as error:
        refused = str(error)
    if result is None:
        assert refused is not None
        assert refused.isprintable()
        return
    assert loaded(file.text(result), tmp_path) == result
    jsonschema.validate(json.loads(file.text(result)), file.schema())
    judges: list[Callable[[], object]] = [
        lambda: result.incomplete,
        lambda: [(row.net, row.us, row.steadiness) for row in result.rows],
        lambda: pairs.compare(result, result, "b", KNOWN, limits.Margins(), CALM),
        lambda: judged(result, result, KNOWN),
        lambda: sweeps.sweeps(result, KNOWN),
    ]
    for judge in judges:
        with contextlib.suppress(TockmarkError):  # for example, the result has no valid row
            judge()


def test_the_published_schema_matches_the_declarations() -> None:
    declared = json.loads(json.dumps(file.schema()))
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == declared, "run `make tables`"


def test_the_published_schema_refuses_damaged_files() -> None:
    """An independent validator of the schema finds the same errors in types, names and bounds."""
    published = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    published.check_schema(published.schema)
    assert published.is_valid(WHOLE)
    seen = [kind.name for kind in KINDS if not published.is_valid(read(kind.do(TEXT)))]
    for name in ("a field more", "no id", "asked 0"):
        assert name in seen


def read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
