# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An app says of which boot and which image it is, in a log of whatever kind.

Needs what `make build` makes.
"""

from pathlib import Path

import msgspec
import pytest

from tockmark.suite import catalogue
from tockmark.suite.catalogue import Lang
from tockmark.target import board as boards
from tockmark.target.image import AppBuild, build_image, with_early_stop
from tockmark.target.kernel import read_kernel
from tockmark.target.protocol import Start
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode
from tockmark.wire.uart_line import LINE_LIMIT

BOOT = next(boot for boot in catalogue.load().boots() if boot.name == "time")
LONGEST = "a-boot_with-23-letters0"
FEW = {"tm_most_samples": 9}


@pytest.mark.parametrize("abi", [1, 2])
@pytest.mark.parametrize("lang", ["c", "rust"])
def test_an_app_says_its_boot_and_its_image(tmp_path: Path, abi: int, lang: Lang) -> None:
    """In lines that the console writes in one piece."""
    profile = boards.load(boards.DEFAULT)
    kernel, apps = read_kernel(profile.kernels[abi]), AppBuild.built(abi, lang)
    boot = msgspec.structs.replace(BOOT, name=LONGEST)
    whole = build_image(boot, apps, kernel, profile, tmp_path, FEW)
    early = with_early_stop(whole, profile, tmp_path / "early.flash")
    assert whole.id != early.id
    for image in (whole, early):
        run = profile.target.start(Start(LONGEST, image.flash, False))
        lines = list(run.lines())
        assert run.ending().why is None
        measured = assemble(decode(lines))
        assert not measured.problems
        ((named, app),) = measured.each()
        assert (named.name, named.image, named.icache) == (LONGEST, image.id, None)
        assert app.ended
        assert max(len(line) for line in lines if line.startswith("#tm ")) < LINE_LIMIT


def test_another_seed_or_word_makes_another_image(tmp_path: Path) -> None:
    """And the same again the same; tools/tockmark/tests/test_image.py has what else decides."""
    profile = boards.load(boards.DEFAULT)
    kernel, apps = read_kernel(profile.kernels[2]), AppBuild.built(2)
    given = [(FEW, 0), (FEW, 0), (FEW, 1), ({"tm_most_samples": 10}, 0)]
    ids = [build_image(BOOT, apps, kernel, profile, tmp_path, *one).id for one in given]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
