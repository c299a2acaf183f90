"""The one mechanism: keys, streams, blocks, summaries, kernels. Knows nothing of files or dataframes."""
