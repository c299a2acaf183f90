"""How Sphinx builds the site; see tools/make_site.py."""

from sfumato import __version__

project = "sfumato"
release = version = __version__
copyright = "the sfumato developers, Apache-2.0"  # noqa: A001
language = "en"
today_fmt = ""  # no clock in the pages

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb", "sphinx_copybutton"]
exclude_patterns = ["**/*.schema.json"]
default_role = "code"

# docs/ is Markdown as code hosts show it: links to headings work as they do there
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]

# notebooks hold no outputs: they run when the site is made, and an error in one is an error of the build
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# signatures show names and defaults, docstrings show types
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = "sfumato"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#2d5c8f", "color-brand-content": "#2d5c8f"},
    "dark_css_variables": {"color-brand-primary": "#8db8e8", "color-brand-content": "#8db8e8"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
