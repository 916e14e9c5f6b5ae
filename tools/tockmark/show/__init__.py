# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How results are shown: tables, pictures, pages, exports."""
