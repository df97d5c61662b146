"""How conversations become packages, all pure."""
