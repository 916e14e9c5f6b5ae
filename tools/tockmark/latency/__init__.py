# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long an alarm is on its way to an app, by stage, and what keeps it waiting."""
