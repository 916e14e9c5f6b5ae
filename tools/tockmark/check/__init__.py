# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `validate`: what the simulator gives, against what others published or measured.

Each part knows its machines and makes jobs; a job builds a bare program, runs it and returns rows.
Programs and expected values are data, under validation/.
"""
