# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What every other package may use: errors, places, files, programs that are started, JSON."""
