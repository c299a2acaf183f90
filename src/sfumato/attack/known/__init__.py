"""Attacks that use known records to undo the release of the others."""
