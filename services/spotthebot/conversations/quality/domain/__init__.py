"""Rules over a conversation's quality, from its text alone: no I/O, one concern a file."""
