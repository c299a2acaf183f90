"""Tables in files: read in batches, as numbers, and written again."""
