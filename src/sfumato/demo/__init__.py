"""The old place of the demo table, which is in `sfumato.datasets` now."""
