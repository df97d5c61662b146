"""What can be said of a conversation's quality from its text alone: pure rules, one concern a file."""
