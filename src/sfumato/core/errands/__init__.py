"""Work that other processes do, and how it comes to them."""
