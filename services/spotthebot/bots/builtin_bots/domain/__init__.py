"""How the built-in bots reply, one file for each: pure rules, no I/O."""
