"""All of the suite on one machine: data folder, embedded PostgreSQL, processes, demonstration, load test."""
