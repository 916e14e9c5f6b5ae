# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This package shows results: as tables, pictures and exports."""
