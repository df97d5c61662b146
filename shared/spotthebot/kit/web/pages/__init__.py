"""Pages for people: headers of pages, files that pages load, and errors that a person can read."""
