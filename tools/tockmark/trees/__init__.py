# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build kernels from commits of the user's checkout, in several links."""
