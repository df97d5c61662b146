"""Probes of a judge: asks it about items as they are and with one planted change, and compares P(human)."""
