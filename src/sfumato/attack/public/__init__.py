"""Attacks that use public figures or a sample of the people."""
