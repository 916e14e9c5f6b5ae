# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A worker of a cluster runs one simulation with this, and all that it needs comes with it.

A worker has Python and Dask, and nothing of ours. So this file travels by value, and takes from the
standard library alone.
"""

import errno
import os
import subprocess
import tempfile
import time
import zlib

TRIES = 100  # to start a program that was just written
Outcome = tuple[int, bytes, bytes]  # exit code, what the UART printed, what the simulator said


def simulate(simulator: bytes, flash: bytes, options: tuple[str, ...]) -> Outcome:
    """Run the simulator on a flash image, both as zlib compresses them, and wait for its end.
    OSError if that machine does not run it."""
    with tempfile.TemporaryDirectory(prefix="tockmark-") as folder:
        program, image = os.path.join(folder, "earlgrey-sim"), os.path.join(folder, "flash")
        for path, data in ((program, simulator), (image, flash)):
            with open(path, "wb") as file:
                file.write(zlib.decompress(data))
        os.chmod(program, 0o700)
        command = [program, "--flash", image, "--uart", "-", *options]
        for left in reversed(range(TRIES)):
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, check=False
                )
                return done.returncode, done.stdout, done.stderr
            except OSError as error:
                # Another thread of this worker was just starting its own, and held ours open.
                if error.errno != errno.ETXTBSY or not left:
                    raise
                time.sleep(0.02)
        raise AssertionError("the last try returns or raises")
