# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The lab's folders. It works in a checkout only."""

from tockmark.base import paths

LAB = paths.ROOT / "lab"
VALIDATION = LAB / "validation"
STUDIES = LAB / "studies"
CHIP_FOLDER = LAB / "chip"
DATA = LAB / "data"  # of no study
