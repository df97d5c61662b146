"""Rules over probes: what they ask, and what they find. No I/O of their own."""
