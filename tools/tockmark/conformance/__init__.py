# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Is a kernel the interface's? Rules, attacks, fuzz."""
