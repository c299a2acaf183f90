"""The documentation site: where its pages come from, and how they are put together."""
