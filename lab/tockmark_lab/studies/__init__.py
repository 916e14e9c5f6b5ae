# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The studies: what each asks of the kernels, and what its results are shown as."""
