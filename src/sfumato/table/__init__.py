"""Tables as people have them: dataframes and arrays in, the same kind out."""
