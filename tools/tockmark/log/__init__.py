# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The logs of the 2021 study: their text to rows."""
