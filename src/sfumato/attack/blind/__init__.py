"""Attacks that need nothing but the release."""
