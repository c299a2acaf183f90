"""Exchange inside atoms: rows of an atom swap values column by column, and stay in their regions."""
