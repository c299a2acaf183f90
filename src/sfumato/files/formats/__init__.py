"""One file for each format: CSV, Parquet and Arrow, PostgreSQL."""
