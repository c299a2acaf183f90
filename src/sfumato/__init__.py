"""sfumato: blur every record, keep every cluster."""
