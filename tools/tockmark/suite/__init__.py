# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The catalogue of benchmarks, and the selection of rows."""
