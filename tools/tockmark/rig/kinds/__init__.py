# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The kinds of targets, a file each: what a board profile calls `kind` is the file's name."""
