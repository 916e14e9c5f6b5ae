# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where it is measured: boards, images, the simulator, and running them; text comes out."""
