"""Which method, with which parameters: every method side by side, and a search for the best one on a table."""
