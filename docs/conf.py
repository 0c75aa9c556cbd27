"""The documents as a site: `make site` builds them into `build/site`."""

from __future__ import annotations

project = "Manual Slop"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["codemap.md"]
html_theme = "alabaster"
html_theme_options = {
    "description": "A workbench for language models",
    "page_width": "1100px",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files that stand in the checkout and not on the site
