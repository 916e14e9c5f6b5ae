# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Modules here check that the tool measures on firm ground: the simulator against what others know
(validate), the kernel against its interface (conformance), the setup (doctor).
"""
