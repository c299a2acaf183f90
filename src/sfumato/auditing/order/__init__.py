"""Which released row belongs to which original one: told, found out, or not to be known."""
