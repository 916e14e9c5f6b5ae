# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `site`: results as static pages that open from a folder.

`model` collects and orders the sources, `pages` computes what the templates show, and `render`
fills the templates and writes the folder.
"""
