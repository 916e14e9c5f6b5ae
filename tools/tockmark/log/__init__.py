# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From text to rows: the UART protocol, the simulator's marks, the logs of the study."""
