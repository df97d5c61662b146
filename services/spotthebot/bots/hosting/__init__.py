"""Hosting receives the files of hosted models, loads them on Triton or in worker processes, and unloads them."""
