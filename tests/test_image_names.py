# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An app prints the names of its boot and its image.

Needs the products of `make build`.
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
def test_an_app_prints_its_boot_and_its_image(tmp_path: Path, abi: int, lang: Lang) -> None:
    """Its lines are short enough for the console to write them in one piece."""
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
        ((measured_boot, app),) = measured.each()
        assert (measured_boot.name, measured_boot.image, measured_boot.icache) == (
            LONGEST,
            image.id,
            None,
        )
        assert app.ended
        assert max(len(line) for line in lines if line.startswith("#tm ")) < LINE_LIMIT


def test_another_seed_or_symbol_makes_another_image(tmp_path: Path) -> None:
    """Equal inputs make the same image; tools/tockmark/tests/test_image.py tests other inputs."""
    profile = boards.load(boards.DEFAULT)
    kernel, apps = read_kernel(profile.kernels[2]), AppBuild.built(2)
    inputs = [(FEW, 0), (FEW, 0), (FEW, 1), ({"tm_most_samples": 10}, 0)]
    ids = [
        build_image(BOOT, apps, kernel, profile, tmp_path, *arguments).id for arguments in inputs
    ]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
