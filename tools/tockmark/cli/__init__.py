# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs of the command line, by area; app.py lists them."""
