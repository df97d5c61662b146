"""Child processes that start in order, stay alive, and end together."""
