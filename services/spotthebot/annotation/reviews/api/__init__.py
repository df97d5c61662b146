"""Reviews over HTTP: of annotators, and of assignments."""
