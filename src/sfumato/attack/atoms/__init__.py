"""Attacks on what kept clusterings give away."""
