"""Readers of tables that other tools write: rows as texts, the meaning of columns, and what the rows say."""
