# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Eight screens are as they are committed."""

import pytest
from goldens import FOLDER, SCREENS, screen


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_is_committed(name: str) -> None:
    committed = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert screen(name) == committed, f"if on purpose: python tests/goldens.py {name}"
