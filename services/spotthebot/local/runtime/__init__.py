"""The suite on one machine: its data folder, its database and keys, its processes, and how commands reach them."""
