"""`./stb campaign` creates a campaign that a file declares."""
