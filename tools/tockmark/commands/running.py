# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that run the suite on a target: run, profile."""

import os
import signal
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths, profile
from tockmark.commands.common import AsJson, Debug, Only, judge
from tockmark.files import write_whole
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.of_run import result_of
from tockmark.result.provenance import BASELINE
from tockmark.show import table
from tockmark.suite import catalogue
from tockmark.suite.select import Selection, only_one, select
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target.image import Apps, Kernel, named, read_kernel
