# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study receive: its apps and its tool agree, and a page shows a rate only up to the first
loss."""

import re
import sys
from pathlib import Path

import msgspec
import pytest

from tockmark.base import documents, paths
from tockmark.base.errors import TockmarkError
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import receive
from tockmark_lab.studies.receive import BYTES, COMPANY, LANGS, RATES, Rate

APPS = STUDIES / "receive" / "apps"
DATA = sorted((STUDIES / "receive" / "data").glob("[bt]*.json"))
sys.path.append(str(paths.ROOT / "lab" / "pages"))
sys.path.append(str(paths.ROOT / "tools" / "pages"))


@pytest.mark.parametrize("name", ["receiver.c", "receiver.rs"])
def test_app_and_tool_have_the_same_rates(name: str) -> None:
    text = (APPS / name).read_text(encoding="utf-8")
    rates = re.search(r"paces(?:\[\]|: \[u32; \d+\]) = [\[{]([\d, ]+)[\]}]", text, re.I)
    assert rates
    assert [int(pace) for pace in rates[1].split(",")] == [*RATES]
    numbers = {name: int(n) for name, n in re.findall(r"(BYTES|MORE)(?:: u32)? = (\d+)", text)}
    assert numbers["BYTES"] + numbers["MORE"] == BYTES


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_committed_rates_are_complete(path: Path) -> None:
    stored = receive.load(path)
    for lang in LANGS:
        for company in COMPANY:
            rates = [r for r in stored.rates if (r.lang, r.company) == (lang, company)]
            assert {receive.STANDARD, receive.FASTEST} <= {rate.pace for rate in rates}
            assert all(rate.came == BYTES for rate in rates if rate.is_whole)
            assert not rates[-1].is_whole or rates[-1].pace == min(RATES)


def test_the_fastest_rate_is_below_the_first_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    receiving = pytest.importorskip("receiving")

    def fastest(*lost: int | None) -> str:
        rates = {pace: Rate("c", "alone", pace, 1, n) for pace, n in zip(RATES, lost, strict=False)}
        monkeypatch.setattr(receiving, "of_company", lambda *_: rates)
        return str(receiving.fastest("any", "c", "alone"))

    assert fastest(0, 0, 7) == "230,400"
    assert fastest(0, 0, None, 0) == "230,400"
    assert fastest(None, 0) == "none"


def test_a_read_that_never_ended_has_no_figures(tmp_path: Path) -> None:
    stored = receive.load(DATA[0])
    stalled = (Rate("c", "alone", receive.STANDARD),)
    replaced = msgspec.structs.replace(stored, rates=stalled)
    path = tmp_path / "stored.json"
    path.write_text(documents.text_of(replaced, ("rates",)))
    assert receive.load(path).rates == stalled
    path.write_text(path.read_text().replace("tockmark-receive", "another"))
    with pytest.raises(TockmarkError):
        receive.load(path)
