"""Secrets and what is made of them: sealed values, signatures, pseudonyms."""
