# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From text to rows: the UART protocol and the simulator's marks."""
