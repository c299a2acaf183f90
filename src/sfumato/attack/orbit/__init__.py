"""Attacks on noise that is a chaotic orbit."""
