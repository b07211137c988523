"""How Sphinx builds the manual: ``make docs``, no network, every warning an error."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import sourdine

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Sourdine"
author = "the authors of Sourdine"
version = release = sourdine.__version__
language = "en"
html_title = f"Sourdine {version}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "reference",
    "sources",
    "commands",
    "lab_pages",
]
exclude_patterns = ["_build", "_static", "extensions"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

default_role = "py:obj"
add_module_names = False
toc_object_entries = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
viewcode_line_numbers = True

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Drop the empty line that ends an example for doctest before its fence."""

    def drop(_: Sphinx, __: str, source: list[str]) -> None:
        source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)

    app.connect("source-read", drop)
