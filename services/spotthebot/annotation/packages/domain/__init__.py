"""How conversations become packages; all functions are pure."""
