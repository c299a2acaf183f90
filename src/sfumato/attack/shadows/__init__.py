"""Attacks by releases of one's own: what changes in a release when one person is in it or is not."""
