# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `site`: results as static pages, which open from a folder and need nothing else.

`model` finds what there is and puts it in order, `pages` says what the templates show of it, and
`render` fills the templates and writes the folder.
"""
