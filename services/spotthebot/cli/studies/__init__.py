"""`./stb study` creates a study that a file declares: its campaigns, and what they share."""
