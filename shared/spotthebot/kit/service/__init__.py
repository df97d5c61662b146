"""How every service starts: its process, the checks before the start, and its traces."""
