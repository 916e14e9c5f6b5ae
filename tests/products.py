# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a test has made that `make build` does not make."""

import os
import subprocess

from tockmark import paths


def make(*targets: str) -> None:
    """Make targets of the checkout's Makefile; fails with all that was said if one fails."""
    # Without what an outer make would tell this one, which then talks of its job server.
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", *targets]
    done = subprocess.run(
        command, cwd=paths.ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
