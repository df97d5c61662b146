"""Rows of any schema as files: NDJSON, CSV, Parquet, and the folder that Hugging Face's `datasets` loads.

An exporter takes rows batch by batch and returns the bytes that come next, so that memory stays flat however large the
file is. The modules of Parquet import `pyarrow`, and are imported only where such a file is written.
"""
