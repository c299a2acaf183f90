"""Who computes a release: this process, or several owners together (Spark has a package of its own)."""
