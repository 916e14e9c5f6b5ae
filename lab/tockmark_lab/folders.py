# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The lab's folders. They exist in a checkout only."""

from tockmark.base import paths

LAB = paths.ROOT / "lab"
VALIDATION = LAB / "validation"
STUDIES = LAB / "studies"
CHIP_FOLDER = LAB / "chip"
DATA = LAB / "data"  # data that belongs to no study
