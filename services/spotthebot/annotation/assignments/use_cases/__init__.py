"""Claims, answers, gold items and submissions."""
