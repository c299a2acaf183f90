"""Files that stand whole or not at all: workspace, outputs, keys, external sort."""
