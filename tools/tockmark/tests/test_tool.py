# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Other people's tools: why one failed, in one line."""

import pytest

from tockmark.errors import TockmarkError
from tockmark.rig.image import call


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo more to come >&2; echo no space >&2; echo >&2", "no space;"),
        ("echo '[ERROR  ] no such file' >&2", "no such file;"),
        ("echo only here", "only here;"),
        ("", "without a word, code 3;"),
    ],
)
def test_the_last_reason_of_a_tool_is_told(script: str, said: str) -> None:
    with pytest.raises(TockmarkError, match=f"working: sh failed: {said}"):
        call(["sh", "-c", f"{script}\nexit 3"], "working")
