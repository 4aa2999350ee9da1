"""How Sphinx makes the site of these pages: ``make docs``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from zarr_core import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
# The repository that builds the site, which GitHub Actions sets.
SOURCE = "/".join(filter(None, map(os.environ.get, ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))))

project = "zarr-core"
author = "the authors of zarr-core"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",  # links to the source
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures are those of the docstrings
numpydoc_show_class_members = False
numpydoc_xref_param_type = True  # links types that the reference contains
numpydoc_xref_ignore = {"of", "or", "optional", "default", "by", "path", "callable"}
numpydoc_xref_aliases = {
    # Not the glossaries of other sites, which cannot be read without a network.
    "bool": "bool",
    "boolean": "bool",
    "True": "True",
    "False": "False",
    "array_like": "numpy.ndarray",
    "array-like": "numpy.ndarray",
    "generator": "collections.abc.Generator",
    "scalar": "numpy.generic",
    "sequence": "collections.abc.Sequence",
    "iterable": "collections.abc.Iterable",
    "mapping": "collections.abc.Mapping",
    "store-like": "zarr_core.StoreLike",
    "Array": "zarr_core.Array",
    "Group": "zarr_core.Group",
    "Store": "zarr_core.Store",
}
copybutton_prompt_text = ">>> "

templates_path = ["_templates"]
highlight_language = "none"  # blocks that say nothing are commands
html_theme = "pydata_sphinx_theme"
html_title = f"zarr-core {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "icon_links": [{"name": "Source", "url": SOURCE, "icon": "fa-brands fa-github"}]
    if SOURCE
    else [],
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
    "show_nav_level": 1,
    "footer_start": [],
    "footer_end": [],
}


LINK = re.compile(r"\[([^\]]*)\]\(([^)\s:]+)\)")


def within_the_site(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace links to files that are not pages by their text."""
    folder = Path(app.env.doc2path(name)).parent

    def kept(link: re.Match[str]) -> str:
        file = (folder / link[2].partition("#")[0]).resolve()
        return link[0] if file.is_relative_to(HERE) and file.is_file() else link[1]

    source[0] = LINK.sub(kept, source[0])


def setup(app: Sphinx) -> None:
    """Have the links looked at."""
    app.connect("source-read", within_the_site)
