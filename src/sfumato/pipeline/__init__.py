"""The release of a file: plan, rounds, kernel, finishing, keyed shuffle, atomic write; and the owner's way back."""
