"""Releases by other tools, and what others say of them."""
