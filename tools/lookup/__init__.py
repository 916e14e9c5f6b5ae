# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the pages that `make findings` makes look up in the committed results: tools/findings.py
puts them together."""
