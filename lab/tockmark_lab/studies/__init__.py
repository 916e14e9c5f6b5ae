# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The studies: what each measures, and how it shows its results."""
