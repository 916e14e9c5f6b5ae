# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Break down one sample of a benchmark, for the verb `profile`.

run.py finds a steady sample in the instruction trace of a run, sample.py charges its cycles,
file.py stores them and report.py shows them. calls.py counts what calls of functions cost, in the
sample or in the whole run. diff.py compares the profiles of two kernels. timeline.py shows who ran
when.
"""
