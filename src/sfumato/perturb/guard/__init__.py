"""What keeps clusterings: atoms, walls, small atoms, ends."""
