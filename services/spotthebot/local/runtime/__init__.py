"""The suite on one machine: its data folder, database, keys and processes, and how commands reach its services."""
