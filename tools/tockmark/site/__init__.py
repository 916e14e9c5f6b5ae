# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `site`: results as static pages, which open from a folder and need nothing else.

sources.py finds what there is, sorted.py puts it in order, a file a kind of page makes what its
template shows, render.py makes the pages, and folder.py writes them.
"""
