"""Dataframes and arrays in and out: numpy, pandas, polars, Arrow."""
