"""Writes rows of any schema as files: NDJSON, CSV, Parquet, and the folder that Hugging Face's `datasets` loads.

An exporter takes rows batch by batch, and returns the next bytes of the file. So a file of any size takes little
memory. The modules for Parquet need `pyarrow`, and are imported only when a Parquet file is written.
"""
