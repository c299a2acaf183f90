"""Whole rows of tables of every kind: what categories and kept columns give away, and what they are still good for."""
