"""What all methods share: parameters, checks, rounds, kernels, state."""
