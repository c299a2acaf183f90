"""Attacks that look for a known person's row."""
