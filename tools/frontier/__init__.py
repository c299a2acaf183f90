"""`make frontier`: all methods on all tables, what they keep against what they hide."""
