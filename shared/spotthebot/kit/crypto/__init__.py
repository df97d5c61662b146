"""Cryptography with secret keys: sealed values, signatures, pseudonyms."""
