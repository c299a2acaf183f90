"""Attacks that look for where a row stood in the original file: digits that follow places, and codes of them."""
