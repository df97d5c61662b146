"""Rules for a conversation's quality. They read only its text, without I/O. Each concern has one file."""
