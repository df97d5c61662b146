"""How often nominal 95 % intervals of FED's statistics hold the truth, in samples whose truth is known."""
