# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What results say of each other: the rule, verdicts, agree, fit."""
