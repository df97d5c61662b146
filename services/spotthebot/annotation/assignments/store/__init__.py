"""The SQL of assignments."""
