# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What all tests share. Ctrl-C works in them even where the shell that started them ignores it, as
one does for a job in the background; what they run is simulated, and not taken from the cache. The
programs that they start inherit this."""

import os
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["TOCKMARK_CACHE"] = "off"
