"""Pages for people: their headers, their files, and errors that a person can read."""
