"""How Sphinx builds these pages; what it makes loads nothing from outside."""

from importlib.metadata import version as version_of

project = "logoadmin"
release = version_of("logoadmin")
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"logoadmin {release}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
