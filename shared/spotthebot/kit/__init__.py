"""Domain-free plumbing that every service stands on."""
