# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This package takes one sample of a benchmark apart, for the verb `profile`.

A steady sample is found in the instruction trace of a run (run.py), its cycles are charged
(sample.py), kept (file.py) and shown (report.py). calls.py counts what functions cost in it or in
all of the run; diff.py compares the profiles of two kernels.
"""
