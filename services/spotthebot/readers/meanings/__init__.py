"""The meaning of the columns and values of a table: guessed from names and values, or given by the user."""
