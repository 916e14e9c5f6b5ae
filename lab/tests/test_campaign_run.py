# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb campaign on the small repository of tests/test_bisect.py. Needs `make build`."""

from pathlib import Path

import test_bisect
import variants
from test_bisect import BROKEN, BUILD, PLAIN, ROW, User
from typer.testing import CliRunner

from tockmark_lab.app import app
from tockmark_lab.over_time.commits import load_campaign

user, dear = test_bisect.user, test_bisect.dear


def test_a_campaign_measures_commits_and_follows_jumps(
    user: User, dear: str, tmp_path: Path
) -> None:
    user.commit(
        PLAIN,
        PLAIN,
        PLAIN,
        PLAIN,
        BROKEN,
        dear,
    )
    path = tmp_path / "a.jsonl"
    words = ["campaign", str(user.tree), f"{user.commits[0]}..HEAD", "-f", str(path), "--no-patch"]
    words += [
        "--every",
        "9",
        "--only",
        ROW,
        "--follow",
        ROW,
        "--elf",
        "kernel.elf",
        "--jobs",
        "1",
    ]
    done = CliRunner().invoke(app, [*words, "--build", BUILD.format(user.count)])
    assert done.exit_code == 0, done
    campaign, _ = load_campaign(path)
    (jump,) = (each for each in campaign.jumps() if each.row.startswith(ROW))
    assert (jump.change, jump.base.sha, jump.head.sha) == (
        variants.MORE,
        user.commits[3],
        user.commits[5],
    )
    assert jump.where.startswith("one of 2, ")  # since nothing is known of the commit between
    assert campaign.gaps[user.commits[4]].cause.startswith("does not build: ")
    assert (campaign.boots, campaign.cycles > 100_000) == (3, True)
    kernel = campaign.measured[user.commits[5]].kernel
    assert (kernel.flash_bytes or 0) > 0
    assert (kernel.ram_bytes or 0) > 0
    assert (user.builds, len(campaign.measured)) == (4, 3)
