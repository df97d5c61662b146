"""Rules of probes: their questions and findings, without I/O."""
