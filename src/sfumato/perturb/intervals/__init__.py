"""Intervals of a column: counted and merged."""
