"""Pages on which administrators watch, pause, resume and end collections."""
