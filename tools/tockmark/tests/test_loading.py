# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loading a result is cheap."""

import subprocess
import sys

from tockmark.base.paths import RESULTS

MOST_CALLS = 24_369
COUNT = """
import sys
from pathlib import Path
from tockmark.result import file

calls = 0

def count(frame, event, argument):
    global calls
    calls += event == "call"

sys.setprofile(count)
file.load(Path(sys.argv[1]))
sys.setprofile(None)
print(calls)
"""


def test_loading_a_result_makes_few_python_calls() -> None:
    """Use a separate process, because samples that were decoded before are cached."""
    words = [sys.executable, "-c", COUNT, str(RESULTS / "opt" / "tock-2.2-z.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) <= MOST_CALLS
