"""Statistics that several services need. They take arrays, return frozen results, and use no term of a service."""
