# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Eight screens match the committed ones."""

import pytest
from goldens import FOLDER, SCREENS, screen


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_matches_the_committed_one(name: str) -> None:
    committed = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert screen(name) == committed, f"if intended: python tests/goldens.py {name}"
