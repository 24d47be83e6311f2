"""How Sphinx builds these pages."""  # noqa: INP001 - a folder of pages is no package

from roadstead import __version__

project = "Roadstead"
author = "The Roadstead contributors"
release = __version__
version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Roadstead {__version__}"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}

# `console` blocks hold output, which no lexer of shells reads without a complaint.
highlight_language = "text"
