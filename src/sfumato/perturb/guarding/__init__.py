"""The cluster guard: named clusterings, their atoms, and what keeps rows in their cells."""
