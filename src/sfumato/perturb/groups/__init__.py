"""Groups of near rows: microaggregation, blocks, curves, neighbours."""
