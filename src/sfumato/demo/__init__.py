"""The demo: a customer table made by us, and a first release of it."""
