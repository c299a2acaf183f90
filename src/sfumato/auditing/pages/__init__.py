"""The audit as pages and text."""
