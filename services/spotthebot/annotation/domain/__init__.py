"""How conversations become packages and packages get judged: pure rules, no I/O."""
