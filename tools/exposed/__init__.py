"""Measures what becomes of the exposed few: people far out, members of small tables, people of two releases."""
