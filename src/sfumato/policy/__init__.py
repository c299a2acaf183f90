"""What an owner wants: roles of columns, method, limits; read, checked, guessed and written."""
