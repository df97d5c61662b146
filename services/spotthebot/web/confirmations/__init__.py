"""Pages that ask for a confirmation before an action that other people notice, or that can't be undone."""
