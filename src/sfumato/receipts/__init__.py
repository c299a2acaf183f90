"""What a release leaves to its owner: the sealed receipt, how it is found, and the rows it knows."""
