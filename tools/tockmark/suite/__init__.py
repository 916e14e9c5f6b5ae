# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is measured: the catalogue of benchmarks, and which of them a word means."""
