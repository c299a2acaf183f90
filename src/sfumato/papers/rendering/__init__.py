"""Results of the papers as text, pages, figures and data."""
