"""Rules over questions and their answers: contexts, replies, pauses, rates, retries and circuits. No I/O."""
