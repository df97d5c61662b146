"""All of Spot The Bot on one machine: embedded PostgreSQL, process supervision and the `stb` command line."""
